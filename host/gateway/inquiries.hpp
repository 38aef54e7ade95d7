// What a client is asked in the middle of its requests, by a server or for an approval: the way that its
// era has for that, or an answer in its stead where it cannot be asked.
//
// Owns:    what a legacy client is asked. Borrows all it is given.
// Threads: [loop].
// Source:  MCP 2025-11-25 client/*; 2026-07-28 basic/patterns/mrtr;
//          decisions/0035-what-a-client-is-shown.md.
#pragma once

#include "connection/responder.hpp"
#include "gateway/approvals.hpp"
#include "gateway/client_events.hpp"
#include "gateway/client_handshake.hpp"
#include "gateway/client_questions.hpp"
#include "gateway/request_outcomes.hpp"
#include "gateway/task_operations.hpp"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::gateway {

// The request of the modern era that `server`, one of `ids`, may be busy with and whose client can be
// asked this; 0: there is none, or it cannot be known whose client is meant.
RequestNumber request_to_ask_by(const ClientRequests& requests, const std::string& server,
                                const std::vector<std::string>& ids, const std::string& method,
                                const boost::json::object& params);

class Inquiries {
public:
    using Answer = connection::Caller::Answer;

    // `given`: what was approved for the session. `fallback` answers what servers ask and the client cannot. `approved`: for how long an approval
    // counts that came by a request of the modern era.
    Inquiries(const service::Servers& servers, connection::SessionApprovals& given,
              const ClientHandshake& client, const ClientRequests& requests,
              RequestOutcomes& outcomes, const ClientEvents& events, const TaskOperations& tasks,
              Outward& out, connection::Responder fallback, Lasting approved)
        : servers_(servers),
          client_(client),
          requests_(requests),
          outcomes_(outcomes),
          events_(events),
          tasks_(tasks),
          fallback_(std::move(fallback)),
          approved_(approved),
          questions_(servers.connections().loop(), out),
          approvals_(servers.config(), given) {}

    // As Caller::answer and Caller::approve.
    connection::Question answer(const std::string& server, const std::string& method,
                                const boost::json::object& params, Answer answer,
                                const connection::About& about);
    connection::Question approve(const connection::Approvable& wanted,
                                 connection::Caller::Decide decide);
    // A result or an error of a legacy client's.
    void take(const protocol::Envelope& answer);

private:
    // The user of the client, about that request to that server; nothing: it cannot be asked.
    std::optional<connection::Question> ask_about(RequestNumber request, const std::string& server,
                                                  const boost::json::object& form, Answer answer);

    const service::Servers& servers_;
    const ClientHandshake& client_;
    const ClientRequests& requests_;
    RequestOutcomes& outcomes_;
    const ClientEvents& events_;
    const TaskOperations& tasks_;
    const connection::Responder fallback_;
    const Lasting approved_;
    ClientQuestions questions_;
    Approvals approvals_;
};

}  // namespace patchbay::gateway
