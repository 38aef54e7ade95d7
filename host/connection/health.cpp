#include "connection/health.hpp"

namespace patchbay::connection {

Health::Health(core::Loop& loop, const Terms& terms, OwnRequests& requests, HealthOwner& owner)
    : terms_(terms), requests_(requests), owner_(owner), timer_(loop) {
    wait();
}

void Health::wait() {
    if (terms_.health.ping_interval.count() > 0)
        timer_.start(terms_.health.ping_interval, [this] { check(); });
}

void Health::check() {
    wait();
    if (std::exchange(heard_, false)) {
        misses_ = 0;
        return;
    }
    requests_.ask({owner_.ping_method(), {}, {}, {}}, terms_.health.ping_timeout,
                  lifetime_.guard([this](const Result<Reply>& reply) {
                      if (reply || reply.error().code != ErrorCode::Timeout) return;
                      if (++misses_ < terms_.health.misses) return;
                      owner_.on_unhealthy(
                          {ErrorCode::Unavailable, "no answer to " + std::to_string(misses_) +
                                                       " health checks in a row (health.misses)"});
                  }));
}

}  // namespace patchbay::connection
