// What a legacy client has asked for that holds as long as its session: how much servers log for it,
// and the resources that it wants to hear of.
//
// Threads: [value]; WishKeeper: [loop].
// Source:  MCP 2025-11-25 server/resources "Subscriptions", server/utilities/logging.
#pragma once

#include <functional>
#include <set>
#include <string>

namespace patchbay::gateway {

struct SessionWishes {
    std::string level{};           // empty: none was asked for
    std::set<std::string> uris{};  // as the client knows them

    bool empty() const { return level.empty() && uris.empty(); }
    bool operator==(const SessionWishes&) const = default;
};

// Keeps them for who goes on with the session when this one is gone.
class WishKeeper {
public:
    // `kept`: they are, or cannot be. The client is told no sooner that it has what it wished.
    virtual void keep(const SessionWishes& wishes, std::function<void()> kept) = 0;

protected:
    ~WishKeeper() = default;
};

}  // namespace patchbay::gateway
