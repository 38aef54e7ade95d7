#include "plugin/link.hpp"

#include "core/escapes.hpp"
#include "core/log.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::plugin {
namespace {

// Queued, then message() answers PAUSE: by bytes, and by events because small ones cost more than
// their bytes.
constexpr std::size_t kPauseBytes = 1u << 20;
constexpr std::size_t kPauseEvents = 1'000;
// Queued, then the channel ends. What a peer sends in one piece is handed over in one piece, so
// this says nothing of the plugin; its other channels go on.
constexpr std::size_t kMostQueuedBytes = 64u << 20;
constexpr std::size_t kMostQueuedEvents = 100'000;
constexpr std::size_t kMostQueuedOutputs = 10'000;  // lines for people beyond are dropped
// Delivered in one turn of the loop; then the other servers have theirs.
constexpr std::size_t kEventsPerRound = 64;
constexpr std::size_t kBytesPerRound = 256u << 10;

}  // namespace

Link::Link(core::Loop& its_loop, HostServices& its_services, const patchbay_transport& its_table,
           std::string its_server, std::size_t message_bytes, std::shared_ptr<Signer> its_signer,
           ChannelEvents& its_events)
    : loop(its_loop),
      services(its_services),
      table(its_table),
      server(std::move(its_server)),
      most_queued_bytes(std::max(kMostQueuedBytes, 2 * message_bytes)),
      signer(std::move(its_signer)),
      events(&its_events) {}

void Link::mask(const std::vector<Header>& given) {
    for (const auto& header : given)
        if (header.secret) secrets.add_header(header.value);
}

patchbay_status Link::push(LinkEvent& event) {
    const std::scoped_lock lock(mutex);
    if (dropping) return PATCHBAY_OK;
    const auto bytes = event.body.size();
    if (event.kind == EventKind::Output && waiting >= kMostQueuedOutputs) return PATCHBAY_OK;
    if (event.kind != EventKind::Closed &&
        (queued_bytes + bytes > most_queued_bytes || waiting >= kMostQueuedEvents)) {
        if (overflowed) return PATCHBAY_PAUSE;
        overflowed = true;
        const bool many = waiting >= kMostQueuedEvents;
        event = special_event(EventKind::Spent, std::to_string(queued_bytes) + " bytes in " +
                                                    std::to_string(waiting) +
                                                    " events of the server were waiting (limit " +
                                                    (many ? "channel_events)" : "channel_bytes)"));
    }
    queued_bytes += event.body.size();
    ++waiting;
    const bool is_message = event.kind == EventKind::Message;
    queue.push_back(std::move(event));
    schedule();
    if (!is_message || (!paused && queued_bytes <= kPauseBytes && waiting <= kPauseEvents))
        return PATCHBAY_OK;
    answered_pause = true;
    return PATCHBAY_PAUSE;
}

LinkEvent Link::special_event(EventKind kind, std::string what) {
    LinkEvent event{kind};
    event.detail = std::make_unique<EventDetail>();
    event.detail->text = std::move(what);
    return event;
}

void Link::deliver() {
    const auto keep = shared_from_this();
    {
        const std::scoped_lock lock(mutex);
        self = nullptr;
        scheduled = false;
        if (!left()) {
            batch.clear();
            next = 0;
            batch.swap(queue);
        }
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kEventsPerRound && bytes < kBytesPerRound && left(); ++i)
        bytes += deliver_next();
    go_on();
}

std::size_t Link::deliver_next() {
    LinkEvent event{EventKind::Message};
    if (!parts.empty()) {
        event.body = std::move(parts.front());
        parts.pop_front();
    } else {
        event = std::move(batch[next++]);
        delivered_bytes += event.body.size();
        ++delivered;
    }
    const auto bytes = event.bytes();
    try {
        dispatch(event);
    } catch (const std::exception& error) {
        failed_at(event.kind, error.what());
    } catch (...) {
        failed_at(event.kind, "no std::exception");
    }
    return bytes;
}

void Link::go_on() {
    bool resume = false;
    {
        const std::scoped_lock lock(mutex);
        queued_bytes -= std::exchange(delivered_bytes, 0);
        waiting -= std::exchange(delivered, 0);
        resume = answered_pause && !paused && !left();
        if (resume) answered_pause = false;
        if (left() || !queue.empty()) schedule();
    }
    if (resume && channel && !ended) call_slot(*this, "resume", [&] { table.resume(channel); });
}

void Link::dispatch(LinkEvent& event) {
    if (faulted) {
        if (event.kind == EventKind::Closed) destroy();
        return;
    }
    if (event.kind == EventKind::Fault) return fault(event.detail->text);
    if (event.kind == EventKind::Spent) return give_up(ErrorCode::Limit, event.detail->text);
    if (closed) return fault(std::string(name_of_kind(event.kind)) + " after closed");
    if (!events) return;
    switch (event.kind) {
        case EventKind::Opened:
            if (std::exchange(opened, true)) return fault("opened twice");
            return events->on_opened();
        case EventKind::Message:
            if (event.exchange != 0 && !exchanges.contains(event.exchange))
                return fault("a message for exchange " + std::to_string(event.exchange) +
                             ", which is not open");
            return events->on_message(event.exchange, std::move(event.body));
        case EventKind::Done:
            if (!exchanges.erase(event.exchange))
                return fault("done for exchange " + std::to_string(event.exchange) +
                             ", which has ended or never was");
            return events->on_done(event.exchange, event.detail ? &event.detail->problem : nullptr);
        case EventKind::Writable:
            return events->on_writable();
        case EventKind::Challenge:
            return events->on_challenge(event.detail->problem);
        case EventKind::Output:
            return events->on_output(event.detail->stream, event.detail->text);
        case EventKind::Fact:
            return events->on_fact(event.detail->name, event.detail->text);
        case EventKind::Closed:
            return finish(event);
        case EventKind::Fault:
        case EventKind::Spent:
            return;
    }
}

void Link::finish(LinkEvent& event) {
    closed = true;
    destroy();
    if (exchanges.size() != 0)
        return fault("closed while " + std::to_string(exchanges.size()) +
                     " exchanges were not done");
    ended = true;
    std::exchange(events, nullptr)->on_closed(event.detail ? &event.detail->problem : nullptr);
}

void Link::fault(const std::string& what) {
    services.misbehaved("server \"" + server + "\": " + what);
    give_up(ErrorCode::Internal,
            "plugin \"" + services.plugin() + "\" broke the plugin contract: " + what);
}

void Link::give_up(ErrorCode code, const std::string& why) {
    faulted = true;
    if (channel && !std::exchange(closing, true))
        call_slot(*this, "close", [&] { table.close(channel); });
    if (std::exchange(ended, true) || !events) return;
    Problem problem;
    problem.error = {code, "server \"" + server + "\": " + why};
    events->on_closed(&problem);
}

void Link::failed_at(EventKind kind, const char* what) {
    const auto why = std::string("internal error at ") + name_of_kind(kind) + ": " + what;
    core::count_escape();
    core::log::error("server \"" + server + "\": " + why);
    give_up(ErrorCode::Internal, why);
}

void Link::destroy() {
    if (!channel) return;
    auto* const gone = std::exchange(channel, nullptr);
    --services.channels;
    call_slot(*this, "destroy", [&] { table.destroy(gone); });
}

void Link::abandon() {
    events = nullptr;
    {
        const std::scoped_lock lock(mutex);
        dropping = true;
    }
    if (!channel) return;
    core::log::warn("server \"" + server + "\": plugin \"" + services.plugin() +
                    "\" has not closed its channel; it is left behind");
    static auto& left_behind = *new std::vector<std::shared_ptr<Link>>;
    left_behind.push_back(shared_from_this());
}

void Link::queue_fault(std::string what) {
    auto event = special_event(EventKind::Fault, std::move(what));
    push(event);
}

void Link::lose_event() {
    auto event = special_event(EventKind::Spent, "the host had no memory for an event");
    push(event);
}

const char* Link::name_of_kind(EventKind kind) {
    static constexpr const char* names[] = {"opened", "message", "done",   "writable", "challenge",
                                            "output", "fact",    "closed", "fault",    "spent"};
    return names[static_cast<int>(kind)];
}

void Link::schedule() {
    if (std::exchange(scheduled, true)) return;
    if (!self) self = shared_from_this();
    auto run = [this] { deliver(); };  // small enough for std::function to hold in place
    // What is left of a round waits for the others' turn as well, which post() gives them.
    if (loop.on_loop_thread() && !left())
        loop.defer(run);
    else
        loop.post(run);
}

}  // namespace patchbay::plugin
