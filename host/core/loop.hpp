// The one event loop. Its thread owns all host state; everything else reaches that state by post().
//
// Owns:    watches, timers, queued work. Callbacks own what they capture.
// Threads: [loop] is the thread that runs the loop: the one that called run() or run_until() last.
//          post() is [any]; everything else is [loop].
// Errors:  watch() fails when the descriptor cannot be polled; nothing else fails. run() and run_until()
//          throw std::logic_error inside of either: a callback that waited for another would keep it
//          from its turn, timers above all. It is to return, and to go on when that calls. An exception that
//          escapes a callback ends that callback alone: core/escapes logs and counts it, and the loop goes
//          on, because one server's trouble is not the others'.
// Order:   deferred work runs when the current callback returns, before the loop polls again, so
//          a call that begins and ends on this thread costs no wake-up.
#pragma once

#include "core/result.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace patchbay::core {

class Loop {
public:
    using WatchId = std::uint64_t;  // never 0, never reused
    using TimerId = std::uint64_t;  // never 0, never reused
    enum Events : unsigned { kReadable = 1, kWritable = 2 };

    explicit Loop(const TimeSource& time = machine_time());  // which outlives it
    ~Loop();                                                 // queued work is dropped, not run
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Level-triggered: `ready` is called again while the descriptor stays ready, and told all that it
    // is ready for. The descriptor stays the caller's, who calls unwatch() before closing it. [loop]
    Result<WatchId> watch(int fd, unsigned events, std::function<void(unsigned events)> ready);
    // Changes what is waited for; 0 pauses the watch. [loop]
    void modify(WatchId id, unsigned events);
    // After this `ready` is not called again, not even for an event already seen. [loop]
    void unwatch(WatchId id);

    // Calls `fired` once, `delay` from now; what a timer starts, in a later round. [loop]
    TimerId after(std::chrono::nanoseconds delay, std::function<void()> fired);
    void cancel(TimerId id);  // unknown or fired: ignored [loop]

    // Runs `work` when the current callback has returned, in order. [loop]
    void defer(std::function<void()> work);
    // Runs `work` when all that came with the last wait has been told, once for many of them. [loop]
    void defer_to_end_of_round(std::function<void()> work);
    // As defer(), from any thread; wakes the loop. [any]
    void post(std::function<void()> work);

    // Runs until stop(). Callable again afterwards, and from no callback, as run_until().
    void run();
    void stop();  // [any]
    // Pumps until `done()` is true or `deadline` has passed; false in the second case. `done` is
    // asked after every batch of callbacks. This is how a synchronous caller waits: no hand-off.
    bool run_until(const std::function<bool()>& done,
                   Clock::time_point deadline = Clock::time_point::max());

    // Waits may poll for up to `most` before they sleep, where that has been found to pay (core/spin)
    // and this process may use more than one core. 0, as at first: never. [loop]
    void set_spin(std::chrono::nanoseconds most);

    const TimeSource& time() const;                         // [any]
    Clock::time_point now() const { return time().now(); }  // [any]

    // Of a loop whose time is turned by hand. Runs one thing that is ready, or fires the timers that
    // are due, and waits for nothing; false: there was nothing. [loop]
    bool run_ready();
    // When a timer may be due next; never: max(). [loop]
    Clock::time_point next_due() const;

    bool on_loop_thread() const;  // [any]
    void assert_here() const;     // aborts on another thread, in debug builds only

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::core
