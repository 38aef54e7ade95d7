// Makes something slow for as long as a test wants: a thread that comes to it waits until the test
// opens it.
//
// Threads: pass() on the thread that is to be slow, the rest on the loop's.
#pragma once

#include "core/loop.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace patchbay::test {

class Gate {
public:
    explicit Gate(core::Loop& loop) : loop_(loop) {}

    // Opens by itself after 30 s: a test that fails must still end.
    void pass() {
        std::unique_lock lock(mutex_);
        reached_ = true;
        loop_.post([] {});  // whoever waits on the loop for reached() looks again
        changed_.wait_for(lock, std::chrono::seconds(30), [this] { return open_; });
    }
    bool reached() {
        const std::scoped_lock lock(mutex_);
        return reached_;
    }
    void open() {
        const std::scoped_lock lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

private:
    core::Loop& loop_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    bool reached_ = false, open_ = false;
};

}  // namespace patchbay::test
