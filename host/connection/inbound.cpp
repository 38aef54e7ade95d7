#include "connection/inbound.hpp"

#include "core/json_beside.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/task_extension.hpp"

#include <boost/json.hpp>

namespace patchbay::connection {
namespace json = boost::json;

namespace {

constexpr std::size_t kProgressBytes = 500;  // of a message: it is read while it changes

// A number, or the same number in quotes: some servers echo ids as strings.
std::optional<std::int64_t> answered_id(const protocol::Envelope& envelope) {
    if (envelope.number_id) return envelope.number_id;
    auto text = envelope.id;
    if (text.size() < 3 || text.size() > 20 || text.front() != '"') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::int64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

// The first `"id":N` of a message that does not parse; only to end the right request early.
std::optional<RequestId> guessed_id(std::string_view text) {
    const auto at = text.substr(0, 4096).find("\"id\":");
    if (at == std::string_view::npos) return std::nullopt;
    RequestId id = 0;
    std::size_t i = at + 5, digits = 0;
    while (i < text.size() && text[i] == ' ') ++i;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && digits < 18; ++i, ++digits) {
        id = id * 10 + static_cast<RequestId>(text[i] - '0');
    }
    if (digits == 0) return std::nullopt;
    return id;
}

}  // namespace

Inbound::Inbound(const Context& context, const Parts& parts)
    : context_(context),
      parts_(parts),
      pending_(parts.requests.pending()),
      rounds_(context, parts.name, parts.requests) {}

void Inbound::message(plugin::ExchangeId exchange, core::Buffer body) {
    const auto text = body.view();
    if (auto* entry = exchange ? pending_.find_wire(exchange) : nullptr) entry->heard = true;
    if (!text.empty() && text.front() == '[') return batch(text);
    const auto envelope = protocol::parse_envelope(text, context_.terms.limits.json_depth);
    if (!envelope) return broken(text, envelope.error(), exchange);
    switch (envelope->kind) {
        case protocol::MessageKind::Result:
        case protocol::MessageKind::Error:
            return answer(*envelope, exchange, std::move(body));
        case protocol::MessageKind::Request:
            return request(*envelope, exchange);
        case protocol::MessageKind::Notification:
            return notification(*envelope, exchange);
    }
}

// JSON-RPC batches exist in 2025-03-26 and older; each element is a message of its own, which the
// channel brings when its turn comes. One that is none spoils the whole: of a million of them each
// would cost a line of the log.
void Inbound::batch(std::string_view text) {
    const auto& session = parts_.link.session;
    if (session && session->version != "2025-03-26" && session->version != "2024-11-05")
        return broken(
            text, {ErrorCode::Protocol, "a batch of messages, which this revision does not have"},
            0);
    const auto& limits = context_.terms.limits;
    const auto items = protocol::split_batch(text, limits.batch_items, limits.json_depth);
    if (!items) return broken(text, items.error(), 0);
    std::vector<core::Buffer> messages;
    messages.reserve(items->size());
    for (const auto item : *items) messages.push_back(core::Buffer::from(std::string(item)));
    parts_.link.channel->unfold(std::move(messages));
}

// A line that is no MCP message is either a stray log line, which is kept for `logs` and harms
// nobody, or a broken message, which must not leave its caller waiting for a time-out.
void Inbound::broken(std::string_view text, const Error& error, plugin::ExchangeId exchange) {
    const bool meant = text.substr(0, 4096).find("\"jsonrpc\"") != std::string_view::npos;
    if (exchange == 0 && !meant)
        return parts_.owner.on_stray(core::clipped(text, context_.terms.limits.stderr_line_bytes));
    ++malformed_;
    parts_.owner.on_malformed(error);
    RequestId id = exchange ? pending_.id_of_wire(exchange) : 0;
    if (!id) {
        if (const auto guess = guessed_id(text)) id = pending_.id_of_wire(*guess);
    }
    if (id)
        return parts_.requests.fail_unanswered(
            id, {error.code, "sent a malformed message: " + error.message});
    if (pending_.size() == 0) return;
    parts_.loss.lose(
        {error.code, "sent a malformed message that names no request: " + error.message});
}

void Inbound::answer(const protocol::Envelope& envelope, plugin::ExchangeId exchange,
                     core::Buffer body) {
    auto wire_id = answered_id(envelope);
    // A refusal before the server had read the id: the transport knows whose it is.
    if (!wire_id && envelope.id.empty() && exchange && pending_.id_of_wire(exchange))
        wire_id = static_cast<std::int64_t>(exchange);
    const auto id = wire_id ? pending_.id_of_wire(static_cast<RequestId>(*wire_id)) : 0;
    if (!id) return unasked(envelope, wire_id, body.view());
    // It was read: what still comes of its stream is of no use, and neither is taking it up again.
    if (parts_.link.request_scoped())
        parts_.link.channel->settle(static_cast<plugin::ExchangeId>(*wire_id));
    if (envelope.kind == protocol::MessageKind::Error) return error(id, envelope, std::move(body));
    // What we asked ourselves is looked at by whoever asked for it.
    const auto& entry = *pending_.find(id);
    if (!entry.own() && !envelope.result.starts_with('{'))
        return parts_.requests.fail_unanswered(
            id, {ErrorCode::Protocol,
                 "answered " + entry.request.method +
                     " with a result that is no object: " + core::printable(envelope.result, 100)});
    if (envelope.result_type == protocol::ResultType::InputRequired)
        return rounds_.begin(id, envelope.result);
    if (envelope.result_type == protocol::ResultType::Task &&
        (entry.request.method != "tools/call" ||
         !protocol::names_tasks(entry.request.capabilities)))
        return parts_.requests.fail_unanswered(
            id, {ErrorCode::Protocol, "answered " + entry.request.method +
                                          " with a task, though nothing said that one is taken"});
    if (envelope.result_type == protocol::ResultType::Unknown)
        return parts_.requests.fail_unanswered(
            id, {ErrorCode::Protocol, "answered with an unknown resultType"});
    finish(id, envelope, std::move(body));
}

// To nothing that waits for an answer.
void Inbound::unasked(const protocol::Envelope& envelope, std::optional<std::int64_t> wire_id,
                      std::string_view text) {
    // An error without an id says that something of ours was unreadable, not what.
    if (envelope.id.empty())
        return broken(text,
                      {ErrorCode::Protocol,
                       "an error without an id: " + core::printable(envelope.error, 300)},
                      0);
    const bool ours = wire_id && *wire_id > 0 &&
                      static_cast<RequestId>(*wire_id) <= parts_.requests.delivery().last_id();
    if (ours) {
        ++late_answers_;  // cancelled, timed out, or answered twice
        parts_.addressees.answered(static_cast<RequestId>(*wire_id));
        return;
    }
    ++malformed_;
    parts_.loss.lose({ErrorCode::Protocol,
                      "answered id " + core::printable(envelope.id, 32) + ", which nobody asked"});
}

void Inbound::error(RequestId id, const protocol::Envelope& envelope, core::Buffer&& body) {
    const auto& entry = *pending_.find(id);
    const auto& method = entry.request.method;
    const auto told = protocol::parse_rpc_error(envelope.error);
    if (!told)
        return parts_.requests.fail_unanswered(
            id, {ErrorCode::Protocol, "answered " + method + " with an error that is " +
                                          told.error().message + ": " +
                                          core::printable(envelope.error, 300)});
    const bool mismatch = told->code == protocol::kHeaderMismatch && parts_.link.modern() &&
                          parts_.link.takes_headers();
    if (mismatch && !entry.headers_retried && method == "tools/call")
        return parts_.refusals.headers_mismatch(id);
    finish(id, envelope, std::move(body));
}

void Inbound::finish(RequestId id, const protocol::Envelope& envelope, core::Buffer&& body) {
    Reply reply;
    reply.result = envelope.result;
    reply.error = envelope.error;
    reply.is_error = envelope.is_error;
    reply.is_task = envelope.result_type == protocol::ResultType::Task;
    reply.message = std::move(body);
    parts_.requests.finish(id, std::move(reply));
}

// The modern era has no requests from servers, and no answers to them.
void Inbound::request(const protocol::Envelope& envelope, plugin::ExchangeId stream) {
    if (parts_.link.modern_for_good())
        ++malformed_;
    else
        parts_.questions.ask(envelope, stream);
}

void Inbound::notification(const protocol::Envelope& envelope, plugin::ExchangeId exchange) {
    const auto& method = envelope.method;
    if (method == "notifications/progress") return progress(envelope.params);
    if (method == "notifications/cancelled") return cancelled(envelope.params);
    if (method == "notifications/tools/list_changed") parts_.tools.changed();
    if (context_.catalogue)
        for (const auto list : catalogue::kLists)
            if (method ==
                std::string("notifications/") + catalogue::capability_of(list) + "/list_changed")
                context_.catalogue->outdate(parts_.name.id(), list);
    parts_.notifications.pass_on(method, envelope.params, exchange);
}

// A question of its own; or of a modern server that it says nothing more on a stream of changes, which over
// stdio need not be answered before (2026-07-28 basic/patterns/cancellation).
void Inbound::cancelled(std::string_view params) {
    const auto object =
        core::parse_json_object(params, {.depth = context_.terms.limits.json_depth});
    const auto* id = object ? object->if_contains("requestId") : nullptr;
    if (!id) return;
    const auto number = core::integer_in(&*object, "requestId").value_or(0);
    const auto request = parts_.link.modern() && number > 0
                             ? pending_.id_of_wire(static_cast<RequestId>(number))
                             : RequestId(0);
    if (request == 0) return parts_.questions.withdraw(json::serialize(*id));
    if (pending_.find(request)->request.method == "subscriptions/listen")
        parts_.requests.fail_unanswered(
            request, {ErrorCode::Unavailable, "has ended the stream of its changes"});
}

void Inbound::progress(std::string_view params) {
    const auto object = core::read_json_object(params, {.depth = context_.terms.limits.json_depth});
    const auto token = core::integer_in(object ? &*object : nullptr, "progressToken");
    if (!token) return;
    auto* entry = pending_.find_wire(static_cast<RequestId>(*token));
    if (!entry || entry->stage != Stage::Sent) return;
    entry->heard = true;
    pending_.touch(*entry);
    if (!entry->request.on_progress) return;
    Progress told;
    told.params = params;
    told.progress = core::number_in(&*object, "progress").value_or(0);
    told.total = core::number_in(&*object, "total");
    if (const auto text = core::text_in(&*object, "message"))
        told.message =
            core::printable(*text, kProgressBytes) + (text->size() > kProgressBytes ? "..." : "");
    const auto handler = entry->request.on_progress;  // it may end the request
    handler(told);
}

}  // namespace patchbay::connection
