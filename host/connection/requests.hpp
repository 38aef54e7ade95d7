// What we ask of the server, from the caller's hand to its end: bounds, deadlines, how one message
// leaves and with which headers, cancelling, and who waits for the next session.
//
// Owns:    the requests and their handlers, each called exactly once. Borrows all else.
// Threads: [loop].
// Errors:  every request ends with the server's answer, a time-out, or why it was lost.
// Limits:  core::Limits message_bytes, queue_messages, queue_bytes.
// Source:  decisions 6 and 12; MCP basic/utilities/cancellation.
#pragma once

#include "connection/context.hpp"
#include "connection/credentials.hpp"
#include "connection/link.hpp"
#include "connection/outbox.hpp"
#include "connection/own_requests.hpp"
#include "connection/pending_requests.hpp"
#include "connection/server_name.hpp"
#include "connection/supervisor.hpp"
#include "connection/tool_list.hpp"
#include "core/lifetime.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

// Who answers what the server asks meanwhile hears of our requests.
class RequestsWatcher {
public:
    // A caller's request has ended without its answer, of which `ended` is what is left.
    virtual void on_unanswered(RequestId id, const PendingRequest& ended) = 0;
    // An answer of ours to the server was not taken by the transport.
    virtual void on_answer_not_taken(RequestId exchange) = 0;

protected:
    ~RequestsWatcher() = default;
};

class Requests final : public OwnRequests, private OutboxOwner {
public:
    // What it borrows of its connection.
    struct Parts {
        const config::Server& server;
        const ServerName& name;
        const Supervisor& supervisor;
        const Credentials& credentials;
        const ToolList& tools;
        Link& link;
        RequestsWatcher& watcher;
        Loss& loss;
    };
    Requests(core::Loop& loop, const Terms& terms, const Parts& parts);

    // A caller's: sent when the connection is ready, otherwise when it is.
    RequestId add(CallerNumber caller, Request&& request, ReplyHandler&& handler);
    RequestId refuse(Error error, ReplyHandler&& handler);
    RequestId ask(Request request, std::chrono::milliseconds timeout,
                  ReplyHandler handler) override;
    void cancel(RequestId id, const std::string& reason) override;
    void notify(std::string_view method, std::string_view members);
    void respond(RequestId exchange, std::string body);

    // An id for something on the wire; ascending.
    RequestId next_id() { return ++last_id_; }
    RequestId last_id() const { return last_id_; }
    PendingRequests& pending() { return pending_; }
    const PendingRequests& pending() const { return pending_; }

    void finish(RequestId id, Result<Reply> outcome);
    // What its server said to it is no answer, or asks for what it does not get.
    void fail_unanswered(RequestId id, Error error);
    // Of a caller that goes: the server is told, the handlers are not.
    void drop_all_of(CallerNumber caller);
    // Calls back once callers have none left that has begun; there is one now.
    void drain(std::function<void()> drained) { drained_ = std::move(drained); }
    bool draining() const { return drained_ != nullptr; }
    // With this error, unless it has ended meanwhile; after whoever is calling.
    void finish_later(RequestId id, Error error);
    // Under a new number: what still comes for the old one is nobody's.
    void resend(RequestId id);
    // Of a tool whose annotations promise that a second run does no harm.
    bool repeatable(const Request& request) const;

    // Started: what a server may have, or is refused by it and waits for something of ours.
    enum class Which { All, Started };
    void fail_all(const Error& error, Which which = Which::All);
    void keep_waiting();  // what no server has goes out in the next session
    void forget_waiting() { unsent_.clear(); }
    void send_waiting();  // the session is there
    void begin_channel() { late_ = false; }
    void end_channel();
    void writable() { outbox_.writable(); }
    // Whether one was not answered in time on this channel.
    bool late() const { return late_; }

private:
    void transmit(RequestId id, PendingRequest& entry);
    Result<void> headers_for(const Request& request, std::vector<plugin::Header>& headers) const;
    void set_limits(PendingRequest& entry) const;
    void tell_cancelled(const PendingRequest& entry, std::string_view reason);
    void expired(RequestId id);
    PendingRequest take(RequestId id, bool answered);
    void on_queued(RequestId exchange, std::uint64_t place) override;
    void on_leaving(RequestId exchange) override;
    void on_not_taken(plugin::MessageKind kind, RequestId exchange, Error error) override;
    void on_overflow(Error error) override { parts_.loss.lose(std::move(error)); }

    core::Loop& loop_;
    const Terms& terms_;
    const Parts parts_;
    Link& link_;
    PendingRequests pending_;
    Outbox outbox_;
    std::vector<RequestId> unsent_;  // wait for Ready
    RequestId last_id_ = 0;
    bool late_ = false;
    std::function<void()> drained_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
