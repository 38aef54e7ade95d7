// The tools of the host itself, carried out for one client: they know what it is shown, and nothing
// else. Off unless [gateway] host_tools says so, and where the client is shown one server alone.
//
// Owns:    the client's conversations. Borrows all it is given.
// Threads: [loop].
// Errors:  for the model to read: results of the tool that say what is wrong.
// Limits:  HostTool: how much is found. kPageBytes of a page of resources, kRestartWait until a
//          restarted server is ready, or it is said that it is not yet.
#pragma once

#include "core/lifetime.hpp"
#include "gateway/arrival.hpp"
#include "gateway/client_conversations.hpp"
#include "gateway/host_tool_table.hpp"
#include "gateway/offered.hpp"
#include "gateway/replies.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

class HostTools {
public:
    static constexpr std::size_t kPageBytes = 256u << 10;
    static constexpr std::chrono::seconds kRestartWait{20};

    HostTools(const service::Servers& servers, connection::Caller& caller, const View& view,
              ClientRequests& requests, Offered& offered, Arrival& arrival,
              Conversations* conversations, Replies& replies)
        : servers_(servers),
          caller_(caller),
          view_(view),
          requests_(requests),
          offered_(offered),
          arrival_(arrival),
          replies_(replies),
          conversations_(conversations) {}

    // Null: this client is shown no such one.
    const HostTool* find(std::string_view name) const;
    std::vector<const HostTool*> shown() const;  // by their names
    // The request ends with what comes of it.
    void call(RequestNumber request, const HostTool& tool, std::string_view raw_arguments);

private:
    using Arguments = boost::json::object;

    bool shows(const HostTool& tool) const;
    void carry_out(RequestNumber request, HostTool::Does what, const Arguments& arguments);
    void tell_status(RequestNumber request, const Arguments& arguments);
    void restart(RequestNumber request, const std::string& server);
    void restart_now(RequestNumber request, const std::string& server);
    void search(RequestNumber request, const Arguments& arguments);
    void list_resources(RequestNumber request, const Arguments& arguments);
    void tell_resources(RequestNumber request, const Arguments& arguments,
                        const std::vector<Offered::Item>& items);
    void find_resource(RequestNumber request, const std::string& uri);
    void read_resource(RequestNumber request, const Offered::Owner& owner);
    void tell_contents(RequestNumber request, const connection::Reply& reply);
    void talk(RequestNumber request, HostTool::Does what, const Arguments& arguments);

    using Counts = std::map<std::string, std::size_t>;  // of tools, by server
    Counts tool_counts() const;                         // that this client can call
    boost::json::object status_of(const std::string& server, const Counts& tools) const;
    Result<std::string> server_in(const Arguments& arguments) const;  // of the view
    void finish(RequestNumber request, const std::string& raw_structured);
    void fail(RequestNumber request, const Error& error);

    const service::Servers& servers_;
    connection::Caller& caller_;
    const View& view_;
    ClientRequests& requests_;
    Offered& offered_;
    Arrival& arrival_;
    Replies& replies_;
    ClientConversations conversations_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
