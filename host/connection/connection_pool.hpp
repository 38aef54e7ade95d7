// The one way to a connection: every caller's use of a server goes through a lease, which lasts from
// its first use of that server until the caller goes. By the server's `mode` the connection is one
// for all callers, or the caller's own.
//
// Owns:    the connections. Borrows everything in Context, which must outlive it.
// Threads: [loop] throughout; other threads reach it by Loop::post.
// Errors:  a server that will not connect is no error of the pool; ask its status().
// Limits:  however a connection comes to start, by connect(), a request, a refreshed list, as a spare
//          or after a loss, it queues with the others: core::Limits local_starts and remote_starts.
//          Of one server there are at most connections_per_server; those of one definition start as
//          its Starts say.
// Source:  decisions/0022-whose-a-connection-is.md.
#pragma once

#include "connection/server_connections.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

class ConnectionPool final : CallersWatcher {
public:
    explicit ConnectionPool(const Context& context);
    ~ConnectionPool();  // abandons what is still open; see close()
    ConnectionPool(const ConnectionPool&) = delete;

    // Makes the connections match `wanted`: opens nothing by itself but spares, closes those of what is
    // gone, reopens those of the changed that were open, tells the rest their rules and time-outs.
    // Calls in flight go on, those of what is gone or changed at the old connection, which closes
    // with the last of them. From inside another apply(), by whoever hears of what that ends, it
    // happens when that one is through, in the same turn; of several the newest alone.
    void apply(std::vector<registry::ServerSpec> wanted);

    // The connections of that server, good until the apply() that takes it away; NotFound offers the
    // nearest name.
    Result<std::reference_wrapper<ServerConnections>> find(std::string_view server);
    // ServerConnections::lease() of it.
    Result<std::reference_wrapper<Connection>> lease(std::string_view server, const Caller& caller);
    // Null: the caller has none there.
    const Connection* held(std::string_view server, CallerNumber caller) const;

    // Starts connecting the caller to these servers (all when empty).
    // `settled` is called once when each of them is ready or has failed its first attempt.
    void connect(const Caller& caller, std::vector<std::string> servers,
                 std::function<void()> settled);

    // Who is asked before a request goes out in another session than the one it was judged for; null: nobody.
    void judge_resends(ResendJudge* judge) { context_.resends = judge; }

    // What every server is told from its next handshake on that its clients can do.
    void offer(boost::json::object capabilities);
    // The same, as catalogue::Items have it.
    std::string declared() const;

    // Under which sandbox clients run programs: one JSON object, or null for none. Told to each server that declares
    // `codex/sandbox-state`, now and in every session to come (SandboxUpdates); which are told now, sorted. Invalid,
    // Limit: it is none, and the one before stays.
    Result<std::vector<std::string>> set_sandbox_state(std::string_view state);
    std::string sandbox_state() const;  // as JSON text

    // Names of clients' headers that go on to one of them at least; in lower case, each once.
    const std::vector<std::string>& forwarded_headers() const { return forwarded_headers_; }

    core::Loop& loop() const;              // the one all of them run on
    const core::Limits& limits() const;    // as they have them
    std::vector<std::string> ids() const;  // sorted
    std::vector<Status> statuses() const;  // one a server, sorted by id
    // Puts to the status of a server that there is no more, or not now, what it has cost this host.
    void count_past(Status& status) const { departures_.count_in(status); }

    // Begins to close those that owe an answer, or did not give one in time.
    void close_late();
    // Closes every connection in parallel; `closed` is called when the last process is gone. No other
    // is opened.
    void close(std::function<void()> closed);

private:
    void on_leaving(Caller& caller) override;
    void move_to(const std::vector<registry::ServerSpec>& wanted);
    std::vector<Connection*> all() const;  // also those that are leaving; good for this turn

    Context context_;
    std::uint64_t last_connection_ = 0;
    StartQueue local_, remote_;  // apart: a remote server that hangs never holds a local one back
    std::vector<registry::ServerSpec> specs_;
    std::vector<std::string> forwarded_headers_;             // of all of them
    std::optional<std::vector<registry::ServerSpec>> next_;  // not applied yet
    bool applying_ = false;
    Departures departures_;
    std::map<std::string, std::unique_ptr<ServerConnections>, std::less<>> servers_;
    bool closing_ = false;
};

}  // namespace patchbay::connection
