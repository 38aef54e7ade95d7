#include "plugin/links/channel_link.hpp"

#include <algorithm>

namespace patchbay::plugin {
namespace {

// Queued, then the channel ends. What a peer sends in one piece is handed over in one piece, so
// this says nothing of the plugin; its other channels go on.
constexpr std::size_t kMostQueuedBytes = 64u << 20;
constexpr std::size_t kMostQueuedEvents = 100'000;
constexpr std::size_t kEventsPerRound = 64;

}  // namespace

ChannelLink::ChannelLink(core::Loop& its_loop, Instance& its_instance,
                         const patchbay_transport& its_table, const ChannelOptions& options,
                         ChannelEvents& events)
    : LinkTo(its_table, its_loop, its_instance, "channel", options.server,
             "server \"" + options.server + "\"",
             EventQueue::Limits{std::max(kMostQueuedBytes, 2 * options.message_bytes),
                                kMostQueuedEvents, kEventsPerRound},
             options.signer),
      events_(events) {
    mask(options.credentials);
}

void ChannelLink::mask(const std::vector<Header>& credentials) {
    for (const auto& header : credentials)
        if (header.secret) secrets.add_header(header.value);
}

void ChannelLink::dispatch(LinkEvent& event) {
    switch (event.kind) {
        case EventKind::Opened:
            if (std::exchange(opened_, true)) return fault("opened twice");
            return events_.on_opened();
        case EventKind::Message:
            if (event.id != 0 && !exchanges.contains(event.id))
                return fault("a message for exchange " + std::to_string(event.id) +
                             ", which is not open");
            return events_.on_message(event.id, std::move(event.body));
        case EventKind::Done:
            if (!exchanges.erase(event.id))
                return fault("done for exchange " + std::to_string(event.id) +
                             ", which has ended or never was");
            return events_.on_done(event.id, event.detail ? &event.detail->problem : nullptr);
        case EventKind::Writable:
            return events_.on_writable();
        case EventKind::Challenge:
            return events_.on_challenge(event.detail->problem);
        case EventKind::Output:
            return events_.on_output(event.detail->stream, event.detail->text);
        case EventKind::Fact:
            return events_.on_fact(event.detail->name, event.detail->text);
        case EventKind::Acquired:
        case EventKind::Closed:
        case EventKind::Fault:
        case EventKind::Spent:
            return;
    }
}

std::string ChannelLink::unfinished() const {
    const auto count = exchanges.size();
    return count ? std::to_string(count) + " exchanges were not done" : "";
}

void ChannelLink::on_closed(const Problem* problem) {
    events_.on_closed(problem);
}

void ChannelLink::on_given_up(Error why) {
    Problem problem;
    problem.error = within("server \"" + server + "\"", why);
    events_.on_closed(&problem);
}

void ChannelLink::resume_made() {
    call("resume", [this] { table.resume(made); });
}

}  // namespace patchbay::plugin
