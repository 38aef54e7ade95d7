// The host side of a channel. Plugin events are queued in it on whatever thread they come, and
// delivered by the loop; all judgement of the contract happens at delivery. Internal to this room.
//
// Owned by: its Channel, and while a delivery is scheduled by itself.
// Threads:  [loop], but for what the sink queues: [any].
#pragma once

#include "core/secrets.hpp"
#include "plugin/channel.hpp"
#include "plugin/exchange_set.hpp"
#include "plugin/open_channel.hpp"
#include "plugin/signer.hpp"
#include "plugin/slow_call.hpp"
#include "plugin/tables.hpp"

#include <atomic>
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
    Closed,
    Fault,  // the plugin broke the contract
    Spent,  // a limit of this channel is reached, or an event of it was lost
};

struct EventDetail {
    Problem problem;
    std::string name, text;
    unsigned stream = 0;
};

struct LinkEvent {
    EventKind kind;
    patchbay_status status = PATCHBAY_OK;
    ExchangeId exchange = 0;
    core::Buffer body{};
    std::unique_ptr<EventDetail> detail{};

    std::size_t bytes() const { return body.size() + (detail ? detail->text.size() : 0); }
};

struct Link : std::enable_shared_from_this<Link> {
    Link(core::Loop& its_loop, HostServices& its_services, const patchbay_transport& its_table,
         std::string its_server, std::size_t message_bytes, std::shared_ptr<Signer> its_signer,
         ChannelEvents& its_events);

    void mask(const std::vector<Header>& given);

    // ---- [any]: called by the plugin

    // The one door from plugin threads. Bodies are released by the caller, outside the lock.
    patchbay_status push(LinkEvent& event);

    static LinkEvent special_event(EventKind kind, std::string what);

    // ---- [loop]

    // One round. When an event pumps the loop, the next goes on where the outer one is.
    void deliver();

    std::size_t deliver_next();
    // Taken from the queue, and not delivered yet.
    bool left() const { return !parts.empty() || next < batch.size(); }
    // Counts what was delivered, sees to the next round, and lets a plugin that was told to pause
    // send again when nothing is left.
    void go_on();
    void dispatch(LinkEvent& event);
    void finish(LinkEvent& event);

    // The plugin may not be called for this channel any more, except to let it stop.
    void fault(const std::string& what);

    // Ends this channel alone: nothing of it is heard any more, and it is closed.
    void give_up(ErrorCode code, const std::string& why);

    // Whoever hears the events threw: a bug of the host that one server has brought to light.
    [[gnu::cold]] void failed_at(EventKind kind, const char* what);
    void destroy();

    // A channel that is not closed is left to itself, for good.
    void abandon();

    void queue_fault(std::string what);

    // An event could not be taken in: without it the rest makes no sense. [any]
    void lose_event();

    static const char* name_of_kind(EventKind kind);

    core::Loop& loop;
    HostServices& services;
    const patchbay_transport& table;
    const std::string server;
    const std::size_t most_queued_bytes;
    const std::shared_ptr<Signer> signer;  // may be null
    core::Secrets secrets;                 // the credentials given to it, the former ones too

    // [loop]
    ChannelEvents* events;  // null: nobody listens
    patchbay_channel* channel = nullptr;
    ExchangeSet exchanges;
    std::vector<LinkEvent> batch;  // from `next` on: to be delivered
    std::size_t next = 0;
    std::size_t delivered = 0, delivered_bytes = 0;  // of `batch` in this round
    std::deque<core::Buffer> parts;                  // messages that come before those
    std::vector<patchbay_kv> headers;
    bool opened = false, closing = false, closed = false, ended = false, faulted = false;

    std::atomic<bool> paused{false};

    std::mutex mutex;  // guards what follows
    std::vector<LinkEvent> queue;
    std::size_t queued_bytes = 0, waiting = 0;  // bytes and events, those in `batch` too
    bool scheduled = false, answered_pause = false, overflowed = false, dropping = false;
    std::shared_ptr<Link> self;  // while a delivery is scheduled

private:
    // With the mutex held, also across post(): who delivers `closed` must wait until the thread
    // that said it has left this object.
    void schedule();
};

// What a plugin calls with its link.
const patchbay_sink* sink_table();

}  // namespace patchbay::plugin

// The name that the C header knows it by.
struct patchbay_link final : patchbay::plugin::Link {
    using Link::Link;
};
