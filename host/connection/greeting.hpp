// Drives protocol::Handshake over the channel that is open: sends what it says, reports what comes,
// and keeps its clock.
//
// Threads: [loop]. Borrows all it is given.
// Errors:  to the connection, by lose().
// Source:  decisions 11 and 29.
#pragma once

#include "connection/context.hpp"
#include "connection/link.hpp"
#include "connection/own_requests.hpp"
#include "connection/pending_requests.hpp"
#include "connection/server_name.hpp"
#include "core/timer.hpp"

#include <string>

namespace patchbay::connection {

class GreetingOwner {
public:
    // In auto it may come twice: a server of both eras has settled on the other one after all.
    virtual void on_agreed(protocol::Session session) = 0;
    // The server takes no part in the legacy era, and never will in this session.
    virtual void on_modern_for_good() = 0;
    // A program that has just been started may say nothing for longer.
    virtual bool is_new_process() const = 0;
    virtual void on_handshake_refused(const std::string& method,
                                      const plugin::Problem* problem) = 0;
    virtual void on_handshake_failed(Error error) = 0;

protected:
    ~GreetingOwner() = default;
};

class Greeting {
public:
    Greeting(core::Loop& loop, const Terms& terms, const protocol::ClientIdentity& identity,
             const config::Server& server, const ServerName& name, Link& link,
             OwnRequests& requests, GreetingOwner& owner, Loss& loss);

    // `remembered`: the revision of last time, or empty; then `guess` is the era that is tried first.
    void prepare(const std::string& remembered, protocol::Era guess);
    void start();
    // Anything at all came from the server: its silence counts from the first time.
    void heard();
    // A request of the handshake has ended without an answer to it.
    void on_end(const std::string& method, const plugin::Problem* problem);
    void stop() { silence_.stop(); }

private:
    void drive(protocol::Handshake::Step step);
    void send(protocol::Handshake::Send send);
    void await_answer();
    void on_reply(const std::string& method, const Result<Reply>& reply);

    const Terms& terms_;
    const protocol::ClientIdentity& identity_;
    const config::Server& server_;
    const ServerName& name_;
    Link& link_;
    OwnRequests& requests_;
    GreetingOwner& owner_;
    Loss& loss_;
    bool heard_ = false;
    core::Timer silence_;
};

}  // namespace patchbay::connection
