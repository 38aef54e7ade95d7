// The inside of a Connection, shared by its three sources: lifecycle (open, handshake, retry,
// close), requests (out), inbound (what the server sends). Nobody else includes this.
#pragma once

#include "connection/connection.hpp"
#include "connection/pending_requests.hpp"

#include <deque>
#include <set>

namespace patchbay::connection {

struct Connection::Impl {
    Impl(Connection& self, const Context& context, registry::ServerSpec spec);

    // lifecycle
    void connect(std::function<void()> settled);
    void open();
    void drive(protocol::Handshake::Step step);
    void handshake_result(const std::string& method, Result<Reply> reply);
    void established(protocol::Session session);
    void ready();
    // This attempt is over; `retryable` says whether another may go better.
    void attempt_failed(Error error, bool retryable);
    void tell_failure(State next, const Error& error);  // everybody who waits
    void schedule_reconnect();
    void lose(Error error);  // close the channel because the connection is of no use any more
    void channel_gone(const plugin::Problem* problem);
    void close(std::function<void()> closed);
    void set_state(State state);
    void settle();
    void check_health();
    void listen();  // modern: (re)opens subscriptions/listen for what is wanted

    // requests
    RequestId request(Request request, ReplyHandler handler);
    // For requests of our own: sent at once whatever the state, the handler as above.
    RequestId send_now(Request request, std::chrono::milliseconds timeout, ReplyHandler handler);
    void transmit(RequestId id, PendingRequest& pending);
    void send_message(plugin::MessageKind kind, RequestId exchange, std::string body,
                      std::string_view method);
    void flush_outbox();
    void notify(std::string_view method, std::string_view members);
    void cancel(RequestId id, const std::string& reason);
    void tell_cancelled(const PendingRequest& pending, std::string_view reason);
    void expired(RequestId id);
    void finish(RequestId id, Result<Reply> outcome);
    enum class Which { All, Sent };
    void fail_all(const Error& error, Which which = Which::All);
    void list_tools(std::string cursor);
    void tools_listed(Result<Reply> reply);
    void tools_done(Result<void> outcome);

    // inbound
    void message(plugin::ExchangeId exchange, core::Buffer body);
    void batch(core::Buffer body);
    void malformed(std::string_view body, const Error& error, plugin::ExchangeId exchange);
    void answer(const protocol::Envelope& envelope, core::Buffer body);
    void input_required(RequestId id, std::string_view result);
    void server_request(const protocol::Envelope& envelope);
    void notification(const protocol::Envelope& envelope);
    void progress(std::string_view params);

    Error named(Error error) const;                   // `server "x": ...`
    std::string with_stderr(std::string text) const;  // ` (stderr: ...)` appended
    void keep_line(bool stray, std::string_view line);

    Connection& self;
    const Context& context;
    registry::ServerSpec spec;
    State state = State::Idle;
    std::unique_ptr<plugin::Channel> channel;
    std::optional<protocol::Handshake> handshake;
    std::optional<protocol::Session> session;
    std::string meta;  // modern `_meta` members; empty in legacy
    PendingRequests pending;
    std::vector<RequestId> unsent;  // wait for Ready
    std::deque<std::pair<plugin::OutgoingMessage, std::string>>
        outbox;  // after PAUSE; second: method
    bool paused = false;
    RequestId last_id = 0;
    bool retried_without_probe = false;
    std::string try_first;  // revision for the next attempt only

    std::vector<protocol::Tool> tools, listing;
    std::set<std::string> cursors;
    std::size_t pages = 0;
    std::optional<core::Clock::time_point> tools_until;  // fresh until; none: stale
    std::int64_t listing_ttl_ms = -1;
    bool list_running = false, list_again = false;
    std::vector<std::function<void(Result<void>)>> list_waiters;

    std::set<std::string> subscriptions;  // resource URIs wanted
    RequestId listen_id = 0;
    core::Loop::TimerId listen_timer = 0;

    std::vector<std::function<void()>> settled, closed;
    bool closing = false;
    core::Loop::TimerId startup_timer = 0, silence_timer = 0, reconnect_timer = 0, health_timer = 0;
    unsigned attempts = 0, misses = 0;
    bool heard = false;                 // since the last health check
    std::optional<Error> lost_because;  // why we closed the channel ourselves
    bool lost_when_ready = false;
    core::Clock::time_point failed_at{}, ready_at{};

    Status shown;  // the parts that only change here
    std::deque<std::string> stderr_tail;
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for work deferred to the loop
};

}  // namespace patchbay::connection
