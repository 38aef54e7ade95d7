// What a plugin tells of one link, on whatever thread, until the loop delivers it.
//
// Owned by: its link, which it keeps alive while a delivery is scheduled.
// Threads: [loop], except where it says [any].
// Limits:  those it is made with; what goes beyond becomes one Spent event.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/authenticator.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::plugin {

enum class EventKind {
    Opened,
    Message,
    Done,
    Writable,
    Challenge,
    Output,
    Fact,
    Acquired,
    Closed,  // what follows is never dispatched
    Fault,   // the plugin broke the contract
    Spent,   // a limit of this link is reached, or an event of it was lost
};

struct EventDetail {
    Problem problem;
    std::string name, text;
    unsigned stream = 0;
    Result<Grant> outcome = Grant{};
};

struct LinkEvent {
    EventKind kind;
    std::uint64_t id = 0;  // of the exchange or the operation
    core::Buffer body{};
    std::unique_ptr<EventDetail> detail{};

    std::size_t bytes() const { return body.size() + (detail ? detail->text.size() : 0); }
};

// Who takes the events, once a round.
class Recipient : public std::enable_shared_from_this<Recipient> {
public:
    virtual ~Recipient() = default;
    virtual void deliver() = 0;
};

class EventQueue {
public:
    struct Limits {
        std::size_t bytes, events;  // that wait for the loop
        std::size_t round;          // events in one turn of it; then the other servers have theirs
    };
    // `kind` begins the names of the limits: "channel". `owner` owns this.
    EventQueue(core::Loop& loop, Recipient& owner, const char* kind, Limits limits)
        : limits_(limits), loop_(loop), owner_(owner), kind_(kind) {}

    // The one door from plugin threads; what to answer to a message. A body that is not taken is
    // released outside the lock. [any]
    patchbay_status push(LinkEvent&& event);
    // Takes nothing in any more.
    void shut();

    // A round: what the one before has left goes first.
    void begin_round();
    bool goes_on(std::size_t events, std::size_t bytes) const {
        return events < limits_.round && bytes < kBytesPerRound && left();
    }
    LinkEvent next();
    // Counts what was delivered and sees to the next round. True: nothing is left, and a plugin
    // that was told to pause may send again.
    bool end_round();

    void pause() { paused_ = true; }
    void resume() { paused_ = false; }
    // These were in the message that is being told, and come next.
    void unfold(std::vector<core::Buffer> messages);

private:
    static constexpr std::size_t kBytesPerRound = 256u << 10;

    // Taken from the queue, and not delivered yet.
    bool left() const { return !parts_.empty() || next_ < batch_.size(); }
    [[gnu::cold]] LinkEvent overflow(bool many) const;
    void schedule();

    const Limits limits_;
    core::Loop& loop_;
    Recipient& owner_;
    const char* const kind_;

    std::vector<LinkEvent> batch_;  // from `next_` on: to be delivered
    std::size_t next_ = 0;
    std::size_t delivered_ = 0, delivered_bytes_ = 0;  // of `batch_` in this round
    std::deque<core::Buffer> parts_;                   // messages that come before those

    std::atomic<bool> paused_{false};

    std::mutex mutex_;  // guards what follows
    std::vector<LinkEvent> queue_;
    std::size_t queued_bytes_ = 0, waiting_ = 0;  // bytes and events, those in `batch_` too
    bool scheduled_ = false, answered_pause_ = false, overflowed_ = false, shut_ = false;
    std::shared_ptr<Recipient> kept_;  // while a delivery is scheduled
};

// An event that says no more than this.
LinkEvent special_event(EventKind kind, std::string what);

}  // namespace patchbay::plugin
