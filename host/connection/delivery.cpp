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
    entry.sent = true;
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
    if (entry.round.empty()) {
        send_message(plugin::MessageKind::Request, entry.wire_id,
                     protocol::request(wire_id, method, entry.request.params, own), method,
                     std::move(headers));
        return;
    }
    const protocol::Params params{protocol::joined(entry.request.params.members, entry.round),
                                  entry.request.params.meta};
    send_message(plugin::MessageKind::Request, entry.wire_id,
                 protocol::request(wire_id, method, params, own), method, std::move(headers));
}

Result<void> Connection::Impl::headers_for(const Request& request,
                                           std::vector<plugin::Header>& headers) const {
    if (!channel || !channel->takes_headers() || !modern(request.method)) return {};
    const auto add = [&](std::vector<protocol::MessageHeader> made) {
        for (auto& header : made)
            headers.push_back({std::move(header.name), std::move(header.value), false, false});
    };
    add(protocol::standard_headers(request.method, request.params.members));
    if (request.method != "tools/call" || mirrored.empty()) return {};
    const auto marks = mirrored.find(tool_name(request.params));
    if (marks == mirrored.end()) return {};
    auto made = protocol::mirrored_arguments(
        marks->second, protocol::raw_member(request.params.members, "arguments"),
        context.limits.json_depth);
    if (!made) return made.error();
    add(std::move(*made));
    return {};
}

void Connection::Impl::send_message(plugin::MessageKind kind, RequestId exchange, std::string body,
                                    std::string_view method, std::vector<plugin::Header> headers) {
    if (paused) {
        outbox.push_back(
            {kind, exchange, std::move(body), std::string(method), std::move(headers)});
        return;
    }
    if (!channel) return;
    const auto flow = hand_over(kind, exchange, std::move(body), method, headers);
    if (flow) {
        paused = *flow == plugin::Flow::Paused;
        return;
    }
    if (const auto id = pending.id_of_wire(exchange)) {
        context.loop.defer([this, watch = alive, id, error = named(flow.error())] {
            if (*watch && pending.find(id)) finish(id, error);
        });
    }
}

Result<plugin::Flow> Connection::Impl::hand_over(plugin::MessageKind kind, RequestId exchange,
                                                 std::string body, std::string_view method,
                                                 const std::vector<plugin::Header>& headers) {
    plugin::OutgoingMessage message;
    message.kind = kind;
    message.exchange = exchange;
    message.body = core::Buffer::from(std::move(body));
    message.method = method;
    if (session)
        message.protocol = session->version;
    else if (modern(method))
        message.protocol = protocol::kModernVersion;
    message.headers = &headers;
    return channel->send(std::move(message));
}

void Connection::Impl::flush_outbox() {
    while (!outbox.empty() && !paused && channel) {
        auto next = std::move(outbox.front());
        outbox.pop_front();
        // A request that was cancelled or timed out while it waited is not worth sending.
        if (next.kind == plugin::MessageKind::Request && !pending.id_of_wire(next.exchange))
            continue;
        const auto flow =
            hand_over(next.kind, next.exchange, std::move(next.body), next.method, next.headers);
        if (flow)
            paused = *flow == plugin::Flow::Paused;
        else if (const auto id = pending.id_of_wire(next.exchange))
            finish(id, named(flow.error()));
    }
}

void Connection::Impl::resend(RequestId id) {
    pending.set_wire_id(id, ++last_id);  // what still comes for the old number is nobody's
    auto& entry = *pending.find(id);
    pending.touch(entry);
    if (entry.own || state == State::Ready) return transmit(id, entry);
    entry.sent = false;
    unsent.push_back(id);
}

// A tool whose annotations promise that a second run does no harm.
bool Connection::Impl::repeatable(const Request& request) const {
    if (request.method != "tools/call") return false;
    const auto name = tool_name(request.params);
    const auto found =
        std::lower_bound(tools.begin(), tools.end(), name,
                         [](const auto& tool, const auto& wanted) { return tool.name < wanted; });
    return found != tools.end() && found->name == name &&
           (found->hint("idempotentHint") || found->hint("readOnlyHint"));
}

void Connection::Impl::done(plugin::ExchangeId exchange, const plugin::Problem* problem) {
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

    const bool not_sent = problem && problem->not_sent;
    const bool broken =
        !problem ||
        ((problem->error.code == ErrorCode::Io || problem->error.code == ErrorCode::Unavailable) &&
         problem->http_status < 400);
    const bool again = not_sent || (broken && repeatable(entry.request));
    if (again && session && !entry.resent && method != "subscriptions/listen") {
        entry.resent = true;
        return resend(id);
    }
    Error error =
        problem ? problem->error : Error{ErrorCode::Protocol, "the stream ended without an answer"};
    const bool refused = problem && problem->http_status >= 400 && problem->http_status < 500;
    if (not_sent)
        error.message += "; the request was not sent";
    else if (!refused)
        error.message += "; the request may have been carried out";
    finish(id, named(std::move(error)));
}

// Our idea of the tool's schema is out of date: read the list again, then ask once more.
void Connection::Impl::headers_mismatch(RequestId id) {
    auto& entry = *pending.find(id);
    entry.headers_retried = true;
    pending.set_wire_id(id, ++last_id);
    list_waiters.push_back([this, watch = alive, id](const Result<void>&) {
        if (*watch && pending.find(id)) resend(id);
    });
    if (list_running)
        list_again = true;
    else
        list_tools({});
}

}  // namespace patchbay::connection
