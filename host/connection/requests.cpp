#include "connection/requests.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

namespace patchbay::connection {

namespace {

constexpr const char* kCapabilities = "io.modelcontextprotocol/clientCapabilities";

core::Clock::time_point after(core::Clock::time_point begun, std::chrono::milliseconds span) {
    return span > std::chrono::hours(24 * 365) ? core::Clock::time_point::max() : begun + span;
}

std::string tool_name(const protocol::Params& params) {
    const auto name = core::parse_json(protocol::raw_member(params.members, "name"));
    return std::string((name ? core::text_of(*name) : std::nullopt).value_or(""));
}

// A token is ours, one for each exchange: one that a caller wrote may be that of another's.
void drop_progress_token(std::string& meta) {
    if (meta.empty()) return;
    const std::string written = "{" + meta + "}";
    std::string kept;
    for (const auto& [key, value] : protocol::members_in(written))
        if (key != "progressToken") protocol::append_member(kept, key, value);
    meta = std::move(kept);
}

}  // namespace

Requests::Requests(core::Loop& loop, const Terms& terms, const Parts& parts)
    : loop_(loop),
      terms_(terms),
      parts_(parts),
      link_(parts.link),
      pending_(loop, [this](RequestId id) { expired(id); }),
      outbox_(loop, terms.limits, parts.link, *this) {}

RequestId Requests::refuse(Error error, ReplyHandler&& handler) {
    loop_.defer([handler = std::move(handler), error = parts_.name.named(std::move(error))] {
        handler(error);
    });
    return next_id();
}

RequestId Requests::add(CallerNumber caller, Request&& asked, ReplyHandler&& handler) {
    const auto& limits = terms_.limits;
    const std::size_t bytes = asked.params.members.size() + asked.params.meta.size() + 64;
    const bool alone = limits.queue_bytes < limits.message_bytes;  // no request may be as long
    if (const auto most = alone ? limits.queue_bytes : limits.message_bytes; bytes > most)
        return refuse(
            {ErrorCode::Limit, "request of " + std::to_string(bytes) + " bytes is over the limit " +
                                   (alone ? "queue_bytes (" : "message_bytes (") +
                                   std::to_string(most) + ")"},
            std::move(handler));
    if (pending_.size() >= limits.queue_messages || pending_.bytes() + bytes > limits.queue_bytes)
        return refuse({ErrorCode::Limit,
                       std::to_string(pending_.size()) + " requests with " +
                           std::to_string(pending_.bytes()) +
                           " bytes are in flight (limits queue_messages, queue_bytes); try later"},
                      std::move(handler));
    const RequestId id = next_id();
    PendingRequest entry{std::move(asked), std::move(handler), caller};
    drop_progress_token(entry.request.params.meta);
    entry.bytes = bytes;
    set_limits(entry);
    auto& added = pending_.add(id, std::move(entry));
    if (parts_.supervisor.is_ready())
        transmit(id, added);
    else
        unsent_.push_back(id);
    return id;
}

RequestId Requests::ask(Request asked, std::chrono::milliseconds timeout, ReplyHandler handler) {
    const RequestId id = next_id();
    PendingRequest entry{std::move(asked), std::move(handler)};
    entry.request.timeout = timeout;
    set_limits(entry);
    transmit(id, pending_.add(id, std::move(entry)));
    return id;
}

// request_timeout_ms is how long a request that calls no tool may go without its answer or progress
// on it; tool_timeout_sec is the wall clock of all of them.
void Requests::set_limits(PendingRequest& entry) const {
    const auto& asked = entry.request;
    const bool limited = asked.timeout.count() > 0;
    entry.wall = limited ? asked.timeout : parts_.server.tool_timeout;
    if (!limited && asked.method != "tools/call" && asked.method != "subscriptions/listen")
        entry.idle = parts_.server.request_timeout;
    entry.deadline = after(asked.begun.value_or(loop_.now()), entry.wall);
}

void Requests::transmit(RequestId id, PendingRequest& entry) {
    entry.heard = false;
    entry.generation = link_.generation;
    entry.auth_generation = parts_.credentials.generation();
    const auto wire_id = static_cast<std::int64_t>(entry.wire_id);
    const auto& method = entry.request.method;
    Outgoing message{plugin::MessageKind::Request, entry.wire_id, {}, method};
    if (auto made = headers_for(entry.request, message.headers); !made)
        return finish_later(id, made.error());
    std::string with_token;
    std::string_view own = link_.meta_for(entry.caller);
    std::string with_capabilities;
    if (!entry.request.capabilities.empty() && link_.modern())
        own = with_capabilities =
            protocol::with_member(own, kCapabilities, entry.request.capabilities);
    if (!entry.own()) link_.used_by(entry.caller);
    if (entry.request.on_progress) {
        with_token = "\"progressToken\":" + std::to_string(entry.wire_id);
        own = with_token = protocol::joined(with_token, own);
    }
    if (entry.round.empty()) {
        message.body = protocol::request(wire_id, method, entry.request.params, own);
    } else {
        const protocol::Params params{protocol::joined(entry.request.params.members, entry.round),
                                      entry.request.params.meta};
        message.body = protocol::request(wire_id, method, params, own);
    }
    outbox_.send(std::move(message));
}

Result<void> Requests::headers_for(const Request& request,
                                   std::vector<plugin::Header>& headers) const {
    if (!link_.takes_headers() || !link_.modern(request.method)) return {};
    const auto add = [&](std::vector<protocol::MessageHeader> made) {
        for (auto& header : made)
            headers.push_back({std::move(header.name), std::move(header.value), false, false});
    };
    add(protocol::standard_headers(request.method, request.params.members));
    if (request.method != "tools/call" || !parts_.tools.mirrors_any()) return {};
    const auto* marks = parts_.tools.marks_of(tool_name(request.params));
    if (!marks) return {};
    auto made = protocol::mirrored_arguments(
        *marks, protocol::raw_member(request.params.members, "arguments"),
        terms_.limits.json_depth);
    if (!made) return made.error();
    add(std::move(*made));
    return {};
}

void Requests::notify(std::string_view method, std::string_view members) {
    if (!link_.channel || !link_.session) return;
    Outgoing message{plugin::MessageKind::Notification, next_id(),
                     protocol::notification(method, members, link_.meta), std::string(method)};
    if (link_.takes_headers() && link_.modern())
        message.headers.push_back({"Mcp-Method", std::string(method)});
    outbox_.send(std::move(message));
}

void Requests::respond(RequestId exchange, std::string body) {
    outbox_.send({plugin::MessageKind::Response, exchange, std::move(body), {}});
}

void Requests::cancel(RequestId id, const std::string& reason) {
    const auto* entry = pending_.find(id);
    if (!entry) return;
    tell_cancelled(*entry, reason);
    finish(id,
           parts_.name.named({ErrorCode::Cancelled, entry->request.method + " was cancelled" +
                                                        (reason.empty() ? "" : ": " + reason)}));
}

void Requests::tell_cancelled(const PendingRequest& entry, std::string_view reason) {
    if (entry.stage != Stage::Sent || !link_.channel) return;
    if (link_.request_scoped() && link_.modern()) return link_.channel->cancel(entry.wire_id);
    if (entry.request.method == "initialize") return;  // must not be cancelled (lifecycle)
    std::string members = "\"requestId\":" + std::to_string(entry.wire_id);
    if (!reason.empty()) members += ",\"reason\":" + protocol::quoted(reason);
    notify("notifications/cancelled", members);
}

void Requests::expired(RequestId id) {
    const auto& entry = *pending_.find(id);
    const bool idle = entry.idle_deadline < entry.deadline;
    const char* limit = entry.own() && entry.request.timeout.count() > 0 ? "time-out"
                        : entry.request.timeout.count() > 0              ? "the time-out given"
                        : idle ? parts_.server.request_timeout_from
                               : parts_.server.tool_timeout_from;
    Error error{ErrorCode::Timeout,
                entry.request.method +
                    (entry.may_have_run() ? " was not answered" : " was not sent") + " within " +
                    core::duration(idle ? entry.idle : entry.wall) + " (" + limit +
                    "); the server is " + name_of(parts_.supervisor.shown())};
    if (entry.stage == Stage::Asking) {
        error.message = entry.request.method + " waits for the input that its server wants; ";
        error.message += entry.request.timeout.count() > 0
                             ? core::duration(entry.wall) + " (" + limit + ") have passed"
                             : "nobody gave it within " + core::duration(core::kInputWait);
    }
    late_ = late_ || entry.stage != Stage::Asking;  // then a person was late
    tell_cancelled(entry, "timed out");
    finish(id, parts_.name.named(std::move(error)));
}

void Requests::finish(RequestId id, Result<Reply> outcome) {
    auto entry = take(id, outcome.has_value());
    entry.handler(std::move(outcome));
}

void Requests::fail_unanswered(RequestId id, Error error) {
    if (!pending_.find(id)->own()) error.message += kMayHaveRun;
    finish(id, parts_.name.named(std::move(error)));
}

// Whatever ends a request ends it here: its place in the outbox, its questions, and the wait of a
// connection that drains.
PendingRequest Requests::take(RequestId id, bool answered) {
    auto entry = pending_.take(id);
    if (entry.stage == Stage::Queued) outbox_.take_back(entry.queued);
    if (!answered && !entry.own()) parts_.watcher.on_unanswered(id, entry);
    entry.questions.clear();
    if (drained_ && !entry.own()) {
        // Before the handler, which may be the last to know this connection.
        loop_.defer(lifetime_.guard([this] {
            if (!pending_.any_begun()) drained_();
        }));
    }
    return entry;
}

void Requests::drop_all_of(CallerNumber caller) {
    for (const auto id : pending_.ids()) {
        const auto* entry = pending_.find(id);
        if (!entry || entry->caller != caller) continue;
        tell_cancelled(*entry, "its caller has gone");
        const auto dropped = take(id, false);
    }
}

void Requests::finish_later(RequestId id, Error error) {
    loop_.defer(lifetime_.guard([this, id, error = parts_.name.named(std::move(error))] {
        if (pending_.find(id)) finish(id, error);
    }));
}

void Requests::fail_all(const Error& error, Which which) {
    for (const auto id : pending_.ids()) {
        const auto* entry = pending_.find(id);
        if (!entry || (which == Which::Started && entry->can_wait())) continue;
        Error told = error;
        if (!entry->own() && entry->may_have_run()) told.message += kMayHaveRun;
        finish(id, std::move(told));
    }
}

// In order. Their time goes on: each waits within its own limits.
void Requests::keep_waiting() {
    unsent_.clear();
    for (const auto id : pending_.ids()) {
        auto& entry = *pending_.find(id);
        if (!entry.can_wait() || entry.stage == Stage::Asking) continue;
        entry.stage = Stage::Waiting;
        unsent_.push_back(id);
    }
}

void Requests::send_waiting() {
    for (const auto id : std::exchange(unsent_, {})) {
        auto* waiting = pending_.find(id);
        if (waiting && waiting->stage == Stage::Waiting) transmit(id, *waiting);
    }
}

void Requests::end_channel() {
    outbox_.clear();
    keep_waiting();  // what the outbox held is not with the server
}

// Under a new id: an answer to the first sending may still come and must not count.
void Requests::resend(RequestId id) {
    pending_.set_wire_id(id, next_id());
    auto& entry = *pending_.find(id);
    pending_.touch(entry);
    if (entry.own() || parts_.supervisor.is_ready()) return transmit(id, entry);
    entry.stage = Stage::Waiting;
    unsent_.push_back(id);
}

bool Requests::repeatable(const Request& request) const {
    if (request.method != "tools/call") return false;
    const auto* tool = parts_.tools.find(tool_name(request.params));
    return tool && (tool->hint("idempotentHint") || tool->hint("readOnlyHint"));
}

void Requests::on_queued(RequestId exchange, std::uint64_t place) {
    auto* entry = pending_.find_wire(exchange);
    if (!entry) return;
    entry->stage = Stage::Queued;
    entry->queued = place;
}

void Requests::on_leaving(RequestId exchange) {
    if (auto* entry = pending_.find_wire(exchange)) entry->stage = Stage::Sent;
}

// When that is because the channel is at its end, which it will tell in its own time and with the
// reason, a caller's request waits for the next session and one of our own for that end.
void Requests::on_not_taken(plugin::MessageKind kind, RequestId exchange, Error error) {
    if (kind == plugin::MessageKind::Response) return parts_.watcher.on_answer_not_taken(exchange);
    const auto id = pending_.id_of_wire(exchange);
    if (!id) return;
    auto& entry = *pending_.find(id);
    entry.stage = Stage::Waiting;
    if (error.code == ErrorCode::Unavailable && !entry.own()) return unsent_.push_back(id);
    if (error.code == ErrorCode::Unavailable && link_.channel) return;
    error.message += entry.uncertain ? kMayHaveRun : "; the request was not sent";
    finish_later(id, std::move(error));
}

}  // namespace patchbay::connection
