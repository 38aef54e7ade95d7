// What follows when the exchange of a request ends without its answer: it is sent again where that
// does no harm, after credentials were asked for or a session was renewed, or it ends with an error
// that says what is known.
//
// Threads: [loop]. Borrows all it is given.
// Errors:  of the request, or of the connection by lose().
// Limits:  once after a broken stream, once after a lost session, Credentials::kMostRounds after a
//          refusal.
// Source:  decisions 6 and 12.
#pragma once

#include "connection/credentials.hpp"
#include "connection/greeting.hpp"
#include "connection/link.hpp"
#include "connection/requests.hpp"
#include "connection/server_name.hpp"
#include "connection/supervisor.hpp"
#include "connection/tool_list.hpp"
#include "core/lifetime.hpp"

namespace patchbay::connection {

class RefusalsOwner {
public:
    // A legacy HTTP server that restarted has forgotten its session: one new handshake on the same
    // channel serves everybody who met that.
    virtual void renew_session() = 0;
    // Somebody may be asked to sign in; and what came of it, before anything goes out again.
    virtual void on_asking() = 0;
    virtual void on_asked() = 0;

protected:
    ~RefusalsOwner() = default;
};

class Refusals {
public:
    struct Parts {
        const core::TimeSource& time;
        const config::Server& server;
        const ServerName& name;
        const Supervisor& supervisor;
        Link& link;
        Requests& requests;
        Credentials& credentials;
        ToolList& tools;
        Greeting& greeting;
        RefusalsOwner& owner;
        Loss& loss;
    };
    explicit Refusals(const Parts& parts);

    // Null problem: the exchange went well, as far as the transport knows.
    void done(plugin::ExchangeId exchange, const plugin::Problem* problem);
    // The background stream was refused.
    void challenged(const plugin::Problem& problem);
    // Our idea of the tool's schema is out of date: the list is read again, then it is asked once
    // more.
    void headers_mismatch(RequestId id);

private:
    void broken(RequestId id, const plugin::Problem* problem);
    void greeting_ended(RequestId id, const plugin::Problem* problem);
    void session_lost(RequestId id, const plugin::Problem& problem);
    void own_session_lost(RequestId id, const plugin::Problem& problem);
    void unauthorized(RequestId id, const plugin::Problem& problem);
    void asked(RequestId id, const plugin::Problem& problem, const Result<void>& outcome);
    void authorized(const Result<void>& outcome);
    void give_up(RequestId id, Error error, unsigned http_status);
    bool is_in_use() const;
    bool is_out_of_reach(RequestId id, const Error& error) const;
    void lose_unsent(RequestId id, const Error& error);
    // Of a tool whose annotations promise that a second run does no harm, and whose server is not untrusted.
    bool repeatable(const Request& request) const;

    const Parts parts_;
    PendingRequests& pending_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
