// What callers have asked for that holds for every session to come: resources that they want to hear
// of, and how much the server is to log.
//
// Threads: [loop]. Borrows all it is given.
// Source:  MCP server/resources, server/utilities/logging; 2026-07-28 basic/patterns/subscriptions.
#pragma once

#include "connection/context.hpp"
#include "connection/link.hpp"
#include "connection/own_requests.hpp"
#include "core/lifetime.hpp"

#include <set>
#include <string>

namespace patchbay::connection {

class WishesOwner {
public:
    // A caller's request: connects first when necessary.
    virtual RequestId request(Request&& request, ReplyHandler&& handler) = 0;
    // In the modern era they are named on the stream that is listened to.
    virtual void on_resources_wanted() = 0;

protected:
    ~WishesOwner() = default;
};

class Wishes {
public:
    Wishes(core::Loop& loop, const Terms& terms, const config::Server& server, Link& link,
           OwnRequests& requests, WishesOwner& owner);

    void subscribe(const std::string& uri, bool wanted, ReplyHandler handler);
    // A session is there, in which it can be said.
    void set_log_level(const std::string& level, ReplyHandler handler);
    // Says it all to a session that has just been agreed on, which may be of the other era than the
    // one before.
    void renew();
    const std::set<std::string>& resources() const { return resources_; }

private:
    void use_log_level();
    void note(const std::string& uri, bool wanted);
    void confirm(ReplyHandler handler);

    core::Loop& loop_;
    const Terms& terms_;
    const config::Server& server_;
    Link& link_;
    OwnRequests& requests_;
    WishesOwner& owner_;
    std::set<std::string> resources_;  // URIs
    std::string log_level_;            // empty: the server's own
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
