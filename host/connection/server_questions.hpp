// What the server asks of its client in the legacy era, and what it gets: `ping`, and what the
// caller that it is meant for says of roots, sampling and elicitation.
//
// Owns:    the requests that are open. Borrows all else.
// Threads: [loop].
// Errors:  a JSON-RPC error to the server, also where it cannot be told who is meant; one that asks
//          without reading is given up.
// Limits:  those of ServerRequests.
// Source:  MCP client/roots, client/sampling, client/elicitation.
#pragma once

#include "connection/addressees.hpp"
#include "connection/context.hpp"
#include "connection/link.hpp"
#include "connection/requests.hpp"
#include "connection/server_name.hpp"
#include "connection/server_requests.hpp"
#include "core/lifetime.hpp"
#include "protocol/envelope.hpp"

#include <string>
#include <string_view>

namespace patchbay::connection {

class ServerQuestions final : public RequestsWatcher {
public:
    ServerQuestions(const Context& context, const ServerName& name, Link& link, Requests& requests,
                    Addressees& addressees, Loss& loss);

    // `stream`: the exchange that it came on; 0: there is but one stream.
    void ask(const protocol::Envelope& envelope, plugin::ExchangeId stream);
    // Of a call that ended without its answer: nobody is to type one that nothing waits for.
    void on_unanswered(RequestId call, const PendingRequest& ended) override;
    void on_answer_not_taken(RequestId exchange) override { done(exchange); }
    // The server wants no answer to its request any more.
    void withdraw(std::string_view wire_id) { open_.withdraw(wire_id); }
    void done(RequestId exchange) { open_.done(exchange); }  // it has left, or never will
    void clear() { open_.clear(); }                          // who asked is gone
    // Who was to answer goes: the server is told.
    void release(CallerNumber caller);

private:
    void answer(RequestId exchange, std::string body);

    const Context& context_;
    const ServerName& name_;
    Link& link_;
    Requests& requests_;
    Addressees& addressees_;
    Loss& loss_;
    ServerRequests open_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
