// Whether a server that is ready still answers: asked when it has said nothing for a while. Exists
// while the connection is ready and long-lived.
//
// Threads: [loop]. Borrows all it is given.
// Errors:  Unavailable to the owner, after config::HealthSettings misses.
#pragma once

#include "connection/context.hpp"
#include "connection/own_requests.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"

namespace patchbay::connection {

class HealthOwner {
public:
    virtual const char* ping_method() const = 0;  // of the session's era
    virtual void on_unhealthy(Error error) = 0;

protected:
    ~HealthOwner() = default;
};

class Health {
public:
    Health(core::Loop& loop, const Terms& terms, OwnRequests& requests, HealthOwner& owner);

    void heard() { heard_ = true; }  // something came

private:
    void wait();
    void check();

    const Terms& terms_;
    OwnRequests& requests_;
    HealthOwner& owner_;
    bool heard_ = true;  // since the last look: it has just become ready
    unsigned misses_ = 0;
    core::Timer timer_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
