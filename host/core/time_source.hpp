// What time it is. A host has one, its loop's: limits, pauses and timers go by it, so that a test can
// turn it by hand. Waits inside the kernel (a lock of a file, a program that a worker waits for) and the
// deadline of Loop::run_until() go by the machine's.
//
// Threads: [any].
#pragma once

#include <chrono>

namespace patchbay::core {

using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
using Calendar = std::chrono::system_clock;

class TimeSource {
public:
    virtual ~TimeSource() = default;
    virtual Clock::time_point now() const { return Clock::now(); }  // never goes back
    virtual Calendar::time_point date() const { return Calendar::now(); }
};

const TimeSource& machine_time();

}  // namespace patchbay::core
