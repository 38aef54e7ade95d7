// A loop whose time stands until somebody waits: then it goes straight to the next timer. What a
// test waits for comes at once and in one order, however busy the machine is.
//
// For fixtures where all that happens is the loop's own. Of what comes from another thread it does
// not know that it is on its way: see stand_still().
//
// Threads: [loop]; what time it is may be asked on any.
#pragma once

#include "core/loop.hpp"

#include <atomic>

namespace patchbay::test {

class HandTime : public core::TimeSource {
public:
    core::Clock::time_point now() const override { return began_ + passed(); }
    core::Calendar::time_point date() const override { return date_ + passed(); }
    // Time passes, and nobody has looked at the clock yet.
    void turn(core::Clock::duration span) { passed_ += span.count(); }

private:
    const core::Clock::time_point began_ = core::Clock::now();
    const core::Calendar::time_point date_ = core::Calendar::now();
    core::Clock::duration passed() const { return core::Clock::duration(passed_.load()); }

    std::atomic<core::Clock::rep> passed_{0};  // plugins ask from threads of theirs
};

class TurnedLoop final : public HandTime, public core::Loop {
public:
    TurnedLoop() : Loop(static_cast<const HandTime&>(*this)) {}
    using HandTime::now;

    // From now on time passes only by turn(): something is awaited from another thread.
    void stand_still() { stands_ = true; }
    // False: nothing is ready, no timer is left, and it has not come about until `deadline`, which
    // is the machine's.
    bool run_until(const std::function<bool()>& done,
                   core::Clock::time_point deadline = core::Clock::now() +
                                                      std::chrono::seconds(30)) {
        while (!done()) {
            if (core::Clock::now() >= deadline) return false;
            if (run_ready()) continue;
            if (stands_ || next_due() == core::Clock::time_point::max())
                return Loop::run_until(done, deadline);
            turn(next_due() - now());
        }
        return true;
    }
    // Each timer that is due until then fires in its turn, and all that follows from it.
    void pass(core::Clock::duration span) {
        bool passed = false;
        after(span, [&] { passed = true; });
        run_until([&] { return passed; });
        while (run_ready()) {
        }
    }

private:
    bool stands_ = false;
};

}  // namespace patchbay::test
