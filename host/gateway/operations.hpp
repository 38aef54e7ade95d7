// What a client may ask for, carried out: judged and routed as what everybody asks.
//
// Owns:    the tools of the host itself, for this client. Borrows all it is given.
// Threads: [loop].
// Errors:  handed to Replies, as is every outcome, once for each request that is still there.
// Source:  MCP server/* of both eras.
#pragma once

#include "gateway/arrival.hpp"
#include "gateway/client_events.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/client_wishes.hpp"
#include "gateway/host_tools.hpp"
#include "gateway/offered.hpp"
#include "gateway/replies.hpp"
#include "gateway/task_extension.hpp"
#include "gateway/task_operations.hpp"
#include "gateway/task_streams.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class Operations {
public:
    // Of a page of tools; one that begins on it is told whole.
    static constexpr std::size_t kPageBytes = 4u << 20;

    Operations(const service::Servers& servers, connection::Caller& caller, const View& view,
               ClientRequests& requests, Offered& offered, Arrival& arrival, ClientWishes& wishes,
               ClientEvents& events, TaskOperations& tasks, TaskExtension& extension,
               TaskStreams& task_streams, Conversations* conversations, Replies& replies)
        : servers_(servers),
          caller_(caller),
          view_(view),
          requests_(requests),
          offered_(offered),
          arrival_(arrival),
          wishes_(wishes),
          events_(events),
          tasks_(tasks),
          extension_(extension),
          task_streams_(task_streams),
          replies_(replies),
          host_tools_(servers, caller, view, requests, offered, arrival, conversations, replies) {}

    // False: there is no such method in the request's era.
    bool start(RequestNumber request, const protocol::Params& params);
    // Its client wants no answer any more.
    void stop(const ClientRequest& request, RequestNumber number, const std::string& reason);

private:
    void call_tool(RequestNumber request, const protocol::Params& params);
    void on_called(RequestNumber request, Result<connection::Reply> reply);
    void list_tools(RequestNumber request, const std::string& after);
    void tell_tools(RequestNumber request, const std::string& after);
    void list_things(RequestNumber request, service::Kind kind);
    void reply_list(RequestNumber request, std::string members, const protocol::Caching& caching);
    void ask_owner(RequestNumber request, service::Kind kind, const protocol::Params& params,
                   std::string_view key);
    void complete(RequestNumber request, const protocol::Params& params);
    void listen(RequestNumber request, const protocol::Params& params);
    void log_level(RequestNumber request, const protocol::Params& params);
    void subscribe(RequestNumber request, const protocol::Params& params);
    void unsubscribe(RequestNumber request, const protocol::Params& params);
    void ask(RequestNumber request, const std::string& server, std::string members,
             connection::ReplyHandler on_reply = {});
    // The request that waits for `found` goes on with it.
    void find(RequestNumber request, service::Kind kind, const std::string& name,
              std::function<void(const Offered::Owner&)> found);

    const service::Servers& servers_;
    connection::Caller& caller_;
    const View& view_;
    ClientRequests& requests_;
    Offered& offered_;
    Arrival& arrival_;
    ClientWishes& wishes_;
    ClientEvents& events_;
    TaskOperations& tasks_;
    TaskExtension& extension_;
    TaskStreams& task_streams_;
    Replies& replies_;
    HostTools host_tools_;
};

}  // namespace patchbay::gateway
