// Patchbay as the MCP server of one client, without I/O: a listener feeds it what came, it says what
// to send. It speaks both eras side by side: `initialize` begins a session of the legacy one, a
// request that names its revision in `_meta` stands for itself.
//
// What the client asks goes to the servers in its own name (Caller), and what they say meanwhile
// comes back to it alone.
//
// What it says of itself is ClientHandshake's, how its requests end RequestOutcomes', what it is asked
// Inquiries', and what it may ask for Operations'; here each message finds its way to them.
//
// Owns:    those, and the requests in flight. Borrows all it is given, which must outlive it.
// Threads: [loop].
// Errors:  told to the client, as JSON-RPC errors; what makes no sense ends nothing.
// Limits:  Parts::most_requests in flight.
// Source:  MCP 2025-11-25 basic/lifecycle; 2026-07-28 basic/index, server/discover.
#pragma once

#include "gateway/arrival.hpp"
#include "gateway/client_events.hpp"
#include "gateway/client_handshake.hpp"
#include "gateway/incoming.hpp"
#include "gateway/inquiries.hpp"
#include "gateway/operations.hpp"
#include "gateway/request_outcomes.hpp"
#include "gateway/task_extension.hpp"
#include "gateway/task_operations.hpp"
#include "gateway/task_streams.hpp"

#include <string>
#include <string_view>

namespace patchbay::gateway {

class ClientSession final : public connection::Caller {
public:
    struct Parts {
        connection::Callers& callers;
        const service::Servers& servers;
        catalogue::Catalogue& catalogue;
        Outward& out;
        View view = {};
        std::size_t most_requests = ClientRequests::kMost;  // in flight
        // There is no client but this: servers are told what it can.
        bool alone = true;
        WishKeeper* keeper = nullptr;  // null: what a legacy client wished ends with the session
        // Whoever comes says its era with each request: several clients share this, and what one of them
        // says of itself, as `initialize` does, would be said of all.
        bool modern_alone = false;
        Conversations* conversations = nullptr;  // null: the host is no agent itself
        TaskClaims* task_claims = nullptr;       // null: no other session has its connections
        std::string state_key = {};  // of RequestStates; empty: one of this session alone
    };
    // `fallback` answers what servers ask and the client cannot. `version`: our own.
    ClientSession(const Parts& parts, core::Principal principal, connection::Responder fallback,
                  std::string version);
    ~ClientSession() override;

    // One that has come, whole; `with`: what of the head that brought it goes on.
    void take(std::string_view message, Route from = 0, const CarriedHead& with = {});
    void take(const Incoming& message, Route from);  // the same, where it was read before
    // No message can be read out of what has come.
    void take_unreadable(const Error& why);
    // Nobody waits for answers by that route any more.
    void abandon(Route route);
    // Whether more requests may come.
    bool full() const { return requests_.size() >= most_requests_; }
    bool waits_by(Route route) const { return requests_.any_by(route); }  // somebody does

    const ClientHandshake& handshake() const { return handshake_; }
    // It goes on where another session of that client was.
    void go_on_as(const std::string& revision, const boost::json::object& capabilities,
                  SessionWishes wishes = {});
    const SessionWishes& wishes() const { return wishes_.all(); }
    // Nothing is owed to the client but what streams may bring.
    bool idle() const { return requests_.size() == events_.listeners().all().size(); }
    // What it is shown from now on; it is told that its lists are others. What it has asked goes on.
    void show(View view);
    // Its streams end, each with a word.
    void end_streams();
    void end_streams_by(Route route);  // those that were asked for by that one

private:
    void take_one(std::string_view message, Route from, const CarriedHead& with);
    void answer_at_once(std::string_view method, gateway::Answer answer, Route to);
    void take_request(const Incoming& message, Route from);
    void take_notification(const protocol::Envelope& envelope, Route from);
    void take_cancellation(std::string_view params, Route from);
    void begin(ClientRequest request, const protocol::Params& params);
    void initialize(const std::string& id, const protocol::Params& params, Route from);
    void cancel(RequestNumber request, const std::string& reason);
    void end_stream(RequestNumber request, const std::string& why);
    void on_joined(const std::string& server);

    // Caller
    void notify(const std::string& server, const std::string& method, std::string_view params,
                connection::Reference about) override;
    connection::Question answer(const std::string& server, const std::string& method,
                                const boost::json::object& params, Answer answer,
                                const connection::About& about) override;
    connection::Question approve(const connection::Approvable& wanted, Decide decide) override;
    // Of several who share it none speaks for all: what one cannot, it is not asked.
    const boost::json::object* declares() const override {
        return modern_alone_ ? nullptr : handshake_.declared();
    }

    const service::Servers& servers_;
    Outward& out_;
    View view_;
    const std::size_t most_requests_;
    const bool modern_alone_;
    bool came_back_ = false;
    // Each borrows some of those above it.
    const Instructions instructions_;
    ClientHandshake handshake_;
    ClientRequests requests_;
    RequestOutcomes outcomes_;
    Offered offered_;
    Arrival arrival_;
    ClientWishes wishes_;
    ClientEvents events_;
    TaskOperations tasks_;
    TaskExtension extension_;
    TaskStreams task_streams_;
    Inquiries inquiries_;
    Operations operations_;
};

}  // namespace patchbay::gateway
