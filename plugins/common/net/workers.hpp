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
#include <mutex>

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
    void serve();

    std::mutex mutex_;
    std::condition_variable more_, left_;
    std::deque<std::function<void()>> waiting_;
    std::size_t threads_ = 0, idle_ = 0;
    bool stopping_ = false;
};

}  // namespace patchbay::net
