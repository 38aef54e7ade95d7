// What is asked of one server in its own words and calls no tool: judged, put to the caller where a rule wants that, and
// sent once the server is there. Internal to this room.
//
// Borrows all it is given, which must outlive it; `alive` says whether the router does.
// Threads: [loop]. Errors: end the request: Denied, Invalid, Unsupported, or the server's own trouble.
#pragma once

#include "router/approvals.hpp"
#include "router/pin_guard.hpp"
#include "router/server_rules.hpp"

#include <memory>
#include <string>
#include <utility>

namespace patchbay::router {

class RequestRouter {
public:
    RequestRouter(connection::Callers& callers, connection::ConnectionPool& pool,
                  const ServerRules& rules, const Definitions& definitions, Flights& flights,
                  const Approvals& approvals, const PinGuard& guard,
                  std::shared_ptr<const bool> alive)
        : callers_(callers),
          pool_(pool),
          rules_(rules),
          definitions_(definitions),
          flights_(flights),
          approvals_(approvals),
          guard_(guard),
          alive_(std::move(alive)) {}

    void send(CallId id, connection::Caller& caller, ServerRequest& request) const;
    // The same without sending it: the reply is empty.
    void permit(CallId id, connection::Caller& caller, ServerRequest& request) const;

    // As connection::ResendJudge, of what calls no tool.
    std::optional<Error> refuses(const connection::Caller& caller, const std::string& server,
                                 const connection::Request& request) const;

private:
    // By the rules of now, and by what was approved of what it asks for.
    ServerRules::Judgement judged(core::Trust trust, const ServerRequest& request) const;
    // `then`, once it is noted what a person uses of its server for the first time.
    template <class Then>
    void note_use(CallId id, connection::Caller& caller, ServerRequest& request, Consent consent,
                  Then then) const;
    template <class Then>
    void judge(CallId id, connection::Caller& caller, ServerRequest& request, Then then) const;
    void bring_up_and_send(CallId id, connection::Caller& caller, ServerRequest& request,
                           bool approved) const;
    void on_connected(CallId id, ServerRequest& waiting, bool approved,
                      const std::string& definition) const;
    void send_to(connection::Connection& target, CallId id, connection::Caller& caller,
                 ServerRequest& request) const;
    void wish(connection::Connection& target, CallId id, connection::Caller& caller,
              const ServerRequest& request) const;

    connection::Callers& callers_;
    connection::ConnectionPool& pool_;
    const ServerRules& rules_;
    const Definitions& definitions_;
    Flights& flights_;
    const Approvals& approvals_;
    const PinGuard& guard_;
    const std::shared_ptr<const bool> alive_;
};

}  // namespace patchbay::router
