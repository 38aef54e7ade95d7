#include "app/batch_waits.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace patchbay::app {

BatchWaits::~BatchWaits() {
    for (const auto& each : waiting_) loop_.cancel(each.timer);
}

void BatchWaits::begin(const std::string& id, const std::string& server, const std::string& method,
                       std::chrono::milliseconds limit) {
    if (unseen_.take(server, method)) return in_flight_.succeed(id, "{}");
    if (limit.count() == 0) limit = kUsualWait;
    const auto timer = loop_.after(limit, [this, id, method, limit] {
        give_up(id);
        in_flight_.fail(id, {ErrorCode::Timeout, "no " + core::printable(method, 200) + " within " +
                                                     core::duration(limit) + " (timeout_ms)"});
    });
    waiting_.push_back({id, server, method, timer});
}

bool BatchWaits::give_up(const std::string& id) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const auto& each) { return each.id == id; });
    if (found == waiting_.end()) return false;
    loop_.cancel(found->timer);
    waiting_.erase(found);
    return true;
}

void BatchWaits::on_notification(const std::string& server, const std::string& method) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& each) {
        return each.method == method && (each.server.empty() || each.server == server);
    });
    if (found == waiting_.end()) return unseen_.keep(server, method);
    const auto id = found->id;
    give_up(id);
    in_flight_.succeed(id, "{}");
}

void BatchWaits::end_hopeless(
    const std::function<std::string(const std::string& server)>& why_silent) {
    const auto waiting = waiting_;  // each end takes one out
    for (const auto& each : waiting) {
        const auto why = why_silent(each.server);
        if (why.empty()) continue;
        give_up(each.id);
        in_flight_.fail(each.id, {ErrorCode::Unavailable,
                                  core::printable(each.method, 200) + " cannot come: " + why});
    }
}

}  // namespace patchbay::app
