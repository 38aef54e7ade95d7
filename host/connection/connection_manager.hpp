// Keeps one Connection for every enabled server, and nothing else.
//
// Owns:    the connections. Borrows everything in Context, which must outlive it.
// Threads: [loop] throughout; other threads reach it by Loop::post.
// Errors:  a server that will not connect is no error of the manager; ask its status().
// Limits:  however a connection comes to start, by connect(), a request, a refreshed list or after a
//          loss, it queues with the others: core::Limits local_starts and remote_starts.
#pragma once

#include "connection/connection.hpp"
#include "registry/server_spec.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::connection {

class ConnectionManager {
public:
    explicit ConnectionManager(const Context& context);
    ~ConnectionManager();  // abandons what is still open; see close()
    ConnectionManager(const ConnectionManager&) = delete;

    // Makes the connections match `wanted`: opens nothing by itself, closes the gone, reopens the
    // changed that were open, tells the rest their rules and time-outs. Calls in flight go on, those
    // of what is gone or changed at the old connection, which closes with the last of them.
    void apply(const std::vector<registry::ServerSpec>& wanted);

    // Starts connecting these servers (all when empty).
    // `settled` is called once when each of them is ready or has failed its first attempt.
    void connect(std::vector<std::string> servers, std::function<void()> settled);

    // The connection to `server`, good until the next apply(); NotFound offers the nearest name.
    Result<std::reference_wrapper<Connection>> find(std::string_view server);

    core::Loop& loop() const;              // the one all of them run on
    const core::Limits& limits() const;    // as they have them
    std::vector<std::string> ids() const;  // sorted
    std::vector<Status> statuses() const;  // sorted by id

    // Begins to close those that owe an answer, or did not give one in time.
    void close_late();
    // Closes every connection in parallel; `closed` is called when the last process is gone.
    void close(std::function<void()> closed);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::connection
