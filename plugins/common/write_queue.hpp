// Messages on their way out: what waits, how much of the first has left, when to pause the sender.
// No I/O here.
//
// Owns:    the bodies, until their last byte is in the kernel.
// Threads: [value].
// Limits:  asks for a pause at kHighMark waiting bytes, ends it below kLowMark.
#pragma once

#include <patchbay/cpp/plugin.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <sys/uio.h>

namespace patchbay::transport {

class WriteQueue {
public:
    static constexpr std::size_t kHighMark = 1u << 20, kLowMark = 256u << 10;
    static constexpr int kMostVectors = 128;  // two a message: the body, its newline

    // True: the sender should pause.
    bool push(std::uint64_t exchange, sdk::Body body);
    bool empty() const { return queue_.empty(); }

    // What to write next; the number of vectors filled.
    int vectors(iovec (&out)[kMostVectors]) const;
    // `bytes` have left; calls `done(exchange)` for every message that is complete with them.
    template <class Done>
    void written(std::size_t bytes, Done done);
    // True once when a pause is over.
    bool take_relief();

    // Takes out a message of which nothing has left. False: there is none.
    bool cancel(std::uint64_t exchange);
    // Takes out all; calls `dropped(exchange, begun)`.
    template <class Dropped>
    void clear(Dropped dropped);

private:
    struct Queued {
        std::uint64_t exchange;
        sdk::Body body;
    };

    std::deque<Queued> queue_;
    std::size_t waiting_ = 0;  // bytes with newlines, what has left of the first included
    std::size_t left_ = 0;     // bytes of the first that have left
    bool paused_ = false;
};

template <class Done>
void WriteQueue::written(std::size_t bytes, Done done) {
    left_ += bytes;
    while (!queue_.empty() && left_ > queue_.front().body.size()) {
        const std::size_t size = queue_.front().body.size() + 1;
        const auto exchange = queue_.front().exchange;
        left_ -= size;
        waiting_ -= size;
        queue_.pop_front();
        done(exchange);
    }
}

template <class Dropped>
void WriteQueue::clear(Dropped dropped) {
    bool begun = left_ > 0;
    for (const auto& queued : queue_) {
        dropped(queued.exchange, begun);
        begun = false;
    }
    queue_.clear();
    waiting_ = left_ = 0;
    paused_ = false;
}

}  // namespace patchbay::transport
