// What a client may ask for, carried out: judged and routed as what everybody asks.
//
// Borrows all it is given. Threads: [loop].
// Errors:  handed to Replies, as is every outcome, once for each request that is still there.
// Source:  MCP server/* of both eras.
#pragma once

#include "gateway/arrival.hpp"
#include "gateway/client_events.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/offered.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::gateway {

// How a request ends. Whoever is told may find that it has ended already.
class Replies {
public:
    virtual void reply(RequestNumber request, std::string raw_result) = 0;
    virtual void refuse(RequestNumber request, const Error& error) = 0;
    virtual void pass_on(RequestNumber request, Result<connection::Reply> reply) = 0;
    virtual void tell_progress(RequestNumber request, const connection::Progress& progress) = 0;

protected:
    ~Replies() = default;
};

class Operations {
public:
    // Of a page of tools; one that begins on it is told whole.
    static constexpr std::size_t kPageBytes = 4u << 20;

    Operations(const service::Servers& servers, connection::Caller& caller, const View& view,
               ClientRequests& requests, Offered& offered, Arrival& arrival, ClientEvents& events,
               Replies& replies)
        : servers_(servers),
          caller_(caller),
          view_(view),
          requests_(requests),
          offered_(offered),
          arrival_(arrival),
          events_(events),
          replies_(replies) {}

    // False: there is no such method in the request's era.
    bool start(RequestNumber request, const protocol::Params& params);
    // Its client wants no answer any more.
    void stop(const ClientRequest& request, RequestNumber number, const std::string& reason);
    // How much servers log for this client; for those that come later too.
    void set_level(const std::string& level);
    void on_joined(const std::string& server);

private:
    void call_tool(RequestNumber request, const protocol::Params& params);
    void list_tools(RequestNumber request, const std::string& after);
    void list_things(RequestNumber request, service::Kind kind);
    void ask_owner(RequestNumber request, service::Kind kind, const protocol::Params& params,
                   std::string_view key);
    void complete(RequestNumber request, const protocol::Params& params);
    void listen(RequestNumber request, const protocol::Params& params);
    void log_level(RequestNumber request, const protocol::Params& params);
    void ask(RequestNumber request, const std::string& server, std::string members);
    void subscribe(const std::string& uri, std::function<void(bool)> done);
    void say_to_owner(const std::string& method, const std::string& uri,
                      std::function<void(bool)> done);
    void send_level(const std::string& server);
    // The request that waits for `found` goes on with it.
    void find(RequestNumber request, service::Kind kind, const std::string& name,
              std::function<void(const Offered::Owner&)> found);

    const service::Servers& servers_;
    connection::Caller& caller_;
    const View& view_;
    ClientRequests& requests_;
    Offered& offered_;
    Arrival& arrival_;
    ClientEvents& events_;
    Replies& replies_;
    std::string level_;                                     // empty: none was asked for
    std::map<std::uint64_t, service::Operation> searches_;  // for owners, by their number
    std::uint64_t last_search_ = 0;
};

}  // namespace patchbay::gateway
