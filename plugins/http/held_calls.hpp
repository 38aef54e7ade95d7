// Calls that wait for the GET stream of their session: what a server asks back during a call may come
// there, and is lost when nobody listens yet. Private to the plugin.
//
// Owns:    what waits, and how long. Borrows core and engine.
// Threads: inside a turn of the core; stop() on the reactor's.
// Limits:  kHold; crowded() beyond as much as an engine queues (net::Admission).
#pragma once

#include "net/engine.hpp"
#include "timer.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace patchbay::http {

class Exchange;

class HeldCalls {
public:
    static constexpr std::chrono::milliseconds kHold{500};

    // `late`: the stream has had time enough.
    HeldCalls(transport::ChannelCore& core, net::Engine& engine, std::function<void()> late)
        : engine_(engine), patience_(core, std::move(late)) {}

    // From now on, unless it is so already.
    void begin() {
        if (!patience_.running()) holding_ = patience_.start(kHold);
    }
    bool holding() const { return holding_; }
    void add(std::shared_ptr<Exchange> call);
    // All that nobody has ended meanwhile are on their way.
    void release();
    void drop() { waiting_.clear(); }
    void stop() { patience_.stop(); }

    bool empty() const { return waiting_.empty(); }
    bool crowded() const {
        return waiting_.size() > net::Admission::kQueued || bytes_ > net::Admission::kQueuedBytes;
    }

private:
    net::Engine& engine_;
    transport::Timer patience_;
    std::vector<std::shared_ptr<Exchange>> waiting_;
    std::size_t bytes_ = 0;
    bool holding_ = false;
};

}  // namespace patchbay::http
