// How long a frame may drip: kLimit from when it was first seen to be cut, and a second for every
// 16 KiB that came since; the next one has all of it again.
//
// Owns:    its timer. Borrows core and decoder.
// Threads: inside a turn of the core; stop() on the reactor's thread.
#pragma once

#include "frame_decoder.hpp"
#include "timer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace patchbay::ws {

class FrameTime {
public:
    static constexpr std::chrono::seconds kLimit{30};

    // Calls `late` when a frame takes too long.
    FrameTime(transport::ChannelCore& core, const FrameDecoder& decoder, std::function<void()> late)
        : decoder_(decoder), late_(std::move(late)), timer_(core, [this] { look(); }) {}

    // So many bytes have come.
    void moved(std::size_t bytes) { moved_ += bytes; }
    // All that has come is decoded.
    void measure() {
        if (decoder_.open_frame() == 0 || timer_.running()) return;
        frame_ = decoder_.open_frame();
        moved_ = 0;
        start(kLimit);
    }
    void stop() { timer_.stop(); }

private:
    static constexpr std::size_t kBytesPerSecond = 16u << 10;

    void look() {
        if (decoder_.open_frame() != frame_) return measure();
        const std::chrono::milliseconds more(std::exchange(moved_, 0) * 1000 / kBytesPerSecond);
        if (more.count() == 0) return late_();
        start(more);
    }
    // Refused only by a host that is closing itself.
    void start(std::chrono::nanoseconds time) { static_cast<void>(timer_.start(time)); }

    const FrameDecoder& decoder_;
    const std::function<void()> late_;
    transport::Timer timer_;
    std::uint64_t frame_ = 0;  // that the timer runs for
    std::size_t moved_ = 0;    // bytes since it was started
};

}  // namespace patchbay::ws
