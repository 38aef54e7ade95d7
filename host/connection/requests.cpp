// What we ask of the server: bounds, deadlines, cancelling.
#include "connection/connection_impl.hpp"
#include "core/text.hpp"
#include "protocol/compose.hpp"

namespace patchbay::connection {
namespace json = boost::json;

namespace {

core::Clock::time_point after(core::Clock::time_point begun, std::chrono::milliseconds span) {
    return span > std::chrono::hours(24 * 365) ? core::Clock::time_point::max() : begun + span;
}

// What a legacy server would have answered to a request that this era does without.
Reply empty_reply() {
    Reply reply;
    reply.message = core::Buffer::from("{}");
    reply.result = reply.message.view();
    return reply;
}

}  // namespace

RequestId Connection::Impl::request(Request asked, ReplyHandler handler) {
    const RequestId id = ++last_id;
    const auto refuse = [&](Error error) {
        context.loop.defer(
            [handler = std::move(handler), error = named(std::move(error))] { handler(error); });
        return id;
    };
    if (closing) return refuse({ErrorCode::Unavailable, "the connection is closed"});
    const std::size_t bytes = asked.params.members.size() + asked.params.meta.size() + 64;
    if (bytes > context.limits.message_bytes) {
        return refuse({ErrorCode::Limit, "request of " + std::to_string(bytes) +
                                             " bytes is over the limit message_bytes (" +
                                             std::to_string(context.limits.message_bytes) + ")"});
    }
    if (pending.size() >= context.limits.queue_messages ||
        pending.bytes() + bytes > context.limits.queue_bytes) {
        return refuse({ErrorCode::Limit,
                       std::to_string(pending.size()) + " requests with " +
                           std::to_string(pending.bytes()) +
                           " bytes are in flight (limits queue_messages, queue_bytes); try later"});
    }
    const bool dead =
        state == State::Failed || state == State::Error || state == State::AuthRequired;
    if (dead && context.now() - failed_at < context.health.reconnect_most) {
        return refuse(
            {state == State::AuthRequired ? ErrorCode::AuthRequired : ErrorCode::Unavailable,
             "is " + std::string(name_of(state)) + ": " + shown.last_error});
    }

    PendingRequest entry{std::move(asked), std::move(handler)};
    entry.bytes = bytes;
    set_limits(entry);
    auto& added = pending.add(id, std::move(entry));
    if (state == State::Ready) {
        transmit(id, added);
    } else {
        unsent.push_back(id);
        if (state != State::Connecting && state != State::Reconnecting) {
            context.loop.defer([this, watch = alive] {
                if (*watch) connect({});
            });
        }
    }
    return id;
}

RequestId Connection::Impl::send_now(Request asked, std::chrono::milliseconds timeout,
                                     ReplyHandler handler) {
    const RequestId id = ++last_id;
    PendingRequest entry{std::move(asked), std::move(handler)};
    entry.own = true;
    entry.request.timeout = timeout;
    set_limits(entry);
    transmit(id, pending.add(id, std::move(entry)));
    return id;
}

// request_timeout_ms is how long a request that calls no tool may go without its answer or progress
// on it; tool_timeout_sec is the wall clock of all of them.
void Connection::Impl::set_limits(PendingRequest& entry) const {
    const auto& asked = entry.request;
    const bool limited = asked.timeout.count() > 0;
    entry.wall = limited ? asked.timeout : spec.config.tool_timeout;
    if (!limited && asked.method != "tools/call" && asked.method != "subscriptions/listen")
        entry.idle = spec.config.request_timeout;
    entry.deadline = after(asked.begun, entry.wall);
}

void Connection::Impl::notify(std::string_view method, std::string_view members) {
    if (!channel || !session) return;
    std::vector<plugin::Header> headers;
    if (channel->takes_headers() && modern(method))
        headers.push_back({"Mcp-Method", std::string(method)});
    send_message({plugin::MessageKind::Notification, ++last_id,
                  protocol::notification(method, members, meta), std::string(method),
                  std::move(headers)});
}

void Connection::Impl::cancel(RequestId id, const std::string& reason) {
    const auto* entry = pending.find(id);
    if (!entry) return;
    tell_cancelled(*entry, reason);
    finish(id, named({ErrorCode::Cancelled, entry->request.method + " was cancelled" +
                                                (reason.empty() ? "" : ": " + reason)}));
}

void Connection::Impl::tell_cancelled(const PendingRequest& entry, std::string_view reason) {
    if (entry.stage != Stage::Sent || !channel) return;
    const bool modern = session && session->era == protocol::Era::Modern;
    if (channel->request_scoped() && modern) return channel->cancel(entry.wire_id);
    if (entry.request.method == "initialize") return;  // must not be cancelled (lifecycle)
    std::string members = "\"requestId\":" + std::to_string(entry.wire_id);
    if (!reason.empty()) members += ",\"reason\":" + protocol::quoted(reason);
    notify("notifications/cancelled", members);
}

void Connection::Impl::expired(RequestId id) {
    const auto& entry = *pending.find(id);
    const bool idle = entry.idle_deadline < entry.deadline;
    const char* limit = entry.own && entry.request.timeout.count() > 0 ? "time-out"
                        : entry.request.timeout.count() > 0            ? "the time-out given"
                        : idle                                         ? "request_timeout_ms"
                               : spec.config.tool_timeout_from;
    Error error{ErrorCode::Timeout,
                entry.request.method +
                    (entry.may_have_run() ? " was not answered" : " was not sent") + " within " +
                    core::duration(idle ? entry.idle : entry.wall) + " (" + limit +
                    "); the server is " + name_of(state)};
    if (entry.stage == Stage::Asking) {
        error.message = entry.request.method + " waits for the input that its server wants; ";
        error.message += entry.request.timeout.count() > 0
                             ? core::duration(entry.wall) + " (" + limit + ") have passed"
                             : "nobody gave it within " + core::duration(core::kInputWait);
    }
    answered_late = answered_late || entry.stage != Stage::Asking;  // then a person was late
    tell_cancelled(entry, "timed out");
    finish(id, named(std::move(error)));
}

void Connection::Impl::finish(RequestId id, Result<Reply> outcome) {
    auto entry = pending.take(id);
    if (entry.stage == Stage::Queued) outbox.erase(entry.queued);
    if (!outcome && !entry.own) withdraw_questions(id);
    entry.questions.clear();
    if (retired && !entry.own) {
        // The handler may be the last to know this connection.
        context.loop.defer([this, watch = alive] {
            if (*watch) close_if_idle();
        });
    }
    entry.handler(std::move(outcome));
}

void Connection::Impl::fail_all(const Error& error, Which which) {
    for (const auto id : pending.ids()) {
        const auto* entry = pending.find(id);
        if (!entry || (which == Which::Started && entry->can_wait())) continue;
        Error told = error;
        if (!entry->own && entry->may_have_run())
            told.message += "; the request may have been carried out";
        finish(id, std::move(told));
    }
}

// In order. Their time goes on: each waits within its own limits.
void Connection::Impl::keep_waiting() {
    unsent.clear();
    for (const auto id : pending.ids()) {
        auto& entry = *pending.find(id);
        if (!entry.can_wait() || entry.stage == Stage::Asking) continue;
        entry.stage = Stage::Waiting;
        unsent.push_back(id);
    }
}

void Connection::subscribe(const std::string& uri, bool wanted, ReplyHandler handler) {
    auto& impl = *impl_;
    const bool modern = impl.session && impl.session->era == protocol::Era::Modern;
    if (!modern) {
        impl.request({wanted ? "resources/subscribe" : "resources/unsubscribe",
                      {"\"uri\":" + protocol::quoted(uri), ""},
                      {},
                      {}},
                     [this, watch = impl.alive, uri, wanted,
                      handler = std::move(handler)](Result<Reply> reply) {
                         // For the next session, which knows nothing of this one's.
                         const bool took = reply && reply->error.empty();
                         if (*watch && took && wanted) impl_->subscriptions.insert(uri);
                         if (*watch && took && !wanted) impl_->subscriptions.erase(uri);
                         handler(std::move(reply));
                     });
        return;
    }
    if (wanted)
        impl.subscriptions.insert(uri);
    else
        impl.subscriptions.erase(uri);
    impl.listen();
    impl.context.loop.defer([handler = std::move(handler)] { handler(empty_reply()); });
}

void Connection::set_log_level(const std::string& level, ReplyHandler handler) {
    auto& impl = *impl_;
    if (!impl.session || impl.state != State::Ready) {
        // Which of the two ways it goes is known when a session is agreed on.
        return connect([this, watch = impl.alive, level, handler = std::move(handler)] {
            if (*watch && impl_->state == State::Ready) return set_log_level(level, handler);
            if (!*watch) return handler(Error{ErrorCode::Unavailable, "the host is closing"});
            handler(impl_->named(
                {impl_->state == State::AuthRequired ? ErrorCode::AuthRequired
                                                     : ErrorCode::Unavailable,
                 "is " + std::string(name_of(impl_->state)) + ": " + impl_->shown.last_error}));
        });
    }
    impl.log_level = level;
    if (impl.session->era == protocol::Era::Legacy) {
        impl.request({"logging/setLevel", {"\"level\":" + protocol::quoted(level), ""}, {}, {}},
                     [this, watch = impl.alive, level, handler](Result<Reply> reply) {
                         // What this server does not take is not said to its next session.
                         const bool refused = reply && !reply->error.empty();
                         if (*watch && refused && impl_->log_level == level)
                             impl_->log_level.clear();
                         handler(std::move(reply));
                     });
        return;
    }
    impl.use_log_level();
    impl.context.loop.defer([handler = std::move(handler)] { handler(empty_reply()); });
}

// For a session that has just been agreed on, which may be of the other era than the one before. The
// modern one names them when it listens.
void Connection::Impl::subscribe_again() {
    if (session->era == protocol::Era::Modern || !session->can("resources", "subscribe")) return;
    for (const auto& uri : subscriptions)
        send_now({"resources/subscribe", {"\"uri\":" + protocol::quoted(uri), ""}, {}, {}},
                 spec.config.request_timeout, [](const Result<Reply>&) {});
}

// For a session that has just been agreed on.
void Connection::Impl::use_log_level() {
    const bool modern = session->era == protocol::Era::Modern;
    meta = modern ? protocol::modern_meta(context.identity) : std::string();
    if (log_level.empty()) return;
    if (modern) {
        meta = protocol::joined(
            meta, "\"io.modelcontextprotocol/logLevel\":" + protocol::quoted(log_level));
    } else if (session->can("logging")) {
        send_now({"logging/setLevel", {"\"level\":" + protocol::quoted(log_level), ""}, {}, {}},
                 spec.config.request_timeout, [](const Result<Reply>&) {});
    }
}

}  // namespace patchbay::connection
