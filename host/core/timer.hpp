// Something that happens once, later, and only while its owner lives.
//
// Threads: [loop]. Borrows the loop, which must outlive it.
#pragma once

#include "core/loop.hpp"

#include <utility>

namespace patchbay::core {

class Timer {
public:
    explicit Timer(Loop& loop) : loop_(loop) {}
    ~Timer() { stop(); }
    Timer(const Timer&) = delete;

    // What it was to do before does not happen. `fired` may start it again, or end its owner.
    template <class Fired>
    void start(std::chrono::nanoseconds delay, Fired fired) {
        stop();
        id_ = loop_.after(delay, [this, fired = std::move(fired)]() mutable {
            id_ = 0;
            fired();
        });
    }
    void stop() {
        if (id_) loop_.cancel(std::exchange(id_, 0));
    }
    bool running() const { return id_ != 0; }

private:
    Loop& loop_;
    Loop::TimerId id_ = 0;
};

}  // namespace patchbay::core
