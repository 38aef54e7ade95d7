// Whether a server that is ready still answers: asked when it has said nothing for a while. Exists
// while the connection is ready and long-lived.
//
// Threads: [loop]. Borrows all it is given.
// Errors:  Unavailable by lose(), after config::HealthSettings misses.
#pragma once

#include "connection/context.hpp"
#include "connection/link.hpp"
#include "connection/own_requests.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"

#include <functional>

namespace patchbay::connection {

class Health {
public:
    Health(core::Loop& loop, const Terms& terms, const Link& link, OwnRequests& requests,
           Loss& loss);

    void heard() { heard_ = true; }  // something came
    // Asks now; `answered` once there is an answer, none in time, or the connection has gone.
    void check(std::function<void()> answered);

private:
    void wait();
    void look();
    void ask(std::function<void(const Result<Reply>&)> answered);
    void count(const Result<Reply>& reply);

    const Terms& terms_;
    const Link& link_;
    OwnRequests& requests_;
    Loss& loss_;
    bool heard_ = true;  // since the last look: it has just become ready
    unsigned misses_ = 0;
    core::Timer timer_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
