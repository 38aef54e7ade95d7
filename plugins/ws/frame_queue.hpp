// Messages and control frames on their way out, as a client writes them: each a frame of its own,
// masked with a key of its own. What is next is masked when it is asked for, kChunk at a time. No
// I/O here.
//
// Owns:    the bodies, until their last byte is in the kernel.
// Threads: [value].
// Limits:  asks for a pause beyond kQueued frames or kQueuedBytes, ends it when half are gone; at
//          most kMostControls control frames wait.
// Follows: RFC 6455 sections 5.2 and 5.3.
#pragma once

#include "frame.hpp"
#include "random_bytes.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace patchbay::ws {

class FrameQueue {
public:
    static constexpr std::size_t kQueued = 1000, kQueuedBytes = 16u << 20, kMostControls = 16;
    static constexpr std::size_t kChunk = 64u << 10;

    // True: the sender should pause.
    bool push(std::uint64_t exchange, sdk::Body body);
    // False: it is dropped, since as many wait as may.
    bool push_control(Opcode opcode, std::string_view payload);
    bool empty() const { return frames_.empty(); }

    // What to write next; empty: nothing waits. The same bytes, where they were, until written().
    std::string_view next();
    // `bytes` of them have left; calls `done(exchange)` for every message that is complete.
    template <class Done>
    void written(std::size_t bytes, Done done);
    // What next() gave may have left, though nobody knows how much of it.
    void doubt() { doubted_ = true; }
    // True once when a pause is over.
    bool take_relief();

    // Takes out a message that next() has given nothing of. False: there is none.
    bool cancel(std::uint64_t exchange);
    // Takes out all that next() has given nothing of; calls `dropped(exchange)`.
    template <class Dropped>
    void drop_waiting(Dropped dropped);
    // Takes out all; calls `dropped(exchange, begun)`.
    template <class Dropped>
    void clear(Dropped dropped);

private:
    struct Frame {
        std::uint64_t exchange;  // 0: a control frame
        Opcode opcode;
        sdk::Body body;
        std::string control;
        std::array<char, 4> mask{};
        std::size_t begin = 0, end = 0;  // in the chunk; begin: 0 when it has one before as well
        std::size_t masked = 0;          // of its payload
        bool headed = false;             // its head was written to this chunk or one before
        bool begun = false;              // some of it was in a chunk before, which has left

        std::string_view payload() const {
            return exchange ? body.view() : std::string_view(control);
        }
        bool whole() const { return headed && masked == payload().size(); }
    };

    void add(Frame frame);
    void fill(Frame& frame);
    void remove(std::deque<Frame>::iterator frame);

    std::deque<Frame> frames_;
    std::string chunk_;
    std::size_t left_ = 0;      // bytes of it that have left
    std::size_t in_chunk_ = 0;  // frames of which it holds something
    std::size_t bytes_ = 0;     // payloads of all frames
    std::size_t controls_ = 0;  // that wait, nothing of them in the chunk
    bool doubted_ = false, paused_ = false;
    RandomBytes random_;
};

template <class Done>
void FrameQueue::written(std::size_t bytes, Done done) {
    left_ += bytes;
    while (in_chunk_ > 0 && frames_.front().whole() && frames_.front().end <= left_) {
        const auto exchange = frames_.front().exchange;
        --in_chunk_;
        remove(frames_.begin());
        if (exchange) done(exchange);
    }
    if (!frames_.empty()) return;
    chunk_ = {};  // a connection that is idle keeps no memory for it
    left_ = 0;
}

template <class Dropped>
void FrameQueue::drop_waiting(Dropped dropped) {
    while (frames_.size() > in_chunk_) {
        const auto exchange = frames_[in_chunk_].exchange;
        if (!exchange) --controls_;
        remove(frames_.begin() + static_cast<std::ptrdiff_t>(in_chunk_));
        if (exchange) dropped(exchange);
    }
}

template <class Dropped>
void FrameQueue::clear(Dropped dropped) {
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const auto& frame = frames_[i];
        const bool begun = frame.begun || (i < in_chunk_ && (doubted_ || frame.begin < left_));
        if (frame.exchange) dropped(frame.exchange, begun);
    }
    frames_.clear();
    chunk_ = {};
    left_ = in_chunk_ = bytes_ = controls_ = 0;
    doubted_ = paused_ = false;
}

}  // namespace patchbay::ws
