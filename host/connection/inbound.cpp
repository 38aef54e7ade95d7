// What the server sends: answers, notifications, requests of its own, and things that are none.
#include "connection/connection_impl.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

namespace patchbay::connection {
namespace json = boost::json;

namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInternalError = -32603;

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

void Connection::Impl::message(plugin::ExchangeId exchange, core::Buffer body) {
    const auto text = body.view();
    if (auto* entry = exchange ? pending.find_wire(exchange) : nullptr) entry->heard = true;
    if (!text.empty() && text.front() == '[') return batch(std::move(body));
    const auto envelope = protocol::parse_envelope(text, context.limits.json_depth);
    if (!envelope) return malformed(text, envelope.error(), exchange);
    switch (envelope->kind) {
        case protocol::MessageKind::Result:
        case protocol::MessageKind::Error:
            return answer(*envelope, exchange, std::move(body));
        case protocol::MessageKind::Request:
            return server_request(*envelope);
        case protocol::MessageKind::Notification:
            return notification(*envelope);
    }
}

// JSON-RPC batches exist in 2025-03-26 and older; each element is a message of its own.
void Connection::Impl::batch(core::Buffer body) {
    const Error refused{ErrorCode::Protocol,
                        "a batch of messages, which this revision does not have"};
    if (session && session->version != "2025-03-26" && session->version != "2024-11-05") {
        return malformed(body.view(), refused, 0);
    }
    json::parse_options options;
    options.max_depth = context.limits.json_depth;
    json::error_code failed;
    const auto value = json::parse({body.view().data(), body.view().size()}, failed, {}, options);
    if (failed || !value.is_array()) {
        return malformed(body.view(), {ErrorCode::Protocol, "message is not valid JSON"}, 0);
    }
    for (const auto& item : value.get_array()) {
        if (item.is_object()) message(0, core::Buffer::from(json::serialize(item)));
    }
}

// A line that is no MCP message is either a stray log line, which is kept for `logs` and harms
// nobody, or a broken message, which must not leave its caller waiting for a time-out.
void Connection::Impl::malformed(std::string_view text, const Error& error,
                                 plugin::ExchangeId exchange) {
    const bool meant = text.substr(0, 4096).find("\"jsonrpc\"") != std::string_view::npos;
    if (exchange == 0 && !meant)
        return keep_line(true, text.substr(0, context.limits.stderr_line_bytes));
    ++shown.malformed;
    shown.last_error = "server \"" + spec.id() + "\": " + error.message;
    core::log::debug(shown.last_error);
    const Error told = named({error.code, "sent a malformed message: " + error.message});
    RequestId id = exchange ? pending.id_of_wire(exchange) : 0;
    if (!id) {
        if (const auto guess = guessed_id(text)) id = pending.id_of_wire(*guess);
    }
    if (id) return finish(id, told);
    if (pending.size() == 0) return;
    lose({error.code, "sent a malformed message that names no request: " + error.message});
}

void Connection::Impl::answer(const protocol::Envelope& envelope, plugin::ExchangeId exchange,
                              core::Buffer body) {
    auto wire_id = answered_id(envelope);
    // A refusal before the server had read the id: the transport knows whose it is.
    if (!wire_id && envelope.id.empty() && exchange && pending.id_of_wire(exchange))
        wire_id = static_cast<std::int64_t>(exchange);
    const auto id =
        wire_id && *wire_id > 0 ? pending.id_of_wire(static_cast<RequestId>(*wire_id)) : 0;
    if (!id) {
        // An error without an id says that something of ours was unreadable, not what.
        if (envelope.id.empty())
            return malformed(body.view(),
                             {ErrorCode::Protocol,
                              "an error without an id: " + core::printable(envelope.error, 300)},
                             0);
        if (wire_id && *wire_id > 0 && static_cast<RequestId>(*wire_id) <= last_id) {
            ++shown.late_answers;  // cancelled, timed out, or answered twice
            return;
        }
        ++shown.malformed;
        return lose({ErrorCode::Protocol,
                     "answered id " + core::printable(envelope.id, 32) + ", which nobody asked"});
    }
    if (envelope.kind == protocol::MessageKind::Result) {
        if (envelope.result_type == protocol::ResultType::InputRequired) {
            return input_required(id, envelope.result);
        }
        if (envelope.result_type == protocol::ResultType::Unknown) {
            return finish(id, named({ErrorCode::Protocol, "answered with an unknown resultType"}));
        }
    }
    if (envelope.kind == protocol::MessageKind::Error && modern({}) && channel->takes_headers()) {
        const auto& entry = *pending.find(id);
        const auto error = protocol::parse_rpc_error(envelope.error);
        if (error && error->code == protocol::kHeaderMismatch && !entry.headers_retried &&
            entry.request.method == "tools/call")
            return headers_mismatch(id);
    }
    if (channel && channel->request_scoped())
        channel->settle(static_cast<plugin::ExchangeId>(*wire_id));
    Reply reply;
    reply.result = envelope.result;
    reply.error = envelope.error;
    reply.is_error = envelope.is_error;
    reply.message = std::move(body);
    finish(id, std::move(reply));
}

namespace {

// One input_required result being answered; lives until the last of its answers is in.
struct Round {
    json::object responses;
    std::size_t missing = 0;
    std::optional<Error> failed;
};

}  // namespace

void Connection::Impl::input_required(RequestId id, std::string_view result) {
    auto& entry = *pending.find(id);
    if (++entry.rounds > context.limits.input_rounds) {
        return finish(id,
                      named({ErrorCode::Limit, "asked for input more than " +
                                                   std::to_string(context.limits.input_rounds) +
                                                   " times for one request (limit input_rounds)"}));
    }
    json::error_code ignored;
    const auto value = json::parse({result.data(), result.size()}, ignored);
    const auto& object = value.as_object();
    const auto* state_value = object.if_contains("requestState");
    std::string extra;
    if (state_value) extra = "\"requestState\":" + json::serialize(*state_value);

    auto round = std::make_shared<Round>();
    const auto send_again = [this, watch = alive, id, round, extra] {
        if (!*watch || !pending.find(id)) return;
        if (round->failed) return finish(id, named(*round->failed));
        auto& again = *pending.find(id);
        // The original params stay as they were; only this round's answers are added.
        again.round = extra;
        if (!round->responses.empty()) {
            again.round =
                protocol::joined("\"inputResponses\":" + json::serialize(round->responses), extra);
        }
        resend(id);
    };
    const auto* asked = object.if_contains("inputRequests");
    if (!asked || !asked->is_object() || asked->get_object().empty()) {
        if (!state_value) {
            return finish(id, named({ErrorCode::Protocol, "asked for input without saying what"}));
        }
        return send_again();
    }
    round->missing = asked->get_object().size();
    for (const auto& member : asked->get_object()) {
        const std::string key(member.key());
        const auto answer = [round, key, send_again](Result<json::object> given) {
            if (given)
                round->responses[key] = std::move(*given);
            else if (!round->failed)
                round->failed = given.error();
            if (--round->missing == 0) send_again();
        };
        const auto* request = member.value().if_object();
        const auto* method = request ? request->if_contains("method") : nullptr;
        const auto* params = request ? request->if_contains("params") : nullptr;
        if (!method || !method->is_string()) {
            answer(Error{ErrorCode::Protocol, "an input request has no method"});
            continue;
        }
        context.responder.respond(
            spec.id(), std::string(method->get_string()),
            params && params->is_object() ? params->get_object() : json::object(), answer);
    }
}

void Connection::Impl::server_request(const protocol::Envelope& envelope) {
    if (session && session->era == protocol::Era::Modern) {
        ++shown.malformed;  // this revision has no requests from servers, and no answers to them
        return;
    }
    const std::string id(envelope.id);
    const auto reply = [this, watch = alive, id](std::string body) {
        if (*watch && channel) {
            protocol::flatten(body);
            send_message(plugin::MessageKind::Response, ++last_id, std::move(body), {});
        }
    };
    if (envelope.method == "ping") return reply(protocol::response(id, "{}"));
    const bool known = envelope.method == "roots/list" ||
                       envelope.method == "sampling/createMessage" ||
                       envelope.method == "elicitation/create";
    if (!known) return reply(protocol::error_response(id, kMethodNotFound, "Method not found"));
    json::error_code ignored;
    const auto params = json::parse(
        envelope.params.empty() ? "{}"
                                : json::string_view(envelope.params.data(), envelope.params.size()),
        ignored);
    context.responder.respond(
        spec.id(), envelope.method, params.is_object() ? params.get_object() : json::object(),
        [reply, id](Result<json::object> given) {
            if (given) return reply(protocol::response(id, json::serialize(*given)));
            const auto code =
                given.error().code == ErrorCode::Unsupported ? kMethodNotFound : kInternalError;
            reply(protocol::error_response(id, code, given.error().message));
        });
}

void Connection::Impl::notification(const protocol::Envelope& envelope) {
    const auto& method = envelope.method;
    if (method == "notifications/progress") progress(envelope.params);
    if (method == "notifications/progress" || method == "notifications/cancelled") return;
    if (method == "notifications/tools/list_changed") tools_changed();
    context.events.on_notification(spec.id(), method, envelope.params);
}

void Connection::Impl::progress(std::string_view params) {
    json::error_code failed;
    const auto value = json::parse({params.data(), params.size()}, failed);
    const auto* object = failed ? nullptr : value.if_object();
    const auto* token = object ? object->if_contains("progressToken") : nullptr;
    if (!token || !token->is_int64() || token->get_int64() <= 0) return;
    auto* entry = pending.find_wire(static_cast<RequestId>(token->get_int64()));
    if (!entry) return;
    pending.touch(*entry);
    if (!entry->request.on_progress) return;
    const auto number = [&](const char* key) -> std::optional<double> {
        const auto* found = object->if_contains(key);
        if (!found || !found->is_number()) return std::nullopt;
        return found->to_number<double>();
    };
    Progress told;
    told.progress = number("progress").value_or(0);
    told.total = number("total");
    if (const auto* text = object->if_contains("message"); text && text->is_string()) {
        told.message = core::printable({text->get_string().data(), text->get_string().size()}, 500);
    }
    const auto handler = entry->request.on_progress;  // it may end the request
    handler(told);
}

}  // namespace patchbay::connection
