// What a verb asks of a host: its own, or the one that runs. With either it shows the same.
//
// Threads: [loop]. Handlers are called exactly once, never from inside the call itself.
// Errors:  those of the services; of a host that has gone in the middle also Unavailable.
#pragma once

#include "connection/reply.hpp"
#include "router/router.hpp"
#include "service/statuses.hpp"
#include "service/tools.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

class AnyHost {
public:
    virtual ~AnyHost() = default;

    // Connects these servers, all when empty; `settled` when each is ready or has failed.
    virtual void connect(const std::vector<std::string>& servers,
                         std::function<void()> settled) = 0;
    virtual std::vector<connection::Status> statuses() = 0;
    // What these servers have listed by now, all when empty; good until it is asked again.
    virtual service::ToolList tools(const std::vector<std::string>& servers,
                                    service::Wait wait) = 0;
    virtual void find_tool(const std::string& name, std::chrono::milliseconds timeout,
                           std::function<void(Result<router::ListedTool>)> found) = 0;
    virtual router::CallId call(router::Call call, connection::ReplyHandler handler) = 0;
    virtual void cancel(router::CallId id, const std::string& why) = 0;
    // Rules that match no tool of the servers that were asked for, as `warning: ...`.
    virtual std::vector<std::string> rule_warnings() = 0;
};

}  // namespace patchbay::app
