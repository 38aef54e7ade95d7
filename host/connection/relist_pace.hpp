// When a list is read again of a server that says it changed: at once the first time, and then after
// pauses, so that one that says so all the time is heard of soon and costs a fifth of the time at most.
// Decides without a clock or a timer of its own.
//
// Threads: [loop].
// Limits:  pauses of Terms::relist_first to Terms::relist_most.
#pragma once

#include "core/time_source.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace patchbay::connection {

class RelistPace {
public:
    using Pause = std::chrono::milliseconds;

    // `first`, `most`: the shortest and the longest pause.
    RelistPace(const Pause& first, const Pause& most) : first_(first), most_(most) {}

    void begun(core::Clock::time_point now) { begun_ = now; }
    void read(core::Clock::time_point now) { took_ = now - begun_; }

    // How long to wait with the next one, `since_read` after the last.
    Pause next(core::Clock::duration since_read) {
        // Where reading takes long there are pauses of four times that.
        constexpr int kRest = 4;
        const auto rest = std::chrono::duration_cast<Pause>(took_ * kRest);
        const auto pause = std::clamp(rest, first_, most_);
        if (since_read >= pause) in_a_row_ = false;
        return std::exchange(in_a_row_, true) ? pause : Pause(0);
    }

private:
    const Pause& first_;
    const Pause& most_;
    core::Clock::time_point begun_{};  // of the last list
    core::Clock::duration took_{};     // it
    bool in_a_row_ = false;  // the last one was read because the server said so, not long ago
};

}  // namespace patchbay::connection
