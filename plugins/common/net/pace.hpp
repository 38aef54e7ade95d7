// How soon a stream that ended is asked for again: as the server wants it, but never at once, and
// less and less often while its streams end as soon as they begin.
//
// Threads: [value].
// Limits:  kLeast between two streams; it doubles up to kMost with each that did not last kLasting.
#pragma once

#include "channel_core.hpp"
#include "retry.hpp"

#include <algorithm>
#include <chrono>

namespace patchbay::net {

class Pace {
public:
    using Clock = transport::Clock;
    static constexpr std::chrono::milliseconds kLeast{100}, kMost{5000}, kLasting{1000};

    // A stream has begun.
    void began(Clock::time_point now) { since_ = now; }
    // It ended; for so long nobody asks. `wanted` is the server's word, or what is usual.
    std::chrono::milliseconds pause(std::chrono::milliseconds wanted, Clock::time_point now) {
        if (now - since_ >= kLasting) least_.succeeded();
        return std::max(wanted, *least_.failed());
    }

private:
    Clock::time_point since_{};
    transport::Retry least_{kLeast, kMost};
};

}  // namespace patchbay::net
