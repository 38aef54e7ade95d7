// Session ids that say themselves what a gateway has to know of the session, so that one which was
// restarted goes on with it; sealed, so that nobody makes one up.
//
// Owns:    the key. Threads: [value].
// Errors:  Invalid: this gateway, or one with its key, has given out no such id to that guest.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace patchbay::gateway {

struct SessionTerms {
    std::string revision;
    boost::json::object capabilities;  // the client's, as far as servers ask for them
};

class SessionIds {
public:
    // `key`: secret, the same for gateways that go on with each other's sessions.
    explicit SessionIds(std::string key) : key_(std::move(key)) {}

    // Another one each time. `guest`: the key of whose it is.
    std::string make(const SessionTerms& terms, std::string_view guest) const;
    Result<SessionTerms> open(std::string_view id, std::string_view guest) const;

private:
    std::string seal_of(std::string_view payload) const;

    const std::string key_;
};

}  // namespace patchbay::gateway
