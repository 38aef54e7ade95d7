// Threads for a library that blocks: as many as there is work, gone when there is none for a while.
// One for a plugin.
//
// Threads: [any]. Signals are blocked in them: a broken pipe is an error code there.
// Limits:  the callers'; idle threads leave after kIdle.
#pragma once

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

    static Workers& of_this_plugin();

    // Runs `work` soon, beside everything else. Throws std::system_error when there is no thread.
    void run(std::function<void()> work);
    // Waits for every thread to leave; for the plugin's shutdown.
    void stop();

private:
    void serve(std::list<std::thread>::iterator self);
    void join_left();

    std::mutex mutex_;
    std::condition_variable more_, gone_;
    std::deque<std::function<void()>> waiting_;
    std::list<std::thread> threads_, left_;  // left_: over but for their last steps
    std::size_t idle_ = 0;
    bool stopping_ = false;
};

}  // namespace patchbay::net
