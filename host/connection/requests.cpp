#include "connection/requests.hpp"

#include "connection/time_limits.hpp"
#include "protocol/compose.hpp"
#include "protocol/raw_json.hpp"

#include <optional>

namespace patchbay::connection {

namespace {

// A token is ours, one for each exchange: one that a caller wrote may be that of another's.
void drop_progress_token(std::string& meta) {
    if (meta.empty()) return;
    std::string kept;
    protocol::each_of(meta, [&](std::string_view key, std::string_view value) {
        if (key != "progressToken") protocol::append_member(kept, key, value);
        return true;
    });
    meta = std::move(kept);
}

}  // namespace

Requests::Requests(core::Loop& loop, const Terms& terms, const Parts& parts)
    : loop_(loop),
      limits_(terms.limits),
      parts_(parts),
      pending_(loop, [this](RequestId id) { expired(id); }),
      delivery_(
          loop, limits_,
          {parts.server, parts.credentials, parts.tools, parts.link, pending_, *this, parts.loss}) {
}

RequestId Requests::refuse(Error error, ReplyHandler&& handler) {
    loop_.defer([handler = std::move(handler), error = parts_.name.named(std::move(error))] {
        handler(error);
    });
    return delivery_.next_id();
}

RequestId Requests::add(CallerNumber caller, Request&& asked, ReplyHandler&& handler) {
    const std::size_t bytes = asked.params.members.size() + asked.params.meta.size() + 64;
    const bool alone = limits_.queue_bytes < limits_.message_bytes;  // no request may be as long
    if (const auto most = alone ? limits_.queue_bytes : limits_.message_bytes; bytes > most)
        return refuse(
            {ErrorCode::Limit, "request of " + std::to_string(bytes) + " bytes is over the limit " +
                                   (alone ? "queue_bytes (" : "message_bytes (") +
                                   std::to_string(most) + ")"},
            std::move(handler));
    if (pending_.size() >= limits_.queue_messages || pending_.bytes() + bytes > limits_.queue_bytes)
        return refuse({ErrorCode::Limit,
                       std::to_string(pending_.size()) + " requests with " +
                           std::to_string(pending_.bytes()) +
                           " bytes are in flight (limits queue_messages, queue_bytes); try later"},
                      std::move(handler));
    const RequestId id = delivery_.next_id();
    PendingRequest entry{std::move(asked), std::move(handler), caller};
    drop_progress_token(entry.request.params.meta);
    entry.bytes = bytes;
    set_limits(entry, parts_.server, loop_.now());
    auto& added = pending_.add(id, std::move(entry));
    if (parts_.supervisor.is_ready())
        delivery_.send(id, added);
    else
        unsent_.push_back(id);
    return id;
}

RequestId Requests::ask(Request asked, std::chrono::milliseconds timeout, ReplyHandler handler) {
    const RequestId id = delivery_.next_id();
    PendingRequest entry{std::move(asked), std::move(handler)};
    entry.request.timeout = timeout;
    set_limits(entry, parts_.server, loop_.now());
    delivery_.send(id, pending_.add(id, std::move(entry)));
    return id;
}

void Requests::cancel(RequestId id, const std::string& reason) {
    const auto* entry = pending_.find(id);
    if (!entry) return;
    delivery_.tell_cancelled(*entry, reason);
    finish(id,
           parts_.name.named({ErrorCode::Cancelled, entry->request.method + " was cancelled" +
                                                        (reason.empty() ? "" : ": " + reason)}));
}

void Requests::end_streams(const std::string& why) {
    for (const auto id : pending_.ids()) {
        const auto& entry = *pending_.find(id);
        if (entry.own() || entry.request.method != "subscriptions/listen") continue;
        delivery_.tell_cancelled(entry, why);
        finish_later(id, {ErrorCode::Cancelled, why});
    }
}

void Requests::expired(RequestId id) {
    const auto& entry = *pending_.find(id);
    const auto starting = parts_.supervisor.starting(parts_.link.last_said);
    auto error =
        too_late(entry, parts_.server, parts_.supervisor.shown(), starting ? &*starting : nullptr);
    // Of an Asking request it is a person who is late.
    if (entry.stage != Stage::Asking && parts_.link.channel) parts_.link.late = true;
    if (entry.stage == Stage::Sent && entry.request.method == "tools/call")
        if (const auto why = no_calls(++parts_.link.late_calls); !why.empty())
            error.message += "; " + why;
    delivery_.tell_cancelled(entry, "timed out");
    finish(id, parts_.name.named(std::move(error)));
}

void Requests::finish(RequestId id, Result<Reply> outcome) {
    auto entry = take(id, outcome.has_value());
    if (outcome && entry.request.method == "tools/call") parts_.link.late_calls = 0;
    entry.handler(std::move(outcome));
}

void Requests::fail_unanswered(RequestId id, Error error) {
    if (!pending_.find(id)->own()) error.message += kMayHaveRun;
    finish(id, parts_.name.named(std::move(error)));
}

// Whatever ends a request ends it here: its place in the outbox, and its questions.
PendingRequest Requests::take(RequestId id, bool answered) {
    auto entry = pending_.take(id);
    delivery_.take_back(entry);
    if (!answered && !entry.own()) parts_.watcher.on_unanswered(id, entry);
    entry.questions.clear();
    return entry;
}

void Requests::drop_all_of(CallerNumber caller) {
    for (const auto id : pending_.ids()) {
        const auto* entry = pending_.find(id);
        if (!entry || entry->caller != caller) continue;
        delivery_.tell_cancelled(*entry, "its caller has gone");
        const auto dropped = take(id, false);
    }
}

void Requests::finish_later(RequestId id, Error error) {
    loop_.defer(lifetime_.guard([this, id, error = parts_.name.named(std::move(error))] {
        if (pending_.find(id)) finish(id, error);
    }));
}

void Requests::fail_all(const Error& error, Which which) {
    if (which != Which::Started) unsent_.clear();
    for (const auto id : pending_.ids()) {
        const auto* entry = pending_.find(id);
        if (!entry || (which == Which::Started && entry->can_wait())) continue;
        Error told = error;
        if (!entry->own() && entry->may_have_run())
            told.message += kMayHaveRun;
        else if (entry->can_wait() && which == Which::OfOneThatWas)
            told.message += kNotSent;
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
        if (!waiting || waiting->stage != Stage::Waiting || ends_refused(id, *waiting)) continue;
        delivery_.send(id, *waiting);
    }
}

// What was let through when it was asked for may be for another tool than it was.
bool Requests::ends_refused(RequestId id, const PendingRequest& entry) {
    if (!parts_.resends || entry.own()) return false;
    auto why = parts_.resends->refuses(entry.caller, parts_.server.id, entry.request);
    if (!why) return false;
    why->message += entry.has_run_maybe() ? kMayHaveRun : kNotSent;
    finish_later(id, std::move(*why));
    return true;
}

void Requests::end_channel() {
    delivery_.clear();
    keep_waiting();  // what the outbox held is not with the server
}

// Under a new id: an answer to the first sending may still come and must not count.
void Requests::resend(RequestId id) {
    pending_.set_wire_id(id, delivery_.next_id());
    auto& entry = *pending_.find(id);
    pending_.touch(entry);
    if (ends_refused(id, entry)) return;
    if (entry.own() || parts_.supervisor.is_ready()) return delivery_.send(id, entry);
    entry.stage = Stage::Waiting;
    unsent_.push_back(id);
}

}  // namespace patchbay::connection
