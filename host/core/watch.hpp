// A descriptor that is watched for as long as its owner lives, or until it is stopped.
//
// Threads: [loop]. Borrows the loop and the descriptor, which is not closed before this has ended.
#pragma once

#include "core/loop.hpp"

#include <functional>
#include <utility>

namespace patchbay::core {

class Watch {
public:
    explicit Watch(Loop& loop) : loop_(loop) {}
    ~Watch() { stop(); }
    Watch(const Watch&) = delete;

    // In the place of what was watched before. False: it cannot be watched, and nothing is heard of it.
    bool start(int fd, unsigned events, std::function<void(unsigned events)> ready) {
        stop();
        const auto watched = loop_.watch(fd, events, std::move(ready));
        if (!watched) return false;
        id_ = *watched;
        events_ = events;
        return true;
    }
    // What is waited for from now on; 0: nothing, for a while.
    void want(unsigned events) {
        if (id_ != 0 && std::exchange(events_, events) != events) loop_.modify(id_, events);
    }
    void want_more(unsigned events) { want(events_ | events); }
    void want_less(unsigned events) { want(events_ & ~events); }
    // What it calls does not come again, not even for what was seen already.
    void stop() {
        if (id_ != 0) loop_.unwatch(std::exchange(id_, 0));
    }
    bool running() const { return id_ != 0; }

private:
    Loop& loop_;
    Loop::WatchId id_ = 0;
    unsigned events_ = 0;  // that are waited for
};

}  // namespace patchbay::core
