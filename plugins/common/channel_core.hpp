// What every channel of the bundled transports stands on: one lock, the host's services, a count of
// the operations that are open at the host, and the one `closed` that is told when the channel is
// over and the count is zero.
//
// Owns:    nothing of the host's; borrows what open was given.
// Threads: every entry, from the host or its reactor, takes a Turn first; the rest is called inside
//          one. end() of a watch or timer is for the reactor's thread alone (services.h: cancel).
//          The sink is called inside a turn, as the ABI permits; only `closed` comes after it,
//          since the host may destroy the channel from inside it.
// Errors:  none of its own.
#pragma once

#include <patchbay/cpp/plugin.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::transport {

class ChannelCore {
public:
    using Ready = void(PATCHBAY_CALL*)(void*, std::uint32_t) PATCHBAY_NX;
    using Fired = void(PATCHBAY_CALL*)(void*, patchbay_status) PATCHBAY_NX;
    using Posted = void(PATCHBAY_CALL*)(void*) PATCHBAY_NX;
    enum Events : std::uint32_t { kNone = 0, kReadable = 1, kWritable = 2 };

    explicit ChannelCore(const patchbay_open_params& params);
    // Of no channel: it has no sink and must not finish.
    explicit ChannelCore(const patchbay_host* host);
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

    const patchbay_host* host() const { return host_; }
    const sdk::Sink& sink() const { return sink_; }
    std::size_t message_bytes() const { return message_bytes_; }  // of one inbound message

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

    const patchbay_host* const host_;
    const patchbay_host_reactor* const reactor_;
    const sdk::Sink sink_;
    const std::size_t message_bytes_;
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
