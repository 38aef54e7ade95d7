// Whether a wait should poll for a moment before it sleeps. To wake a thread on another core takes
// tens of microseconds, more than many an answer; to poll for what does not come takes the time from
// whoever could have worked. So it begins after a few sleeps that polling would have spared, and
// ends when it does not pay.
//
// Threads: [value]. No clock of its own: it is told how long waits were.
#pragma once

#include <algorithm>
#include <chrono>

namespace patchbay::core {

class Spin {
public:
    using Nanoseconds = std::chrono::nanoseconds;

    // `most`: polled for before each sleep; 0: never.
    explicit Spin(Nanoseconds most) : most_(most) {}

    Nanoseconds most() const { return most_; }
    bool pays() const { return most_.count() > 0 && good_ >= needed_; }

    // A wait slept from beginning to end. The time to wake up is part of it, so that one of up to
    // twice `most` may have been worth it; a very short one means that both ends share a core, and
    // there polling would only keep the other from its work.
    void slept(Nanoseconds time) {
        const bool spared = time >= kSharedCore && time <= 2 * most_;
        good_ = spared ? std::min(good_ + 1, needed_) : 0;
    }

    // A wait polled, and something came, or nothing did.
    void polled(bool came) {
        if (came) {
            missed_ = 0;
            needed_ = kFirst;
            return;
        }
        if (++missed_ < kMisses) return;
        missed_ = good_ = 0;
        needed_ = std::min(2 * needed_, kLast);  // the next try is further away
    }

private:
    static constexpr Nanoseconds kSharedCore = std::chrono::microseconds(12);
    static constexpr unsigned kFirst = 4, kLast = 1024, kMisses = 2;

    Nanoseconds most_;
    unsigned good_ = 0, needed_ = kFirst, missed_ = 0;
};

}  // namespace patchbay::core
