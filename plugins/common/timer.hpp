// One timer of a channel: it calls what it was made with inside a turn of the core, once for each
// start.
//
// Owns:    the operation at the host. Borrows core, which counts it as open.
// Threads: inside a turn of the core; stop() on the reactor's thread (services.h: cancel).
// Errors:  what it calls may throw, which ends the channel.
#pragma once

#include "channel_core.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace patchbay::transport {

class Timer {
public:
    Timer(ChannelCore& core, std::function<void()> fired) : core_(core), fired_(std::move(fired)) {}
    Timer(const Timer&) = delete;

    // Not while it runs. False: the host takes no timer.
    bool start(std::chrono::nanoseconds delay);
    void stop();
    bool running() const { return op_ != 0; }

private:
    static void on_fired(void* self, patchbay_status status) noexcept;

    ChannelCore& core_;
    const std::function<void()> fired_;
    patchbay_op op_ = 0;
};

}  // namespace patchbay::transport
