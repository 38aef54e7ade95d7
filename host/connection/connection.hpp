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

#include "connection/context.hpp"
#include "connection/reply.hpp"
#include "connection/starts.hpp"
#include "connection/status.hpp"
#include "protocol/tool.hpp"
#include "registry/server_spec.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::connection {

// How a server is met.
struct Manner {
    protocol::Era preferred = protocol::Era::Modern;  // spoken with a server of both
    // What it is told that its one caller can; nothing: what Terms say.
    std::optional<boost::json::object> declares = {};
};

class Connection final {
public:
    // `starts`: those of this definition, over all of its connections.
    Connection(const Context& context, registry::ServerSpec spec,
               std::shared_ptr<Starts> starts = std::make_shared<Starts>(), Manner manner = {});
    ~Connection();  // ends every request with Unavailable, abandons an open channel
    Connection(const Connection&) = delete;

    const registry::ServerSpec& spec() const;
    // From now on it serves that caller, beside those whom it serves already.
    void give_to(CallerNumber caller);
    // What the caller has subscribed to at another connection, and its log level, hold here too.
    void take_over_wishes(CallerNumber caller, const Connection& from);
    // The caller goes: what it has asked is cancelled, its handlers are dropped uncalled, and what it
    // held is given back.
    void release(CallerNumber caller);
    // Other rules, time-outs and places of an equal spec: they count for what is asked and started
    // from now on.
    void amend(registry::ServerSpec spec);
    Status status() const;
    State state() const;

    // Whether the server owes an answer, or did not give one in time since it was started.
    bool late() const;

    // It is ready, and nobody has asked anything over it or wished for what it may say: whoever holds it would not tell it
    // from another one.
    bool unused() const;

    // Begins to connect unless it is connecting or ready. `settled`: called once, when this attempt
    // ended, well or not.
    void connect(std::function<void()> settled);
    // Whether one that is ready is still there, where only a request tells: `known` once it has answered, has not
    // in time, or is lost; of any other in the next turn.
    void check(std::function<void()> known);
    // As connect(), for nobody: not where a start has failed a moment ago.
    void warm_up();

    // Sends a request, connecting first when necessary. `handler` is called exactly once.
    // `caller`: who hears of what the server says meanwhile.
    RequestId request(Caller& caller, Request request, ReplyHandler handler);
    // Tells the server, then ends the request with ErrorCode::Cancelled. Ended ones are ignored.
    void cancel(RequestId id, const std::string& reason = "");
    void notify(const std::string& method, const std::string& members);
    // Context::sandbox_state is another. True: the server of this session wants to know.
    bool tell_sandbox_state();

    // Listed tools, filters of the config not applied. Stale or empty until Ready.
    const std::vector<protocol::Tool>& tools() const;
    // Calls back when tools() is fresh: at once, or after tools/list went through again; with
    // tools_error() when it may lack some.
    void refresh_tools(std::function<void(Result<void>)> fresh);
    // The same of a list that begins from now on, though tools() may be fresh.
    void read_tools_again(std::function<void(Result<void>)> fresh);
    // It is ready, and whoever lists its tools now does well to refresh them first.
    bool tools_due() const;
    // Why tools() may lack some: the last tools/list failed, or broke off. Null: it is whole.
    const Error* tools_error() const;
    // How long from now on what is listed may be kept, and for whom, as its server says.
    protocol::Caching tools_caching() const;

    // As it was opened, whatever its server speaks.
    const Manner& manner() const;
    // What its server was told or will be, as catalogue::Items have it.
    std::string declared() const;
    // What was agreed; null until the handshake is through.
    const protocol::Session* session() const;

    // resources/subscribe and /unsubscribe in legacy, a reopened subscriptions/listen in modern.
    // The server is subscribed to what any caller holds, once, for as long as one of them does.
    void subscribe(Caller& caller, const std::string& uri, bool wanted, ReplyHandler handler);

    // logging/setLevel in legacy, `logLevel` in the `_meta` of every later request in modern; said
    // again to each session that follows. Connects first when necessary. A legacy server is told the
    // level that tells most of those that callers want.
    void set_log_level(Caller& caller, const std::string& level, ReplyHandler handler);

    // Ends requests with Unavailable, closes the channel; `closed` follows when it is gone.
    void close(std::function<void()> closed);
    // The same once the last request that has begun is ended, each within its own limits, or its
    // channel is gone, which is not opened again; what still waits for Ready ends with it.
    void close_when_idle(std::function<void()> closed);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::connection
