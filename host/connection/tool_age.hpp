// How old a list of tools is, and what that means for who needs it: how long it counts as what the server
// has, and for how long others may keep it.
//
// Threads: [value].
// Source:  MCP 2026-07-28 server/utilities/caching.
#pragma once

#include "core/time_source.hpp"
#include "protocol/caching.hpp"

#include <chrono>
#include <optional>

namespace patchbay::connection {

class ToolAge {
public:
    using Time = core::Clock::time_point;
    // Of a list that is stale at once, so that those who list in turn ask its server no more often.
    static constexpr std::chrono::seconds kLeast{1};

    // A list came to its end; none: it is stale at once. `caching`: as its server said.
    void read(Time now, std::optional<Time> fresh_until, const protocol::Caching& caching) {
        read_at_ = now;
        fresh_until_ = fresh_until;
        caching_ = caching;
    }
    void make_stale() { fresh_until_.reset(); }

    bool fresh(Time now) const { return fresh_until_ && now < *fresh_until_; }
    // Stale, and not read just now either.
    bool due(Time now) const { return !fresh(now) && now - read_at_ >= kLeast; }
    std::chrono::nanoseconds since_read(Time now) const { return now - read_at_; }
    // For what is left of the time that the server said.
    protocol::Caching caching(Time now) const {
        if (!fresh(now) || !caching_.ttl) return {{}, caching_.scope};
        return {std::chrono::duration_cast<std::chrono::milliseconds>(*fresh_until_ - now),
                caching_.scope};
    }

private:
    Time read_at_{};
    std::optional<Time> fresh_until_;  // none: stale
    protocol::Caching caching_;
};

}  // namespace patchbay::connection
