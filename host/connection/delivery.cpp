// How one message leaves, with the headers it needs, and what its exchange may end in: an answer
// (inbound), a broken stream that is worth a second sending, or an error that says what is known.
#include "connection/connection_impl.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::connection {
namespace json = boost::json;

namespace {

std::string tool_name(const protocol::Params& params) {
    const auto name = core::parse_json(protocol::raw_member(params.members, "name"));
    return std::string((name ? core::text_of(*name) : std::nullopt).value_or(""));
}

}  // namespace

bool Connection::Impl::modern(std::string_view method) const {
    // The probe is the one modern message before an era is known.
    return session ? session->era == protocol::Era::Modern : method == "server/discover";
}

void Connection::Impl::transmit(RequestId id, PendingRequest& entry) {
    entry.heard = false;
    entry.generation = generation;
    entry.auth_generation = auth->generation();
    std::vector<plugin::Header> headers;
    if (auto made = headers_for(entry.request, headers); !made) {
        context.loop.defer([this, watch = alive, id, error = named(made.error())] {
            if (*watch && pending.find(id)) finish(id, error);
        });
        return;
    }
    std::string own = meta;
    if (entry.request.on_progress) {
        own = protocol::joined("\"progressToken\":" + std::to_string(entry.wire_id), meta);
    }
    const auto wire_id = static_cast<std::int64_t>(entry.wire_id);
    const auto& method = entry.request.method;
    Outgoing message{plugin::MessageKind::Request, entry.wire_id, {}, method, std::move(headers)};
    if (entry.round.empty()) {
        message.body = protocol::request(wire_id, method, entry.request.params, own);
    } else {
        const protocol::Params params{protocol::joined(entry.request.params.members, entry.round),
                                      entry.request.params.meta};
        message.body = protocol::request(wire_id, method, params, own);
    }
    send_message(std::move(message));
}

Result<void> Connection::Impl::headers_for(const Request& request,
                                           std::vector<plugin::Header>& headers) const {
    if (!channel || !channel->takes_headers() || !modern(request.method)) return {};
    const auto add = [&](std::vector<protocol::MessageHeader> made) {
        for (auto& header : made)
            headers.push_back({std::move(header.name), std::move(header.value), false, false});
    };
    add(protocol::standard_headers(request.method, request.params.members));
    if (request.method != "tools/call" || !tools.mirrors_any()) return {};
    const auto* marks = tools.marks_of(tool_name(request.params));
    if (!marks) return {};
    auto made = protocol::mirrored_arguments(
        *marks, protocol::raw_member(request.params.members, "arguments"),
        context.terms.limits.json_depth);
    if (!made) return made.error();
    add(std::move(*made));
    return {};
}

// A full transport is not given more; what waits here leaves with its request when that ends.
void Connection::Impl::send_message(Outgoing&& message) {
    // What a caller wrote stands in it as it was written; a line of its own would be a message that
    // nobody judged.
    protocol::flatten(message.body);
    if (!paused) return hand_over(std::move(message));
    // Requests and answers are bounded where they come from; this bounds notifications. Who sends
    // one may be in the middle of ending its request: the connection ends after that.
    if (outbox.size() >=
        context.terms.limits.queue_messages + context.terms.limits.server_requests) {
        Error error{ErrorCode::Limit,
                    "does not read what it is sent: " + std::to_string(outbox.size()) +
                        " messages wait (limit queue_messages)"};
        return context.loop.defer([this, watch = alive, error = std::move(error)] {
            if (*watch && channel && !outbox.empty()) lose(error);
        });
    }
    ++last_queued;
    if (auto* entry = pending.find_wire(message.exchange);
        entry && message.kind == plugin::MessageKind::Request) {
        entry->stage = Stage::Queued;
        entry->queued = last_queued;
    }
    outbox.emplace(last_queued, std::move(message));
}

void Connection::Impl::hand_over(Outgoing&& message) {
    const auto kind = message.kind;
    const auto exchange = message.exchange;
    if (kind == plugin::MessageKind::Request) {
        if (auto* entry = pending.find_wire(exchange)) entry->stage = Stage::Sent;
    }
    const auto flow = pass_to_channel(std::move(message));
    if (!flow) return refused(kind, exchange, flow.error());
    paused = *flow == plugin::Flow::Paused;
}

Result<plugin::Flow> Connection::Impl::pass_to_channel(Outgoing&& outgoing) {
    if (!channel) return Error{ErrorCode::Unavailable, "there is no channel"};
    plugin::OutgoingMessage message;
    message.kind = outgoing.kind;
    message.exchange = outgoing.exchange;
    message.body = core::Buffer::from(std::move(outgoing.body));
    message.method = outgoing.method;
    if (session)
        message.protocol = session->version;
    else if (modern(outgoing.method))
        message.protocol = protocol::kModernVersion;
    message.headers = &outgoing.headers;
    return channel->send(std::move(message));
}

// The transport has not taken the message. When that is because the channel is at its end, which it
// will tell in its own time and with the reason, a caller's request waits for the next session and
// one of our own for that end.
void Connection::Impl::refused(plugin::MessageKind kind, RequestId exchange, Error error) {
    if (kind == plugin::MessageKind::Response) return server_requests.done(exchange);
    const auto id = pending.id_of_wire(exchange);
    if (!id) return;
    auto& entry = *pending.find(id);
    entry.stage = Stage::Waiting;
    if (error.code == ErrorCode::Unavailable && !entry.own) return unsent.push_back(id);
    if (error.code == ErrorCode::Unavailable && channel) return;
    error.message +=
        entry.uncertain ? "; the request may have been carried out" : "; the request was not sent";
    context.loop.defer([this, watch = alive, id, error = named(std::move(error))] {
        if (*watch && pending.find(id)) finish(id, error);
    });
}

void Connection::Impl::flush_outbox() {
    while (!outbox.empty() && !paused) {
        auto next = std::move(outbox.begin()->second);
        outbox.erase(outbox.begin());
        hand_over(std::move(next));
    }
}

void Connection::Impl::resend(RequestId id) {
    pending.set_wire_id(id, ++last_id);  // what still comes for the old number is nobody's
    auto& entry = *pending.find(id);
    pending.touch(entry);
    if (entry.own || state == State::Ready) return transmit(id, entry);
    entry.stage = Stage::Waiting;
    unsent.push_back(id);
}

// A tool whose annotations promise that a second run does no harm.
bool Connection::Impl::repeatable(const Request& request) const {
    if (request.method != "tools/call") return false;
    const auto* tool = tools.find(tool_name(request.params));
    return tool && (tool->hint("idempotentHint") || tool->hint("readOnlyHint"));
}

void Connection::Impl::done(plugin::ExchangeId exchange, const plugin::Problem* problem) {
    server_requests.done(exchange);
    // A duplex transport only says that the bytes are out; a request-scoped one has ended the
    // answer's stream, and an answer that is not there by now will never come.
    if (!problem && (!channel || !channel->request_scoped())) return;
    const auto id = pending.id_of_wire(exchange);
    if (!id) return;  // answered, cancelled, or a notification: the next request meets the same
    if (problem && problem->error.code == ErrorCode::SessionLost) return session_lost(id, *problem);
    if (problem && problem->error.code == ErrorCode::AuthRequired)
        return unauthorized(id, *problem);
    auto& entry = *pending.find(id);
    const auto& method = entry.request.method;
    const bool shakes_hands = method == "server/discover" || method == "initialize";
    if (handshake && !session && shakes_hands) return handshake_ended(id, problem);

    // What came for it is stronger than what the transport believes.
    const bool not_sent = problem && problem->not_sent && !entry.heard;
    const bool broken =
        !problem ||
        ((problem->error.code == ErrorCode::Io || problem->error.code == ErrorCode::Unavailable) &&
         problem->http_status < 400);
    const bool again = not_sent || (broken && repeatable(entry.request));
    if (again && session && !entry.resent && method != "subscriptions/listen") {
        entry.resent = true;
        entry.uncertain = entry.uncertain || !not_sent;
        return resend(id);
    }
    Error error =
        problem ? problem->error : Error{ErrorCode::Protocol, "the stream ended without an answer"};
    const bool refused = problem && problem->http_status >= 400 && problem->http_status < 500;
    if (not_sent && !entry.uncertain)
        error.message += "; the request was not sent";
    else if (!refused || entry.uncertain)
        error.message += "; the request may have been carried out";
    finish(id, named(std::move(error)));
}

// Our idea of the tool's schema is out of date: read the list again, then ask once more.
void Connection::Impl::headers_mismatch(RequestId id) {
    auto& entry = *pending.find(id);
    entry.headers_retried = true;
    entry.stage = Stage::Relisting;
    pending.set_wire_id(id, ++last_id);
    tools.read_again([this, watch = alive, id](const Result<void>&) {
        auto* waiting = *watch ? pending.find(id) : nullptr;
        if (waiting && waiting->stage == Stage::Relisting) resend(id);
    });
}

}  // namespace patchbay::connection
