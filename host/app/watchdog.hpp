// Signals stay ours, whatever a plugin does to the loop: a thread waits for SIGINT, SIGTERM and
// SIGHUP and hands them to the loop. A loop that does not come round within the hang limit after
// one, or after the time that a one-shot command was given, is stuck, in practice in a plugin's call;
// then the thread says in which, and the process ends. Supervisors end the servers as soon as we are gone, so nothing is left behind.
//
// Owns:    its thread and descriptors. One at a time: it blocks these signals for the process, from
//          construction on, and for every thread that is started later.
// Threads: made and destroyed on the loop's thread; set_limit() and set_due() are [any], fd() and take()
//          [loop].
// Errors:  without its descriptors signals keep their default, which ends the process.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace patchbay::plugin {
struct CurrentCall;
}

namespace patchbay::app {

class Watchdog {
public:
    // The calling thread becomes the one that is watched.
    explicit Watchdog(std::chrono::milliseconds limit);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    void set_limit(std::chrono::milliseconds limit) { limit_ms_ = limit.count(); }

    // When the command is to have an answer, by its own words. From then on the loop has to show that
    // it comes round, as after a signal.
    void set_due(std::chrono::steady_clock::time_point due);

    // Readable when take() is worth a call; after the first signal that is so all the time, because
    // the loop has to show that it comes round.
    int fd() const { return wake_; }
    // Signals that came since the last call.
    unsigned take();
    int first_signal() const { return first_; }  // 0: none came
    // A SIGHUP is none of these from now on, and asks for nothing to end: how many came since the last call.
    void set_hangups_apart() { hangups_apart_ = true; }
    unsigned take_hangups() { return hangups_.exchange(0); }

private:
    using Clock = std::chrono::steady_clock;

    void run();
    // Asks the loop to come round, and waits for the next signal. False: it is time to end.
    bool watch_once();
    bool overdue() const { return Clock::now() >= due_.load(); }
    int until_due_ms() const;  // for poll(2)
    [[noreturn]] void give_up() const;

    std::atomic<long> limit_ms_;
    std::atomic<Clock::time_point> due_{Clock::time_point::max()};
    std::atomic<bool> over_{false};
    std::atomic<bool> hangups_apart_{false};
    std::atomic<int> first_{0};                      // its number, written before it is counted
    std::atomic<unsigned> arrived_{0}, hangups_{0};  // signals
    std::atomic<unsigned> asked_{0}, answered_{0};   // whether the loop comes round
    unsigned taken_ = 0;                             // [loop]
    int signals_ = -1, wake_ = -1;
    int news_ = -1;  // of due_ and over_, for the thread
    const plugin::CurrentCall& call_;
    std::thread thread_;
};

}  // namespace patchbay::app
