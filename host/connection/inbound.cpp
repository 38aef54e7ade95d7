// What the server sends: answers, notifications, requests of its own, and things that are none.
#include "connection/connection_impl.hpp"
#include "core/json.hpp"
#include "core/log.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

#include <boost/json.hpp>

namespace patchbay::connection {
namespace json = boost::json;

namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInvalidParams = -32602;
constexpr std::int64_t kInternalError = -32603;
constexpr std::size_t kServerRequestBytes = 128;  // of one in memory, besides what it says

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
    if (!text.empty() && text.front() == '[') return batch(text);
    const auto envelope = protocol::parse_envelope(text, context.terms.limits.json_depth);
    if (!envelope) return malformed(text, envelope.error(), exchange);
    switch (envelope->kind) {
        case protocol::MessageKind::Result:
        case protocol::MessageKind::Error:
            return answer(*envelope, exchange, std::move(body));
        case protocol::MessageKind::Request:
            return server_request(*envelope, exchange);
        case protocol::MessageKind::Notification:
            return notification(*envelope);
    }
}

// JSON-RPC batches exist in 2025-03-26 and older; each element is a message of its own, which the
// channel brings when its turn comes. One that is none spoils the whole: of a million of them each
// would cost a line of the log.
void Connection::Impl::batch(std::string_view text) {
    if (session && session->version != "2025-03-26" && session->version != "2024-11-05") {
        return malformed(
            text, {ErrorCode::Protocol, "a batch of messages, which this revision does not have"},
            0);
    }
    const auto items = protocol::split_batch(text, context.terms.limits.batch_items,
                                             context.terms.limits.json_depth);
    if (!items) return malformed(text, items.error(), 0);
    std::vector<core::Buffer> messages;
    messages.reserve(items->size());
    for (const auto item : *items) messages.push_back(core::Buffer::from(std::string(item)));
    channel->unfold(std::move(messages));
}

// A line that is no MCP message is either a stray log line, which is kept for `logs` and harms
// nobody, or a broken message, which must not leave its caller waiting for a time-out.
void Connection::Impl::malformed(std::string_view text, const Error& error,
                                 plugin::ExchangeId exchange) {
    const bool meant = text.substr(0, 4096).find("\"jsonrpc\"") != std::string_view::npos;
    if (exchange == 0 && !meant)
        return keep_line(true, core::clipped(text, context.terms.limits.stderr_line_bytes));
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
    // It was read: what still comes of its stream is of no use, and neither is taking it up again.
    if (channel && channel->request_scoped())
        channel->settle(static_cast<plugin::ExchangeId>(*wire_id));
    if (envelope.kind == protocol::MessageKind::Result) {
        if (envelope.result_type == protocol::ResultType::InputRequired) {
            return input_required(id, envelope.result);
        }
        if (envelope.result_type == protocol::ResultType::Unknown) {
            return finish(id, named({ErrorCode::Protocol, "answered with an unknown resultType"}));
        }
    }
    if (envelope.kind == protocol::MessageKind::Error) {
        const auto& entry = *pending.find(id);
        const auto error = protocol::parse_rpc_error(envelope.error);
        if (!error)
            return finish(id, named({ErrorCode::Protocol,
                                     "answered " + entry.request.method +
                                         " with an error that is " + error.error().message + ": " +
                                         core::printable(envelope.error, 300)}));
        if (modern({}) && channel->takes_headers() && error->code == protocol::kHeaderMismatch &&
            !entry.headers_retried && entry.request.method == "tools/call")
            return headers_mismatch(id);
    }
    Reply reply;
    reply.result = envelope.result;
    reply.error = envelope.error;
    reply.is_error = envelope.is_error;
    reply.message = std::move(body);
    finish(id, std::move(reply));
}

namespace {

bool may_want_input(std::string_view method) {
    return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

// One input_required result being answered; lives until the last of its answers is in.
struct Round {
    json::object responses;
    std::size_t missing = 0;
    std::optional<Error> failed;
};

}  // namespace

// The result has ended that sending, and behind HTTP its stream with it: the request goes out
// again, under a new id, when the input is there.
void Connection::Impl::input_required(RequestId id, std::string_view result) {
    auto& entry = *pending.find(id);
    if (entry.own || !may_want_input(entry.request.method)) {
        return finish(id, named({ErrorCode::Protocol,
                                 entry.request.method +
                                     " was answered with input_required, which only prompts/get, "
                                     "resources/read and tools/call may be"}));
    }
    if (++entry.rounds > context.terms.limits.input_rounds) {
        return finish(
            id, named({ErrorCode::Limit, "asked for input more than " +
                                             std::to_string(context.terms.limits.input_rounds) +
                                             " times for one request (limit input_rounds)"}));
    }
    const auto object = core::parse_json_object(result, {.depth = context.terms.limits.json_depth});
    if (!object)
        return finish(id, named({object.error().code,
                                 "asked for input in a result that " + object.error().message}));
    const auto* state_value = object->if_contains("requestState");
    std::string extra;
    if (state_value) extra = "\"requestState\":" + json::serialize(*state_value);

    pending.set_wire_id(id, ++last_id);
    entry.stage = Stage::Asking;
    entry.uncertain = false;  // it was answered
    pending.hold(entry, core::kInputWait);
    auto round = std::make_shared<Round>();
    const auto send_again = [this, watch = alive, id, rounds = entry.rounds, round, extra] {
        auto* waiting = *watch ? pending.find(id) : nullptr;
        if (!waiting || waiting->stage != Stage::Asking || waiting->rounds != rounds) return;
        if (round->failed) return finish(id, named(*round->failed));
        auto& again = *waiting;
        again.questions.clear();
        pending.release(again);
        // The original params stay as they were; only this round's answers are added.
        again.round = extra;
        if (!round->responses.empty()) {
            again.round =
                protocol::joined("\"inputResponses\":" + json::serialize(round->responses), extra);
        }
        resend(id);
    };
    const auto* asked = core::object_in(&*object, "inputRequests");
    if (!asked || asked->empty()) {
        if (!state_value) {
            return finish(id, named({ErrorCode::Protocol, "asked for input without saying what"}));
        }
        return send_again();
    }
    if (asked->size() > context.terms.limits.input_requests) {
        return finish(
            id, named({ErrorCode::Limit, "asked " + std::to_string(asked->size()) +
                                             " questions at once, more than " +
                                             std::to_string(context.terms.limits.input_requests) +
                                             " (limit input_requests)"}));
    }
    round->missing = asked->size();
    const auto watch = alive;
    const auto rounds = entry.rounds;
    for (const auto& member : *asked) {
        const std::string key(member.key());
        const auto answer = [round, key, send_again](Result<json::object> given) {
            if (given)
                round->responses[key] = std::move(*given);
            else if (!round->failed)
                round->failed = given.error();
            if (--round->missing == 0) send_again();
        };
        const auto* request = member.value().if_object();
        const auto method = core::text_in(request, "method");
        const auto* params = core::object_in(request, "params");
        if (!method) {
            answer(Error{ErrorCode::Protocol, "an input request has no method"});
            continue;
        }
        auto question = context.responder.respond(spec.id(), std::string(*method),
                                                  params ? *params : json::object(), answer);
        auto* waiting = *watch ? pending.find(id) : nullptr;
        const bool asking = waiting && waiting->stage == Stage::Asking && waiting->rounds == rounds;
        if (question && asking) waiting->questions.push_back(std::move(question));
    }
}

void Connection::Impl::server_request(const protocol::Envelope& envelope,
                                      plugin::ExchangeId stream) {
    // This revision has no requests from servers, and no answers to them; but a server of both eras
    // that was asked to initialize as well may have settled on the other one.
    const bool settled_modern = session && session->era == protocol::Era::Modern;
    if (settled_modern && !(handshake && handshake->ambiguous())) {
        ++shown.malformed;
        return;
    }
    const std::string id(envelope.id);
    const auto exchange = ++last_id;
    const auto bytes = id.size() + envelope.method.size() + envelope.params.size();
    const auto call = stream ? pending.id_of_wire(stream) : 0;
    if (const auto fits = server_requests.add(exchange, bytes + kServerRequestBytes, id, call);
        !fits)
        return lose(fits.error());
    if (envelope.method == "ping") return answer_server(exchange, protocol::response(id, "{}"));
    const bool known = envelope.method == "roots/list" ||
                       envelope.method == "sampling/createMessage" ||
                       envelope.method == "elicitation/create";
    if (!known)
        return answer_server(exchange,
                             protocol::error_response(id, kMethodNotFound, "Method not found"));
    auto params =
        core::parse_json_object(envelope.params, {.depth = context.terms.limits.json_depth});
    if (!params && params.error().code == ErrorCode::Limit)
        return answer_server(
            exchange,
            protocol::error_response(id, kInvalidParams, "the request " + params.error().message));
    const auto watch = alive;
    auto question = context.responder.respond(
        spec.id(), envelope.method, params ? *params : json::object(),
        [this, watch, id, exchange](Result<json::object> given) {
            if (!*watch) return;
            if (given)
                return answer_server(exchange, protocol::response(id, json::serialize(*given)));
            const auto code =
                given.error().code == ErrorCode::Unsupported ? kMethodNotFound : kInternalError;
            answer_server(exchange, protocol::error_response(id, code, given.error().message));
        });
    if (*watch) server_requests.keep(exchange, std::move(question));
}

// Of a call that ended without its answer: nobody is to type one that nothing waits for. Over one
// stream for all a server does not say for which call it asks; with the last of them all are.
void Connection::Impl::withdraw_questions(RequestId call) {
    if (!channel || lost_because || server_requests.asking(0).empty()) return;
    bool others = false;
    for (const auto id : pending.ids()) others = others || !pending.find(id)->own;
    for (const auto& [exchange, id] : server_requests.asking(others ? call : 0))
        answer_server(exchange, protocol::response(id, R"({"action":"cancel"})"));
}

void Connection::Impl::answer_server(RequestId exchange, std::string body) {
    const auto wanted = server_requests.answer(exchange, body.size() + kServerRequestBytes);
    if (!wanted) return lose(wanted.error());
    if (!*wanted || lost_because) return;  // who asked is gone: its successor has not asked
    send_message({plugin::MessageKind::Response, exchange, std::move(body), {}, {}});
}

void Connection::Impl::notification(const protocol::Envelope& envelope) {
    const auto& method = envelope.method;
    if (method == "notifications/progress") progress(envelope.params);
    if (method == "notifications/progress") return;
    if (method == "notifications/cancelled") {
        const auto object =
            core::parse_json_object(envelope.params, {.depth = context.terms.limits.json_depth});
        const auto* id = object ? object->if_contains("requestId") : nullptr;
        if (id) server_requests.withdraw(json::serialize(*id));
        return;
    }
    if (method == "notifications/tools/list_changed") tools.changed();
    context.events.on_notification(spec.id(), method, envelope.params);
}

void Connection::Impl::progress(std::string_view params) {
    const auto object = core::parse_json_object(params, {.depth = context.terms.limits.json_depth});
    const auto token = core::integer_in(object ? &*object : nullptr, "progressToken");
    if (!token || *token <= 0) return;
    auto* entry = pending.find_wire(static_cast<RequestId>(*token));
    if (!entry || entry->stage != Stage::Sent) return;
    entry->heard = true;
    pending.touch(*entry);
    if (!entry->request.on_progress) return;
    Progress told;
    told.progress = core::number_in(&*object, "progress").value_or(0);
    told.total = core::number_in(&*object, "total");
    if (const auto text = core::text_in(&*object, "message"))
        told.message = core::printable(*text, 500);
    const auto handler = entry->request.on_progress;  // it may end the request
    handler(told);
}

}  // namespace patchbay::connection
