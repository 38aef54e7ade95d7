// What a client of the modern era does with tasks: calls of tools that their servers answer with one, where
// the client has said that it takes them, and what it asks of a task later, of the server that has it.
//
// Keeps nothing: the name of a task says whose it is (task_names.hpp).
//
// Borrows: all it is given.
// Threads: [loop].
// Limits:  kMostIdBytes of what a server calls a task.
// Errors:  handed to Replies. Denied: the client has not said that it takes tasks. Invalid: no task of this
//          client's. Protocol: the server began one that cannot be told of.
// Source:  SEP-2663; decisions/0038-tasks-are-a-sessions.md.
#pragma once

#include "core/lifetime.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/replies.hpp"
#include "gateway/task_names.hpp"
#include "gateway/view.hpp"
#include "service/servers.hpp"

#include <string>
#include <utility>

namespace patchbay::gateway {

class TaskExtension {
public:
    static constexpr std::size_t kMostIdBytes = 512;

    TaskExtension(const service::Servers& servers, connection::Caller& caller, const View& view,
                  ClientRequests& requests, Replies& replies, TaskNames names)
        : servers_(servers),
          caller_(caller),
          view_(view),
          requests_(requests),
          replies_(replies),
          names_(std::move(names)) {}

    // Whether a server that is shown has tasks, or may have them as far as is known.
    bool any() const;
    // False: no such method.
    bool start(RequestNumber request, const protocol::Params& params);
    // That call has become a task.
    void on_begun(RequestNumber request, connection::Reply reply);
    const TaskNames& names() const { return names_; }
    // False: its client does not take tasks, and is told so.
    bool takes_them(RequestNumber request);

private:
    void name(RequestNumber request, const std::string& server, const connection::Reply& reply);
    void on_answer(RequestNumber request, const TaskNames::Task& task,
                   Result<connection::Reply> reply);

    const service::Servers& servers_;
    connection::Caller& caller_;
    const View& view_;
    ClientRequests& requests_;
    Replies& replies_;
    const TaskNames names_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
