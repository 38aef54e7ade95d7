// What every channel of the bundled transports stands on: one lock, the host's services, a count of
// the operations that are open at the host, and the one `closed` that is told when the channel is
// over and the count is zero.
//
// Owns:    nothing of the host's; borrows what open was given.
// Threads: every entry, from the host or its reactor, takes a Turn first; the rest is called inside
//          one. end() of a watch or timer is for the reactor's thread alone (services.h: cancel).
//          The sink is called inside a turn, as the ABI permits; only `closed` comes after it,
//          since the host may destroy the channel from inside it.
// Errors:  what an entry throws ends the channel with PATCHBAY_E_INTERNAL, by way of its Owner.
#pragma once

#include "edge.hpp"

#include <patchbay/cpp/plugin.hpp>
#include <patchbay/services.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::transport {

using Clock = std::chrono::steady_clock;

class ChannelCore {
public:
    using Ready = void(PATCHBAY_CALL*)(void*, std::uint32_t) PATCHBAY_NX;
    using Fired = void(PATCHBAY_CALL*)(void*, patchbay_status) PATCHBAY_NX;
    using Posted = void(PATCHBAY_CALL*)(void*) PATCHBAY_NX;
    enum Events : std::uint32_t { kNone = 0, kReadable = 1, kWritable = 2 };

    // The channel, which knows how it ends.
    class Owner {
    public:
        // An entry threw: ends what is open with PATCHBAY_E_INTERNAL and `why`, also where the
        // channel is over and something of it was left open. Inside a turn.
        virtual void broken(const std::string& why) = 0;

    protected:
        ~Owner() = default;
    };

    // `owner` null: finish() ends all there is.
    explicit ChannelCore(const patchbay_open_params& params, Owner* owner = nullptr);
    // Of no channel: it has no sink, and finish() is only for an owner with something to tell.
    explicit ChannelCore(const patchbay_host* host, Owner* owner = nullptr);
    ChannelCore(const ChannelCore&) = delete;

    class Turn {
    public:
        explicit Turn(ChannelCore& core) : core_(core), lock_(core.mutex_) {}
        ~Turn() { core_.leave(lock_); }
        Turn(const Turn&) = delete;

    private:
        ChannelCore& core_;
        std::unique_lock<std::mutex> lock_;
    };

    // ---- edges: `body` is what an entry does, `what` names it in the log
    // In a turn: for what the reactor calls.
    template <class Body>
    void enter(const char* what, Body&& body) noexcept {
        const Turn turn(*this);
        contain(what, std::forward<Body>(body));
    }
    // Inside a turn: for a part after which the rest is done all the same.
    template <class Body>
    void contain(const char* what, Body&& body) noexcept {
        try {
            std::forward<Body>(body)();
        } catch (...) {
            broke(what);
        }
    }
    // In no turn: for what a thread of ours does.
    template <class Body>
    void work(const char* what, Body&& body) noexcept {
        try {
            std::forward<Body>(body)();
        } catch (...) {
            const Turn turn(*this);
            broke(what);
        }
    }

    const patchbay_host* host() const { return host_; }
    const sdk::Sink& sink() const { return sink_; }
    std::size_t message_bytes() const { return message_bytes_; }  // of one inbound message
    // By the clock of the host, as its deadlines and timers. [any]
    Clock::time_point now() const {
        return Clock::time_point(std::chrono::duration_cast<Clock::duration>(
            std::chrono::nanoseconds(clock_->monotonic_ns(host_))));
    }

    // ---- operations at the host; `op` is 0 when it is not open
    bool watch(int fd, std::uint32_t events, void* ctx, Ready ready, patchbay_op& op);
    void modify(patchbay_op op, std::uint32_t events) { reactor_->modify(host_, op, events); }
    bool after(std::chrono::nanoseconds delay, void* ctx, Fired fired, patchbay_op& op);
    // Ends a watch or timer, if it is open. A timer is told E_CANCELLED, inside the turn.
    void end(patchbay_op& op);
    // `fn` takes a turn and then calls arrived().
    bool post(void* ctx, Posted fn);
    // Runs `work` when this turn is over and the lock is free: a thread that it wakes need not wait
    // for us. Something must be counted as open until it has run.
    void after_turn(std::function<void()> work) { afterwards_.push_back(std::move(work)); }
    // An operation that was counted has come to its end.
    void arrived() { --open_; }
    void departed() { ++open_; }

    // ---- the end
    // The channel is over for this reason; the first one counts. PATCHBAY_OK: as asked.
    void finish(patchbay_status code, std::string text, std::uint32_t flags = 0);
    // The same, told by `tell`, which says closed() with what text cannot carry.
    void finish(std::function<void(const sdk::Sink&)> tell);
    // A better text for the reason.
    void explain(std::string text) { text_ = std::move(text); }
    bool over() const { return over_; }

private:
    void leave(std::unique_lock<std::mutex>& lock) noexcept;
    [[gnu::cold]] void broke(const char* what) noexcept;

    const patchbay_host* const host_;
    const patchbay_host_reactor* const reactor_;
    const patchbay_host_clock* const clock_;
    const sdk::Sink sink_;
    const std::size_t message_bytes_;
    Owner* const owner_;
    const bool is_channel_;
    std::mutex mutex_;  // guards the members below and the channel that uses this
    unsigned open_ = 0;
    bool over_ = false, told_ = false;
    patchbay_status code_ = PATCHBAY_OK;
    std::uint32_t flags_ = 0;
    std::string text_;
    std::function<void(const sdk::Sink&)> tell_;
    std::vector<std::function<void()>> afterwards_;
};

}  // namespace patchbay::transport
