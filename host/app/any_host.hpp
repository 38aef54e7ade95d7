// What a verb asks of a host: its own, or the one that runs. With either it shows the same.
//
// Threads: [loop]. Handlers are called exactly once, never from inside the call itself.
// Errors:  those of the services; of a host that has gone in the middle also Unavailable.
#pragma once

#include "connection/reply.hpp"
#include "router/router.hpp"
#include "service/statuses.hpp"
#include "service/things.hpp"
#include "service/tools.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::app {

// Resources, templates or prompts that servers list, on their way. Dropped, nothing more is told.
class AnyListing {
public:
    virtual ~AnyListing() = default;
    virtual service::ThingList so_far() const = 0;
    virtual std::vector<std::string> silent() const = 0;  // who owes an answer
    // Tells what is there; whoever has not answered by now is named as interrupted.
    virtual void cut_short() = 0;
};

class AnyHost {
public:
    virtual ~AnyHost() = default;

    // Connects these servers, all when empty; `settled` when each is ready or has failed.
    virtual void connect(const std::vector<std::string>& servers,
                         std::function<void()> settled) = 0;
    virtual std::vector<connection::Status> statuses() = 0;
    // Those of `servers` that have to be asked before it is known which tools they have.
    virtual std::vector<std::string> unknown(const std::vector<std::string>& servers) = 0;
    // Has them asked, connected first; `settled` when each has listed its tools or has failed.
    virtual void ask_for_tools(const std::vector<std::string>& servers, service::Ask ask,
                               std::function<void()> settled) = 0;
    // What these servers have listed by now, all when empty; good until it is asked again. `ask`: as they were asked.
    virtual service::ToolList tools(const std::vector<std::string>& servers, service::Wait wait,
                                    service::Ask ask) = 0;
    virtual void find_tool(const std::string& name, std::chrono::milliseconds timeout,
                           std::function<void(Result<router::ListedTool>)> found) = 0;
    virtual router::CallId call(router::Call call, connection::ReplyHandler handler) = 0;
    // `server` empty: of all. `done` once.
    virtual std::shared_ptr<AnyListing> list_things(service::Kind kind, const std::string& server,
                                                    service::ThingListing::Servers which,
                                                    service::ThingListing::Done done) = 0;
    virtual router::CallId request(router::ServerRequest request,
                                   connection::ReplyHandler handler) = 0;
    virtual void cancel(router::CallId id, const std::string& why) = 0;
    // Rules that match no tool of the servers that were asked for, as `warning: ...`.
    virtual std::vector<std::string> rule_warnings() = 0;
};

}  // namespace patchbay::app
