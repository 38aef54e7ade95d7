#include "app/batch_waits.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace patchbay::app {

void BatchWaits::begin(const std::string& id, const std::string& server, const std::string& method,
                       std::chrono::milliseconds limit) {
    if (unseen_.take(server, method)) return in_flight_.succeed(id, "{}");
    Waiting waiting{id, server, method, 0};
    if (limit.count() > 0) {
        waiting.timer = loop_.after(limit, [this, id, method, limit] {
            give_up(id);
            in_flight_.fail(
                id, {ErrorCode::Timeout, "no " + method + " within " + core::duration(limit)});
        });
    }
    waiting_.push_back(std::move(waiting));
}

bool BatchWaits::give_up(const std::string& id) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const auto& each) { return each.id == id; });
    if (found == waiting_.end()) return false;
    if (found->timer) loop_.cancel(found->timer);
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

}  // namespace patchbay::app
