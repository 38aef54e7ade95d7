// What we ask of the server, from the caller's hand to its end: bounds, deadlines, cancelling, and who
// waits for the next session. How it leaves is its Delivery's.
//
// Owns:    the requests and their handlers, each called exactly once. Borrows all else.
// Threads: [loop].
// Errors:  every request ends with the server's answer, a time-out, or why it was lost.
// Limits:  core::Limits message_bytes, queue_messages, queue_bytes.
// Source:  decisions 6 and 12; MCP basic/utilities/cancellation.
#pragma once

#include "connection/context.hpp"
#include "connection/delivery.hpp"
#include "connection/link.hpp"
#include "connection/own_requests.hpp"
#include "connection/pending_requests.hpp"
#include "connection/server_name.hpp"
#include "connection/supervisor.hpp"
#include "core/lifetime.hpp"

#include <string>
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

class Requests final : public OwnRequests, private DeliveryOwner {
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
        ResendJudge* const& resends;  // null: all may
    };
    Requests(core::Loop& loop, const Terms& terms, const Parts& parts);

    // A caller's: sent when the connection is ready, otherwise when it is.
    RequestId add(CallerNumber caller, Request&& request, ReplyHandler&& handler);
    RequestId refuse(Error error, ReplyHandler&& handler);
    RequestId ask(Request request, std::chrono::milliseconds timeout,
                  ReplyHandler handler) override;
    void cancel(RequestId id, const std::string& reason) override;

    Delivery& delivery() { return delivery_; }
    PendingRequests& pending() { return pending_; }
    const PendingRequests& pending() const { return pending_; }

    void finish(RequestId id, Result<Reply> outcome);
    // What its server said to it is no answer, or asks for what it does not get.
    void fail_unanswered(RequestId id, Error error);
    // Those of callers that listen: they have no end of their own.
    void end_streams(const std::string& why);
    // Of a caller that goes: the server is told, the handlers are not.
    void drop_all_of(CallerNumber caller);
    // Under a new number: what still comes for the old one is nobody's.
    void resend(RequestId id);

    // Started: what a server may have, or is refused by it and waits for something of ours. OfOneThatWas: all of a server that
    // was there, each told whether that may have it.
    enum class Which { All, Started, OfOneThatWas };
    void fail_all(const Error& error, Which which = Which::All);
    void keep_waiting();  // what no server has goes out in the next session
    void send_waiting();  // the session is there
    void end_channel();

private:
    void expired(RequestId id);
    bool ends_refused(RequestId id, const PendingRequest& entry);
    PendingRequest take(RequestId id, bool answered);
    void wait_for_session(RequestId id) override { unsent_.push_back(id); }
    void finish_later(RequestId id, Error error) override;
    void on_answer_not_taken(RequestId exchange) override {
        parts_.watcher.on_answer_not_taken(exchange);
    }

    core::Loop& loop_;
    const core::Limits& limits_;
    const Parts parts_;
    PendingRequests pending_;
    Delivery delivery_;
    std::vector<RequestId> unsent_;  // wait for Ready
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
