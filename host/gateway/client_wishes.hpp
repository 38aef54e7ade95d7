// What a client wants servers to do for it until it says otherwise: the level that they log at and the
// resources that they tell changes of, asked of those that are there and of those that come later.
//
// Owns:    the wishes of a legacy session, and who looks for the owner of a resource. Borrows the rest.
// Threads: [loop].
// Errors:  none; a server that refuses says so to nobody, for the client has asked none in particular.
// Limits:  kMostUriBytes of all URIs are kept for the session's next gateway; what is beyond holds here
//          alone, and the log says so.
#pragma once

#include "core/first_few.hpp"
#include "gateway/arrival.hpp"
#include "gateway/offered.hpp"
#include "gateway/session_wishes.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace patchbay::gateway {

class ClientWishes {
public:
    static constexpr std::size_t kMostUriBytes = 64u << 10;

    // `keeper`: null where wishes end with the session.
    ClientWishes(const service::Servers& servers, connection::Caller& caller, const View& view,
                 Offered& offered, Arrival& arrival, WishKeeper* keeper)
        : servers_(servers),
          caller_(caller),
          view_(view),
          offered_(offered),
          arrival_(arrival),
          keeper_(keeper) {}

    const SessionWishes& all() const { return wishes_; }
    // The client's own; `kept` follows, at once where nobody keeps them.
    void set_level(const std::string& level, std::function<void()> kept);
    void add(const std::string& uri, std::function<void()> kept);     // its server has taken it
    void remove(const std::string& uri, std::function<void()> kept);  // before its server is told
    // Those of the session before.
    void restore(SessionWishes wishes);
    void on_joined(const std::string& server);

    // Why not; none: its server tells of it from now on.
    using Taken = std::function<void(std::optional<Error>)>;
    // For as long as somebody listens.
    void subscribe(const std::string& uri, Taken done);
    void unsubscribe(const std::string& uri);

private:
    void keep(std::function<void()> kept);
    void send_level(const std::string& server);
    void subscribe_again(const std::string& uri);
    void tell_why_not(const std::string& method, const Error& why);
    void say_to_owner(const std::string& method, const std::string& uri, Taken done);

    const service::Servers& servers_;
    connection::Caller& caller_;
    const View& view_;
    Offered& offered_;
    Arrival& arrival_;
    WishKeeper* const keeper_;
    SessionWishes wishes_;
    std::size_t uri_bytes_ = 0;                             // of those
    std::set<std::string> missing_;                         // restored, and taken by no server yet
    std::map<std::uint64_t, service::Operation> searches_;  // for owners, by their number
    std::uint64_t last_search_ = 0;
    core::FirstFew not_taken_;  // told in the log
};

}  // namespace patchbay::gateway
