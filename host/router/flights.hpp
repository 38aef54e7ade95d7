// What was asked of the router and has not ended. Internal to this room.
//
// Owns:    the handlers, each called exactly once, and what waits while its server starts. Borrows
//          the pool.
// Threads: [loop]. Handlers are never called from inside begin() .. send().
// Limits:  core::Limits queue_messages and queue_bytes of what one caller has waiting for one server:
//          what others wait for takes no place of its own.
#pragma once

#include "connection/connection_pool.hpp"
#include "router/receipt.hpp"
#include "router/record.hpp"
#include "router/router.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::router {

// Which of `servers` kept that caller waiting for so long.
Error too_late(const connection::ConnectionPool& pool, connection::CallerNumber caller,
               const std::vector<std::string>& servers, std::chrono::milliseconds timeout);

class Flights {
public:
    // `observer`: null where nobody counts.
    Flights(connection::ConnectionPool& pool, core::Observer* observer)
        : pool_(pool), recorder_(pool.loop(), observer) {}
    ~Flights() { *alive_ = false; }
    Flights(const Flights&) = delete;

    // `name`: of a tool, public; `server`: its id, where it is known.
    CallId begin(const connection::Caller& caller, std::string_view method, std::string_view name,
                 std::string_view server, connection::ReplyHandler handler);
    // It is about that tool of that server.
    void identify(CallId id, const std::string& public_name, const std::string& server,
                  const std::string& tool);
    // The rules have said so of it, with these arguments; `digest`: of what its server says of the tool.
    void judged(CallId id, const policy::Verdict& verdict, std::string_view arguments,
                std::string_view digest = {});
    // It goes to its server by another way than send(). False: it may not, and ends.
    bool tell_sent(CallId id);
    bool are_recorded() const { return recorder_.wanted(); }
    void note_subject(CallId id, std::string about);  // as core::AskedRequest has it
    // Of a call: it is told that it has begun; whose it will be, as far as that is certain.
    void announce(CallId id, std::string_view server, std::string_view tool);
    // `name`: what a person is asked about.
    void tell_approval(CallId id, std::string_view server, std::string_view name,
                       std::string_view step);
    // Who asked; 0: it has ended.
    connection::CallerNumber caller_of(CallId id) const;
    std::size_t size() const { return flights_.size(); }
    // How many each server has, by id; those that wait for one to start are at none.
    std::map<std::string, std::size_t> at_servers() const;

    // It waits for one of `servers` from now on, but not for ever; 0: it does.
    void bound(CallId id, core::Clock::time_point begun, std::chrono::milliseconds timeout,
               std::vector<std::string> servers);

    // It ends like that in so long, unless it is bounded already.
    void bound(CallId id, std::chrono::milliseconds most, Error error);

    void unbound(CallId id);

    // Somebody has approved of it, with arguments of that digest.
    void approve(CallId id, const connection::Approvable& wanted, std::string arguments);
    Receipt* receipt_of(CallId id);  // null: nobody had to

    // What it asks for waits with it until `server` has started, and goes where it goes. Empty: too
    // much waits already, and it ends.
    template <class T>
    std::weak_ptr<T> keep(CallId id, const std::string& server, std::size_t bytes, T asked) {
        if (!has_room(id, server, bytes)) return {};
        const auto kept = std::make_shared<T>(std::move(asked));
        hold(id, server, bytes, kept);
        return kept;
    }

    void send(CallId id, connection::Caller& caller, connection::Connection& target,
              connection::Request request);
    // Ends it with what comes, unless it has ended by then.
    connection::ReplyHandler end_with_reply(CallId id);
    void end_soon(CallId id, Error error);
    void cancel(CallId id, const std::string& reason);
    // Of a caller that goes: nobody is told. What was sent its connection cancels by itself.
    void drop_all_of(connection::CallerNumber caller);
    // Those that are there now; what comes after ends with none.
    void end_all(const Error& error);

private:
    // The connection is known once the server is.
    struct Flight {
        connection::CallerNumber caller = 0;
        connection::Connection* connection = nullptr;
        connection::RequestId request = 0;
        connection::ReplyHandler handler;
        core::Loop::TimerId timer = 0;  // until it is sent, from then on the connection's
        std::shared_ptr<void> kept;     // what is asked, while `waits_for` starts
        std::string waits_for;
        std::size_t bytes = 0;
        std::optional<Receipt> receipt;
        std::unique_ptr<Record> record;  // null: nobody wants to know
    };
    // Of flights without a connection.
    struct Load {
        std::size_t messages = 0, bytes = 0;
    };

    bool has_room(CallId id, const std::string& server, std::size_t bytes);
    void hold(CallId id, const std::string& server, std::size_t bytes, std::shared_ptr<void> kept);
    void release(Flight& flight);
    void stop_timer(Flight& flight);
    void end(CallId id, Result<connection::Reply> outcome);

    connection::ConnectionPool& pool_;
    const Recorder recorder_;
    std::unordered_map<CallId, Flight> flights_;
    using Waiting = std::pair<connection::CallerNumber, std::string>;  // and the server
    std::map<Waiting, Load> waiting_;                                  // where any do
    CallId last_id_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace patchbay::router
