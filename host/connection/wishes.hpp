// What callers have asked for that holds for every session to come: resources that they want to hear
// of, and how much the server is to log. Each has its own; the server is told of their union, the
// level that tells most and every URI that somebody holds.
//
// Threads: [loop]. Borrows all it is given.
// Limits:  core::Limits subscriptions, kMostUriBytes.
// Source:  MCP server/resources, server/utilities/logging; 2026-07-28 basic/patterns/subscriptions.
#pragma once

#include "connection/caller.hpp"
#include "connection/context.hpp"
#include "connection/link.hpp"
#include "connection/own_requests.hpp"
#include "core/lifetime.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

class WishesOwner {
public:
    // A caller's request: connects first when necessary.
    virtual RequestId request(CallerNumber caller, Request&& request, ReplyHandler&& handler) = 0;
    // In the modern era they are named on the stream that is listened to.
    virtual void on_resources_wanted() = 0;

protected:
    ~WishesOwner() = default;
};

class Wishes {
public:
    Wishes(core::Loop& loop, const Terms& terms, const protocol::ClientIdentity& identity,
           const config::Server& server, Link& link, OwnRequests& requests, WishesOwner& owner);

    void subscribe(CallerNumber caller, const std::string& uri, bool wanted, ReplyHandler handler);
    // A session is there, in which it can be said.
    void set_log_level(CallerNumber caller, const std::string& level, ReplyHandler handler);
    // The caller is about to send a request of its own level. A legacy server has no levels of requests:
    // it is told of it as of one that the caller wants of all, for as long as the caller is there.
    void on_request_of_level(CallerNumber caller, const std::string& level);
    // The caller goes; what nobody else wants the server is told to leave.
    void release(CallerNumber caller);
    // What that caller has wished of another connection holds from now on for this one.
    void take_over(CallerNumber caller, const Wishes& from);
    // Says it all to a session that has just been agreed on, which may be of the other era than the
    // one before.
    void renew();

    std::set<std::string> resources() const;  // URIs that somebody holds
    // Who holds it, or what it is part of; ascending.
    std::vector<CallerNumber> holders_of(std::string_view uri) const;
    bool any() const { return !resources_.empty() || !levels_.empty() || !request_levels_.empty(); }
    // Whether somebody has said how much the server is to log; else it says what it likes.
    bool any_level() const {
        return !levels_.empty() || (!link_.modern() && !request_levels_.empty());
    }
    // Who wants to hear of a message of that level: nobody who has not said so. One that is unknown
    // is as good as the gravest. Ascending.
    std::vector<CallerNumber> admitting(std::string_view level) const;
    // Place in protocol::kLogLevels of the least that the caller of that request wants to hear of what is
    // logged for it; nothing: it has not said.
    std::optional<std::size_t> least_severity(CallerNumber caller, const Request& request) const;

private:
    struct Subscription {
        std::set<CallerNumber> holders = {};
        bool taken = false;  // a server has said yes to it
    };

    std::optional<Error> excess(CallerNumber caller, const std::string& uri) const;
    void listen_anew();
    void subscribe_by_request(CallerNumber caller, const std::string& uri, ReplyHandler handler);
    void unsubscribe_by_request(CallerNumber caller, const std::string& uri, ReplyHandler handler);
    void note_taken(const std::string& uri);
    bool hold(CallerNumber caller, const std::string& uri);
    void let_go(CallerNumber caller, const std::string& uri);
    void take_back_level(CallerNumber caller, const std::string& refused,
                         const std::string& former);
    void use_log_levels();
    std::string strongest_level() const;  // empty: the server's own
    void confirm(ReplyHandler handler);

    core::Loop& loop_;
    const Terms& terms_;
    const protocol::ClientIdentity& identity_;
    const config::Server& server_;
    Link& link_;
    OwnRequests& requests_;
    WishesOwner& owner_;
    std::map<std::string, Subscription, std::less<>> resources_;  // by URI; each has a holder
    std::map<CallerNumber, std::size_t> held_;                    // how many of those; never 0
    std::map<CallerNumber, std::string> levels_;
    std::map<CallerNumber, std::string> request_levels_;  // the one that tells most
    bool listening_anew_ = false;                         // at the end of this turn
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
