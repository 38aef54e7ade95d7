// What a legacy client does with tasks: calls of tools that its servers carry out as such, and what it
// asks of them later, each at the server that has it.
//
// Whether a tool may be called so is its server's to say; only that the server has tasks at all is looked
// at here, for it is we who tell the client so.
//
// Owns:    which tasks there are. Borrows all it is given.
// Threads: [loop].
// Limits:  those of ClientTasks; of a list kPage tasks, and none that is longer than kListedBytes: who
//          asks for that one gets it whole.
// Errors:  handed to Replies. Unsupported: the server has no tasks. Invalid: no task of this session.
// Source:  MCP 2025-11-25 basic/utilities/tasks; decisions/0038-tasks-are-a-sessions.md.
#pragma once

#include "core/lifetime.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/client_tasks.hpp"
#include "gateway/replies.hpp"
#include "service/servers.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class TaskOperations {
public:
    static constexpr std::size_t kPage = 32;  // tasks, each of which its server is asked for
    static constexpr std::size_t kListedBytes = 64u << 10;  // of one of them

    TaskOperations(const service::Servers& servers, connection::Caller& caller, const View& view,
                   ClientRequests& requests, Replies& replies, TaskClaims* claims)
        : servers_(servers),
          caller_(caller),
          view_(view),
          requests_(requests),
          replies_(replies),
          claims_(claims),
          tasks_(view) {}

    // `call` is made once its server is known to have tasks; its answer comes to what it is given.
    void begin(RequestNumber request, const std::string& tool,
               std::function<void(connection::ReplyHandler)> call);
    // False: no such method.
    bool start(RequestNumber request, const protocol::Params& params);

    // What that server tells unasked, in the client's words. Empty: it is not about a task of ours.
    std::string status_for_client(const std::string& server, std::string_view params);
    std::string for_client(const std::string& server, std::string_view params) const;
    // For a client that is asked what `params` say: its answer names the task as the server does.
    connection::Caller::Answer answer_for(std::string_view params,
                                          connection::Caller::Answer answer) const;

private:
    void call_at(RequestNumber request, const std::string& server,
                 const std::function<void(connection::ReplyHandler)>& call);
    void on_begun(RequestNumber request, const std::string& server,
                  Result<connection::Reply> reply);
    void ask(RequestNumber request, const protocol::Params& params);
    void on_answer(RequestNumber request, const std::string& server,
                   Result<connection::Reply> reply);
    void list(RequestNumber request, const protocol::Params& params);

    // And no other session's since.
    bool is_ours(const ClientTasks::Task& task) const;
    const connection::Connection* connection_to(const std::string& server) const;

    core::Clock::time_point now() const { return servers_.connections().loop().now(); }

    const service::Servers& servers_;
    connection::Caller& caller_;
    const View& view_;
    ClientRequests& requests_;
    Replies& replies_;
    TaskClaims* const claims_;  // null: no other session shares its connections
    ClientTasks tasks_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
