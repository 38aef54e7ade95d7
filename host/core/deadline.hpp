// A time that is put off again and again and hardly ever comes, like the limits of one request after
// the other: to put it off costs no timer.
//
// Owns:    one timer, which may run behind what it is for. Borrows the loop, which must outlive it.
// Threads: [loop].
#pragma once

#include "core/timer.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace patchbay::core {

class Deadline {
public:
    // `passed` may set it again, or end its owner.
    Deadline(Loop& loop, std::function<void()> passed)
        : loop_(loop), timer_(loop), passed_(std::move(passed)) {}

    // In the place of what was set before.
    void set(std::chrono::nanoseconds from_now) {
        due_ = loop_.now() + from_now;
        if (due_ < armed_for_) arm(from_now);
    }
    void clear() { due_ = kNever; }
    bool is_set() const { return due_ != kNever; }

private:
    static constexpr auto kNever = Clock::time_point::max();

    void arm(std::chrono::nanoseconds from_now) {
        armed_for_ = due_;
        timer_.start(from_now, [this] { look(); });
    }
    void look() {
        armed_for_ = kNever;
        if (!is_set()) return;
        if (const auto left = due_ - loop_.now(); left.count() > 0) return arm(left);
        clear();
        passed_();
    }

    Loop& loop_;
    Timer timer_;
    const std::function<void()> passed_;
    Clock::time_point due_ = kNever, armed_for_ = kNever;
};

}  // namespace patchbay::core
