// The host side of one server: era, handshake, pending requests, catalogue, state.
//
// Owns:    its channel and everything waiting on it. Borrows the Context, which must outlive it.
// Threads: [loop] throughout. Handlers are called from the loop, never from inside the call that
//          registered them, and may call back into the connection.
// Errors:  every request ends exactly once: with the server's answer, a time-out, or the reason the
//          connection was lost, at once and not by its time-out.
// Limits:  core::Limits queue_messages in flight and queue_bytes unanswered; over that a request
//          is refused with ErrorCode::Limit.
// Source:  MCP basic/lifecycle, basic/utilities/* (legacy), basic/patterns/* (2026-07-28).
#pragma once

#include "config/config.hpp"
#include "connection/era_memory.hpp"
#include "connection/reply.hpp"
#include "connection/responder.hpp"
#include "connection/start_queue.hpp"
#include "connection/status.hpp"
#include "core/loop.hpp"
#include "plugin/authenticator.hpp"
#include "plugin/channel.hpp"
#include "protocol/handshake.hpp"
#include "protocol/tool.hpp"
#include "registry/server_spec.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::connection {

// Hears what servers say unasked. Owned by whoever made the host.
class ServerEvents {
public:
    virtual ~ServerEvents() = default;
    // A notification other than progress and cancelled; raw params, empty when absent.
    virtual void on_notification(const std::string& server, const std::string& method,
                                 std::string_view params) = 0;
    // A line of stderr or a stray line of stdout. Any bytes.
    virtual void on_output(const std::string& server, bool stray, std::string_view line) = 0;
    virtual void on_state(const std::string& server, State state) = 0;
    virtual void on_tools_changed(const std::string& server) = 0;  // a new list is in tools()
};

struct AuthChoice {
    std::string name;    // `auth "github"`
    bool ahead = false;  // ask before the first request
};

// A server's settings without `${...}`, and how it is signed in to, when it is.
struct AuthMethod {
    std::string name;  // `oauth`
    boost::json::object settings;
};
struct Expanded {
    boost::json::object settings;
    Result<AuthMethod> auth = AuthMethod{};  // its error is told when somebody has to sign in
};

// What every connection of one host shares.
struct Context {
    core::Loop& loop;
    Responder& responder;
    ServerEvents& events;
    EraMemory& eras;
    protocol::ClientIdentity identity;
    config::HealthSettings health;
    core::Limits limits;
    // Health checks, list subscriptions and reconnecting; a one-shot command wants none of them.
    bool long_lived = true;
    // Opens a channel of that transport: Catalogue::open, or a fake. `events` outlives the channel.
    std::function<Result<std::unique_ptr<plugin::Channel>>(const std::string& transport,
                                                           plugin::ChannelOptions options,
                                                           plugin::ChannelEvents& events)>
        open;
    // `${...}` of a server's settings, just before it is opened. The handler is called once, from
    // within the call where nothing has to be waited for. [loop]
    std::function<void(const config::Server&, std::function<void(Result<Expanded>)>)> expand;
    // Whether a plugin provides that transport; empty: nobody asks.
    std::function<bool(const std::string& transport)> has_transport = {};
    // How a server is signed in to: what messages call it, and whether there is something to ask
    // for before it refuses. Nothing: not at all.
    std::function<std::optional<AuthChoice>(const config::Server&)> auth_of = {};
    // The authenticator of that choice: Catalogue::create_authenticator, or a fake.
    std::function<Result<std::unique_ptr<plugin::Authenticator>>(
        const config::Server&, const AuthMethod& method, std::shared_ptr<plugin::Signer> signer,
        plugin::AuthenticatorEvents& events)>
        authenticate = {};
    // An environment variable, for bearer_token_env_var.
    std::function<std::optional<std::string>(const std::string& name)> variable = {};
    plugin::Asking asking = plugin::Asking::Quiet;  // whether somebody is there to sign in
    // Between two subscriptions/listen: the floor, and where doubling stops.
    std::chrono::milliseconds listen_first{1'000}, listen_most{30'000};
    // What limits and pauses are measured by; tests turn it by hand.
    std::function<core::Clock::time_point()> now = core::Clock::now;
    // Between two lists of tools that a server asks for by saying that they changed.
    std::chrono::milliseconds relist_first = core::kRelistFirst, relist_most = core::kRelistMost;
    // Where servers queue to start; null: nobody waits.
    StartQueue* local_starts = nullptr;
    StartQueue* remote_starts = nullptr;
    // What `open` and `authenticate` would otherwise wait for: Catalogue::prepare_transport and
    // prepare_auth. `ready` is called once, within the call where there is nothing to wait for.
    // Empty: there never is.
    using Ready = std::function<void(Result<void>)>;
    std::function<void(const std::string& transport, Ready ready)> prepare = {};
    std::function<void(const AuthMethod& method, Ready ready)> prepare_auth = {};
};

class Connection final : private plugin::ChannelEvents {
public:
    Connection(const Context& context, registry::ServerSpec spec);
    ~Connection();  // ends every request with Unavailable, abandons an open channel
    Connection(const Connection&) = delete;

    const registry::ServerSpec& spec() const;
    // Other rules, time-outs and places of an equal spec: they count for what is asked and started
    // from now on.
    void amend(registry::ServerSpec spec);
    Status status() const;
    State state() const;

    // Whether the server owes an answer, or did not give one in time since it was started.
    bool late() const;

    // Begins to connect unless it is connecting or ready. `settled`: called once, when this attempt
    // ended, well or not.
    void connect(std::function<void()> settled);

    // Sends a request, connecting first when necessary. `handler` is called exactly once.
    RequestId request(Request request, ReplyHandler handler);
    // Tells the server, then ends the request with ErrorCode::Cancelled. Ended ones are ignored.
    void cancel(RequestId id, const std::string& reason = "");
    void notify(const std::string& method, const std::string& members);

    // Listed tools, filters of the config not applied. Stale or empty until Ready.
    const std::vector<protocol::Tool>& tools() const;
    // Calls back when tools() is fresh: at once, or after tools/list went through again; with
    // tools_error() when it may lack some.
    void refresh_tools(std::function<void(Result<void>)> fresh);
    // Why tools() may lack some: the last tools/list failed, or broke off. Null: it is whole.
    const Error* tools_error() const;

    // What was agreed; null until the handshake is through.
    const protocol::Session* session() const;

    // resources/subscribe and /unsubscribe in legacy, a reopened subscriptions/listen in modern.
    void subscribe(const std::string& uri, bool wanted, ReplyHandler handler);

    // logging/setLevel in legacy, `logLevel` in the `_meta` of every later request in modern; said
    // again to each session that follows. Connects first when necessary.
    void set_log_level(const std::string& level, ReplyHandler handler);

    // Ends requests with Unavailable, closes the channel; `closed` follows when it is gone.
    void close(std::function<void()> closed);
    // The same once the last request that has begun is ended, each within its own limits; what still
    // waits for Ready ends with it.
    void close_when_idle(std::function<void()> closed);

private:
    void on_opened() override;
    void on_message(plugin::ExchangeId exchange, core::Buffer body) override;
    void on_done(plugin::ExchangeId exchange, const plugin::Problem* problem) override;
    void on_writable() override;
    void on_challenge(const plugin::Problem& problem) override;
    void on_output(unsigned stream, std::string_view line) override;
    void on_fact(std::string_view name, std::string_view value) override;
    void on_closed(const plugin::Problem* problem) override;

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::connection
