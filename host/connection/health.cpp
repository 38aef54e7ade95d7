#include "connection/health.hpp"

#include <string>
#include <utility>

namespace patchbay::connection {

Health::Health(core::Loop& loop, const Terms& terms, const Link& link, OwnRequests& requests,
               Loss& loss)
    : terms_(terms), link_(link), requests_(requests), loss_(loss), timer_(loop) {
    wait();
}

void Health::wait() {
    if (terms_.health.ping_interval.count() > 0)
        timer_.start(terms_.health.ping_interval, [this] { look(); });
}

void Health::look() {
    wait();
    if (std::exchange(heard_, false)) {
        misses_ = 0;
        return;
    }
    ask(lifetime_.guard([this](const Result<Reply>& reply) { count(reply); }));
}

// Who looks at a server as often as they like does not make it miss more: it may be busy with a call.
void Health::check(std::function<void()> answered) {
    ask([answered = std::move(answered)](const auto&) { answered(); });
}

void Health::ask(std::function<void(const Result<Reply>&)> answered) {
    const char* method = link_.modern() ? "server/discover" : "ping";
    requests_.ask({method, {}, {}, {}}, terms_.health.ping_timeout, std::move(answered));
}

void Health::count(const Result<Reply>& reply) {
    if (reply || reply.error().code != ErrorCode::Timeout) return;
    if (++misses_ < terms_.health.misses) return;
    loss_.lose({ErrorCode::Unavailable, "no answer to " + std::to_string(misses_) +
                                            " health checks in a row (health.misses)"});
}

}  // namespace patchbay::connection
