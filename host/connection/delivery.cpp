#include "connection/delivery.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <algorithm>

namespace patchbay::connection {

namespace {

constexpr const char* kCapabilities = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kLogLevel = "io.modelcontextprotocol/logLevel";

}  // namespace

std::string tool_called(const protocol::Params& params) {
    const auto name = core::parse_json(protocol::raw_member(params.members, "name"));
    return std::string((name ? core::text_of(*name) : std::nullopt).value_or(""));
}

Delivery::Delivery(core::Loop& loop, const core::Limits& limits, const Parts& parts)
    : limits_(limits), parts_(parts), outbox_(loop, limits, parts.link, *this) {}

void Delivery::send(RequestId id, PendingRequest& entry) {
    entry.heard = false;
    entry.generation = parts_.link.generation;
    entry.auth_generation = parts_.credentials.generation();
    Outgoing message{plugin::MessageKind::Request, entry.wire_id, {}, entry.request.method};
    if (auto made = headers_for(entry.request, message.headers); !made)
        return parts_.owner.finish_later(id, made.error());
    if (!entry.own()) parts_.link.used_by(entry.caller);
    message.body = words_of(entry);
    outbox_.send(std::move(message));
}

std::string_view Delivery::meta_with(std::string_view own, const std::string& capabilities) {
    if (meta_.both.empty() || meta_.own != own || meta_.capabilities != capabilities)
        meta_ = {std::string(own), capabilities,
                 protocol::with_member(own, kCapabilities, capabilities)};
    return meta_.both;
}

std::string Delivery::words_of(const PendingRequest& entry) {
    const auto& link = parts_.link;
    const auto& asked = entry.request;
    std::string_view own = link.meta_for(entry.caller);
    std::string with_level, with_token;
    if (!asked.capabilities.empty() && link.modern()) own = meta_with(own, asked.capabilities);
    if (!asked.log_level.empty() && link.modern())
        own = with_level = protocol::with_member(own, kLogLevel, protocol::quoted(asked.log_level));
    if (asked.on_progress) {
        with_token = "\"progressToken\":" + std::to_string(entry.wire_id);
        own = with_token = protocol::joined(with_token, own);
    }
    const auto wire_id = static_cast<std::int64_t>(entry.wire_id);
    if (entry.round.empty()) return protocol::request(wire_id, asked.method, asked.params, own);
    const protocol::Params params{protocol::joined(asked.params.members, entry.round),
                                  asked.params.meta};
    return protocol::request(wire_id, asked.method, params, own);
}

// A header of the message stands in place of one of that name that the transport has from us, so that a
// client must not bring one that our credentials are in.
void Delivery::forward(const Request& request, std::vector<plugin::Header>& headers) const {
    const auto ours = parts_.credentials.all();
    for (const auto& [name, value] : *request.client_headers) {
        const auto& names = parts_.server.forward_headers;
        const bool named = std::find(names.begin(), names.end(), name) != names.end();
        const bool taken = std::any_of(ours.begin(), ours.end(), [&, &key = name](const auto& own) {
            return core::lower(own.name) == key;
        });
        if (named && !taken) headers.push_back({name, value});
    }
}

Result<void> Delivery::headers_for(const Request& request,
                                   std::vector<plugin::Header>& headers) const {
    if (!parts_.link.takes_headers()) return {};
    if (request.client_headers) forward(request, headers);
    if (!parts_.link.modern(request.method)) return {};
    const auto add = [&](std::vector<protocol::MessageHeader> made) {
        for (auto& header : made)
            headers.push_back({std::move(header.name), std::move(header.value), false, false});
    };
    add(protocol::standard_headers(request.method, request.params.members));
    if (request.method != "tools/call" || !parts_.tools.mirrors_any()) return {};
    const auto* marks = parts_.tools.marks_of(tool_called(request.params));
    if (!marks) return {};
    auto made = protocol::mirrored_arguments(
        *marks, protocol::raw_member(request.params.members, "arguments"), limits_.json_depth);
    if (!made) return made.error();
    add(std::move(*made));
    return {};
}

void Delivery::notify(std::string_view method, std::string_view members) {
    const auto& link = parts_.link;
    if (!link.channel || !link.session) return;
    Outgoing message{plugin::MessageKind::Notification, next_id(),
                     protocol::notification(method, members, link.meta), std::string(method)};
    if (link.takes_headers() && link.modern())
        message.headers.push_back({"Mcp-Method", std::string(method)});
    outbox_.send(std::move(message));
}

void Delivery::respond(RequestId exchange, std::string body) {
    outbox_.send({plugin::MessageKind::Response, exchange, std::move(body), {}});
}

void Delivery::tell_cancelled(const PendingRequest& entry, std::string_view reason) {
    const auto& link = parts_.link;
    if (entry.stage != Stage::Sent || !link.channel) return;
    if (link.request_scoped() && link.modern()) return link.channel->cancel(entry.wire_id);
    if (entry.request.method == "initialize") return;  // must not be cancelled (lifecycle)
    std::string members = "\"requestId\":" + std::to_string(entry.wire_id);
    if (!reason.empty()) members += ",\"reason\":" + protocol::quoted(reason);
    notify("notifications/cancelled", members);
}

void Delivery::take_back(const PendingRequest& entry) {
    if (entry.stage == Stage::Queued) outbox_.take_back(entry.queued);
}

void Delivery::on_queued(RequestId exchange, std::uint64_t place) {
    auto* entry = parts_.pending.find_wire(exchange);
    if (!entry) return;
    entry->stage = Stage::Queued;
    entry->queued = place;
}

void Delivery::on_leaving(RequestId exchange) {
    if (auto* entry = parts_.pending.find_wire(exchange)) entry->stage = Stage::Sent;
}

// When that is because the channel is at its end, which it will tell in its own time and with the
// reason, a caller's request waits for the next session and one of our own for that end.
void Delivery::on_not_taken(plugin::MessageKind kind, RequestId exchange, Error error) {
    if (kind == plugin::MessageKind::Response) return parts_.owner.on_answer_not_taken(exchange);
    const auto id = parts_.pending.id_of_wire(exchange);
    if (!id) return;
    auto& entry = *parts_.pending.find(id);
    entry.stage = Stage::Waiting;
    if (error.code == ErrorCode::Unavailable && !entry.own())
        return parts_.owner.wait_for_session(id);
    if (error.code == ErrorCode::Unavailable && parts_.link.channel) return;
    error.message += entry.uncertain ? kMayHaveRun : kNotSent;
    parts_.owner.finish_later(id, std::move(error));
}

}  // namespace patchbay::connection
