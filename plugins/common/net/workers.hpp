// Threads for a library that blocks: as many as there is work, gone when there is none for a while.
//
// Errors:  what `work` throws is told to the host as a bug of ours; the thread goes on.
// Threads: [any]. Signals are blocked in them: a broken pipe is an error code there.
// Limits:  the callers'; idle threads leave after kIdle.
#pragma once

#include <patchbay/cpp/entry.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace patchbay::net {

class Workers {
public:
    static constexpr std::chrono::seconds kIdle{2};

    // `host` hears of what work throws.
    explicit Workers(const patchbay_host* host) : host_(host) {}
    Workers(const Workers&) = delete;
    ~Workers() { stop(); }

    // Runs `work` soon, beside everything else. Throws std::system_error when there is no thread.
    void run(std::function<void()> work);
    // Waits for every thread to leave.
    void stop();

private:
    void serve(std::list<std::thread>::iterator self);
    void join_left();

    const patchbay_host* const host_;
    std::mutex mutex_;
    std::condition_variable more_, gone_;
    std::deque<std::function<void()>> waiting_;
    std::list<std::thread> threads_, left_;  // left_: over but for their last steps
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

// A plugin with threads, which are gone when it is shut down.
class ThreadedPlugin : public sdk::Plugin {
public:
    using Plugin::Plugin;
    Workers& workers() { return workers_; }

private:
    Workers workers_{host()};
};

}  // namespace patchbay::net
