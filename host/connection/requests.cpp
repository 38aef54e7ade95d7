// What we ask of the server: sending, bounds, deadlines, cancelling, and the tool list.
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
    if (dead && core::Clock::now() - failed_at < context.health.reconnect_most) {
        return refuse({ErrorCode::Unavailable,
                       "is " + std::string(name_of(state)) + ": " + shown.last_error});
    }

    PendingRequest entry;
    entry.bytes = bytes;
    if (asked.timeout.count() > 0) {
        entry.wall = asked.timeout;
    } else {
        entry.wall = spec.config.tool_timeout;
        if (asked.method != "tools/call" && asked.method != "subscriptions/listen") {
            entry.idle = spec.config.request_timeout;
        }
    }
    entry.deadline = after(asked.begun, entry.wall);
    entry.request = std::move(asked);
    entry.handler = std::move(handler);
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
    PendingRequest entry;
    entry.wall = timeout;
    entry.deadline = after(asked.begun, timeout);
    entry.request = std::move(asked);
    entry.handler = std::move(handler);
    transmit(id, pending.add(id, std::move(entry)));
    return id;
}

void Connection::Impl::transmit(RequestId id, PendingRequest& entry) {
    (void)id;
    entry.sent = true;
    protocol::Params& params = entry.request.params;
    std::string own = meta;
    if (entry.request.on_progress) {
        own = protocol::joined("\"progressToken\":" + std::to_string(entry.wire_id), meta);
    }
    auto body = protocol::request(static_cast<std::int64_t>(entry.wire_id), entry.request.method,
                                  params, own);
    send_message(plugin::MessageKind::Request, entry.wire_id, std::move(body),
                 entry.request.method);
}

void Connection::Impl::send_message(plugin::MessageKind kind, RequestId exchange, std::string body,
                                    std::string_view method) {
    plugin::OutgoingMessage message;
    message.kind = kind;
    message.exchange = exchange;
    message.body = core::Buffer::from(std::move(body));
    if (paused) {
        outbox.emplace_back(std::move(message), std::string(method));
        return;
    }
    if (!channel) return;
    message.method = method;
    if (session) message.protocol = session->version;
    const auto flow = channel->send(std::move(message));
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

void Connection::Impl::flush_outbox() {
    while (!outbox.empty() && !paused && channel) {
        auto [message, method] = std::move(outbox.front());
        outbox.pop_front();
        const auto exchange = message.exchange;
        // A request that was cancelled or timed out while it waited is not worth sending.
        if (message.kind == plugin::MessageKind::Request && !pending.id_of_wire(exchange)) continue;
        message.method = method;
        if (session) message.protocol = session->version;
        const auto flow = channel->send(std::move(message));
        if (flow)
            paused = *flow == plugin::Flow::Paused;
        else if (const auto id = pending.id_of_wire(exchange))
            finish(id, named(flow.error()));
    }
}

void Connection::Impl::notify(std::string_view method, std::string_view members) {
    if (!channel || !session) return;
    send_message(plugin::MessageKind::Notification, ++last_id,
                 protocol::notification(method, members, meta), method);
}

void Connection::Impl::cancel(RequestId id, const std::string& reason) {
    const auto* entry = pending.find(id);
    if (!entry) return;
    tell_cancelled(*entry, reason);
    finish(id, named({ErrorCode::Cancelled, entry->request.method + " was cancelled" +
                                                (reason.empty() ? "" : ": " + reason)}));
}

void Connection::Impl::tell_cancelled(const PendingRequest& entry, std::string_view reason) {
    if (!entry.sent || !channel) return;
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
    const char* limit = entry.request.timeout.count() > 0      ? "the time-out given"
                        : idle                                 ? "request_timeout_ms"
                        : entry.request.method == "tools/call" ? "tool_timeout_sec"
                                                               : "time-out";
    Error error{ErrorCode::Timeout,
                entry.request.method + (entry.sent ? " was not answered" : " was not sent") +
                    " within " + core::duration(idle ? entry.idle : entry.wall) + " (" + limit +
                    "); the server is " + name_of(state)};
    tell_cancelled(entry, "timed out");
    finish(id, named(std::move(error)));
}

void Connection::Impl::finish(RequestId id, Result<Reply> outcome) {
    auto entry = pending.take(id);
    entry.handler(std::move(outcome));
}

void Connection::Impl::fail_all(const Error& error, Which which) {
    for (const auto id : pending.ids()) {
        const auto* entry = pending.find(id);
        if (entry && (which == Which::All || entry->sent)) finish(id, error);
    }
}

// ---- tools/list over all pages -----------------------------------------------------------------

void Connection::Impl::list_tools(std::string cursor) {
    if (cursor.empty()) {
        list_running = true;
        list_again = false;
        listing.clear();
        cursors.clear();
        pages = 0;
        listing_ttl_ms = -1;
        shown.notes.clear();
    }
    protocol::Params params;
    if (!cursor.empty()) params.members = "\"cursor\":" + protocol::quoted(cursor);
    send_now({"tools/list", std::move(params), {}, {}}, spec.config.request_timeout,
             [this](Result<Reply> reply) { tools_listed(std::move(reply)); });
}

void Connection::Impl::tools_listed(Result<Reply> reply) {
    if (!list_running) return;  // the connection was lost meanwhile
    if (!reply) return tools_done(reply.error());
    if (!reply->error.empty()) {
        const auto error = protocol::parse_rpc_error(reply->error);
        return tools_done(
            named({ErrorCode::Protocol,
                   "tools/list failed: " + (error ? error->message : error.error().message)}));
    }
    json::error_code failed;
    const auto value = json::parse({reply->result.data(), reply->result.size()}, failed);
    if (failed || !value.is_object()) {
        return tools_done(named({ErrorCode::Protocol, "tools/list result is not an object"}));
    }
    auto page = protocol::parse_tool_page(value.get_object(), context.limits);
    if (!page) return tools_done(named(page.error()));
    for (auto& note : page->notes) {
        if (shown.notes.size() < 100) shown.notes.push_back(std::move(note));
    }
    for (auto& tool : page->tools) {
        if (listing.size() >= context.limits.tools_per_server) {
            return tools_done(
                named({ErrorCode::Limit, "lists more than " +
                                             std::to_string(context.limits.tools_per_server) +
                                             " tools (limit tools_per_server)"}));
        }
        listing.push_back(std::move(tool));
    }
    if (page->ttl_ms >= 0) {
        listing_ttl_ms = listing_ttl_ms < 0 ? page->ttl_ms : std::min(listing_ttl_ms, page->ttl_ms);
    }
    if (page->next_cursor.empty()) return tools_done({});
    if (++pages >= context.limits.pages_per_list) {
        return tools_done(
            named({ErrorCode::Limit, "tools/list has more than " +
                                         std::to_string(context.limits.pages_per_list) +
                                         " pages (limit pages_per_list)"}));
    }
    if (!cursors.insert(page->next_cursor).second) {
        return tools_done(named({ErrorCode::Protocol, "tools/list repeats the cursor \"" +
                                                          core::printable(page->next_cursor, 64) +
                                                          "\"; its list has no end"}));
    }
    list_tools(page->next_cursor);
}

// What was listed before a failure is kept: some tools are better than none.
void Connection::Impl::tools_done(Result<void> outcome) {
    const bool was_running = std::exchange(list_running, false);
    if (was_running && channel) {
        std::stable_sort(listing.begin(), listing.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; });
        const auto repeated =
            std::unique(listing.begin(), listing.end(),
                        [](const auto& a, const auto& b) { return a.name == b.name; });
        if (repeated != listing.end()) {
            shown.notes.push_back("tools listed twice under one name were left out");
            listing.erase(repeated, listing.end());
        }
        tools = std::move(listing);
        listing.clear();
        if (!outcome) {
            shown.last_error = core::printable(outcome.error().message, 1000);
            shown.notes.push_back(shown.last_error);
        }
        const auto fresh = listing_ttl_ms >= 0 ? std::chrono::milliseconds(listing_ttl_ms)
                                               : context.health.tool_cache;
        tools_until = core::Clock::now() + std::min(fresh, std::chrono::milliseconds(86'400'000));
        context.events.on_tools_changed(spec.id());
        if (list_again) return list_tools({});
        if (state != State::Ready) ready();
    }
    for (auto& waiter : std::exchange(list_waiters, {})) waiter(outcome);
}

void Connection::refresh_tools(std::function<void(Result<void>)> fresh) {
    auto& impl = *impl_;
    const bool none = impl.session && !impl.session->can("tools");
    const bool valid = impl.tools_until && core::Clock::now() < *impl.tools_until;
    if (impl.state == State::Ready && (none || (valid && !impl.list_running))) {
        return impl.context.loop.defer([fresh = std::move(fresh)] { fresh({}); });
    }
    if (impl.state != State::Ready) {
        // Connecting lists the tools; a connection that fails tells why.
        return connect([this, watch = impl.alive, fresh = std::move(fresh)] {
            if (!*watch) return fresh(Error{ErrorCode::Unavailable, "the host is closing"});
            if (impl_->state == State::Ready) return fresh({});
            fresh(Error{impl_->state == State::AuthRequired ? ErrorCode::AuthRequired
                                                            : ErrorCode::Unavailable,
                        impl_->shown.last_error});
        });
    }
    impl.list_waiters.push_back(std::move(fresh));
    if (!impl.list_running) impl.list_tools({});
}

void Connection::subscribe(const std::string& uri, bool wanted, ReplyHandler handler) {
    auto& impl = *impl_;
    const bool modern = impl.session && impl.session->era == protocol::Era::Modern;
    if (!modern) {
        impl.request({wanted ? "resources/subscribe" : "resources/unsubscribe",
                      {"\"uri\":" + protocol::quoted(uri), ""},
                      {},
                      {}},
                     std::move(handler));
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
    if (!impl.session || impl.session->era == protocol::Era::Legacy) {
        impl.request({"logging/setLevel", {"\"level\":" + protocol::quoted(level), ""}, {}, {}},
                     std::move(handler));
        return;
    }
    impl.meta = protocol::joined(protocol::modern_meta(impl.context.identity),
                                 "\"io.modelcontextprotocol/logLevel\":" + protocol::quoted(level));
    impl.context.loop.defer([handler = std::move(handler)] { handler(empty_reply()); });
}

}  // namespace patchbay::connection
