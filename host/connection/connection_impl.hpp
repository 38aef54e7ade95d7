// The inside of a Connection, shared by its sources: lifecycle (open, handshake, retry, close),
// transport_choice, authorization, session_renewal, requests and delivery (out), inbound (what the
// server sends), tool_list. Nobody else includes this.
#pragma once

#include "connection/auth_loop.hpp"
#include "connection/connection.hpp"
#include "connection/pending_requests.hpp"
#include "connection/server_requests.hpp"
#include "core/secrets.hpp"
#include "protocol/http_headers.hpp"

#include <deque>
#include <map>
#include <set>

namespace patchbay::connection {

struct Connection::Impl {
    Impl(Connection& self, const Context& context, registry::ServerSpec spec);

    // lifecycle
    void connect(std::function<void()> settled);
    void take_place(std::function<void()> start);
    void open();
    void open_expanded(Expanded expanded);
    void prepare_channel(boost::json::object settings);
    void open_channel(boost::json::object settings);
    void drive(protocol::Handshake::Step step);
    void await_probe();
    void handshake_result(const std::string& method, Result<Reply> reply);
    void established(protocol::Session session);
    void ready();
    // This attempt is over; `retryable` says whether another may go better.
    void attempt_failed(Error error, bool retryable);
    void tell_failure(State next, const Error& error);  // everybody who waits
    void schedule_reconnect();
    void lose(Error error);  // close the channel because the connection is of no use any more
    bool comes_back(const Error& error) const;  // whether another attempt follows that failure
    void forgive();                             // what failed before a session that lasted
    void keep_waiting();                        // what no server has goes out in the next session
    void channel_gone(const plugin::Problem* problem);
    void close(std::function<void()> closed);
    void close_if_idle();  // of a retired one
    void set_state(State state);
    void settle();
    void check_health();
    void listen();  // modern: (re)opens subscriptions/listen for what is wanted
    void listen_again();
    void start_startup_timer();
    void close_auth();

    // transport_choice
    void begin_attempt();
    bool implicit_fallback() const;
    std::string remembered_version() const;
    bool next_transport(Error& error);
    void handshake_ended(RequestId id, const plugin::Problem* problem);

    // authorization
    std::unique_ptr<AuthLoop> make_auth_loop();
    Result<void> read_bearer_token();
    std::vector<plugin::Header> all_credentials() const;
    void unauthorized(RequestId id, const plugin::Problem& problem);
    void authorized(const Result<void>& outcome);
    void challenged(const plugin::Problem& problem);
    bool reopen_authorized(const plugin::Problem& problem);
    Error auth_error(const plugin::Problem& problem, const std::optional<Error>& refused) const;
    void give_up_authorizing(RequestId id, Error error, unsigned http_status);

    // session_renewal
    void session_lost(RequestId id, const plugin::Problem& problem);
    void stream_lost_session();
    void renew_session();

    // requests
    RequestId request(Request request, ReplyHandler handler);
    // For requests of our own: sent at once whatever the state, the handler as above. A time-out of
    // 0: the limits that a caller's request of this method has.
    RequestId send_now(Request request, std::chrono::milliseconds timeout, ReplyHandler handler);
    void set_limits(PendingRequest& entry) const;
    void notify(std::string_view method, std::string_view members);
    void cancel(RequestId id, const std::string& reason);
    void tell_cancelled(const PendingRequest& pending, std::string_view reason);
    void expired(RequestId id);
    void finish(RequestId id, Result<Reply> outcome);
    // Started: what a server may have, or is refused by it and waits for something of ours.
    enum class Which { All, Started };
    void fail_all(const Error& error, Which which = Which::All);
    void use_log_level();
    void subscribe_again();

    // delivery
    bool modern(std::string_view method) const;
    void transmit(RequestId id, PendingRequest& pending);
    Result<void> headers_for(const Request& request, std::vector<plugin::Header>& headers) const;
    struct Outgoing {
        plugin::MessageKind kind;
        RequestId exchange;
        std::string body, method;
        std::vector<plugin::Header> headers;
    };
    void send_message(Outgoing&& message);
    void hand_over(Outgoing&& message);
    Result<plugin::Flow> pass_to_channel(Outgoing&& message);
    void refused(plugin::MessageKind kind, RequestId exchange, Error error);
    void flush_outbox();
    void resend(RequestId id);
    bool repeatable(const Request& request) const;
    void done(plugin::ExchangeId exchange, const plugin::Problem* problem);
    void headers_mismatch(RequestId id);

    // tool_list
    void list_tools(std::string cursor);
    void tools_listed(Result<Reply> reply);
    void tools_done(Result<void> outcome);
    void list_failed(Error error);
    void publish_tools();
    void tools_changed();  // the server says so
    bool may_be_called(const protocol::Tool& tool);

    // inbound
    void message(plugin::ExchangeId exchange, core::Buffer body);
    void batch(std::string_view text);
    void malformed(std::string_view body, const Error& error, plugin::ExchangeId exchange);
    void answer(const protocol::Envelope& envelope, plugin::ExchangeId exchange, core::Buffer body);
    void input_required(RequestId id, std::string_view result);
    void server_request(const protocol::Envelope& envelope, plugin::ExchangeId stream);
    void withdraw_questions(RequestId call);
    void answer_server(RequestId exchange, std::string body);
    void notification(const protocol::Envelope& envelope);
    void progress(std::string_view params);

    Error named(Error error) const;  // `server "x": ...`
    // Of what named() made.
    std::string without_name(const std::string& message) const;
    std::string with_strays(std::string text) const;  // what it said instead of MCP, at its start
    std::string with_stderr(std::string text) const;  // ` (stderr: ...)` appended
    void keep_line(bool stray, std::string_view line);

    Connection& self;
    const Context& context;
    registry::ServerSpec spec;
    State state = State::Idle;
    std::unique_ptr<plugin::Channel> channel;
    std::vector<plugin::Header> bearer;  // from bearer_token_env_var
    core::Secrets secrets;               // the same
    std::optional<AuthChoice> auth_choice;
    std::shared_ptr<plugin::Signer> signer = plugin::make_signer();
    std::unique_ptr<AuthLoop> auth;
    Result<AuthMethod> auth_method = AuthMethod{};  // expanded for this attempt
    bool preparing = false;           // settings or the plugin, before the channel is opened
    unsigned preparation = 0;         // tells this one's end from an abandoned one's
    bool asking_ahead = false;        // for credentials, before the channel is opened
    unsigned open_auth_rounds = 0;    // channels in a row that were refused
    unsigned stream_auth_rounds = 0;  // the same of background streams
    core::Clock::time_point stream_refused_at{};
    std::optional<protocol::Handshake> handshake;
    std::optional<protocol::Session> session;
    std::string meta;  // modern `_meta` members; empty in legacy
    PendingRequests pending;
    std::vector<RequestId> unsent;             // wait for Ready
    std::map<std::uint64_t, Outgoing> outbox;  // after PAUSE, in order
    std::uint64_t last_queued = 0;
    bool paused = false;
    ServerRequests server_requests{context.limits};
    RequestId last_id = 0;
    bool retried_without_probe = false;
    std::string try_first;    // revision for the next attempt only
    unsigned generation = 0;  // sessions agreed on so far

    std::string transport;              // in use, or tried now
    std::vector<std::string> tried;     // in this attempt, without success
    std::vector<std::string> failures;  // "http: why", one for each of them
    unsigned initialize_status = 0;     // HTTP status that refused `initialize`
    bool agreed = false;                // a handshake went through on this channel
    bool moving_on = false;             // the channel closes, the next transport follows
    std::chrono::milliseconds retry_after{0};

    std::vector<protocol::Tool> tools, listing;
    // Tools with arguments that go to headers.
    std::map<std::string, std::vector<protocol::HeaderParameter>> mirrored, listing_mirrored;
    unsigned list_round = 0;  // tells a page of an abandoned list from one of this
    std::set<std::string> cursors;
    std::size_t pages = 0, listing_bytes = 0;
    std::optional<core::Clock::time_point> tools_until;  // fresh until; none: stale
    std::optional<Error> tools_error;                    // of the last list
    std::int64_t listing_ttl_ms = -1;
    bool list_running = false;
    bool list_again = false;         // one of our calls needs a list that begins after this one
    bool changed_meanwhile = false;  // the server said so while it was listing
    unsigned listed_generation = 0;  // the session that `tools` come from
    unsigned relists = 0;            // in a row, because the server said that its tools changed
    core::Clock::time_point listed_at{};
    core::Loop::TimerId relist_timer = 0;
    std::vector<std::function<void(Result<void>)>> list_waiters;

    std::string log_level;                // wanted; empty: the server's own
    std::set<std::string> subscriptions;  // resource URIs wanted, in every session
    RequestId listen_id = 0;
    core::Loop::TimerId listen_timer = 0;
    core::Clock::time_point listen_at{};
    unsigned short_listens = 0;  // in a row

    std::vector<std::function<void()>> settled, closed;
    bool closing = false;
    bool retired = false;                      // closes with the last request of a caller
    std::unique_ptr<StartQueue::Place> place;  // while it starts, or waits to
    core::Loop::TimerId startup_timer = 0, silence_timer = 0, reconnect_timer = 0, health_timer = 0;
    unsigned attempts = 0, misses = 0;
    bool heard = false;                 // since the last health check
    bool answered_late = false;         // or never, on this channel
    bool spoke = false;                 // anything at all, on this channel
    std::optional<Error> lost_because;  // why we closed the channel ourselves
    bool lost_when_ready = false;
    core::Clock::time_point failed_at{}, ready_at{};

    Status shown;  // the parts that only change here
    std::deque<std::string> stderr_tail;
    std::uint64_t strays_before = 0;  // of shown.stray_lines: those of earlier channels
    std::string first_stray;          // of this channel, printable
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for work deferred to the loop
};

}  // namespace patchbay::connection
