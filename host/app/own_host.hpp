// The host in the command's own process.
//
// Borrows the servers and the caller. Threads: [loop]. Errors: as AnyHost has them.
#pragma once

#include "app/any_host.hpp"
#include "service/servers.hpp"

namespace patchbay::app {

class OwnHost final : public AnyHost {
public:
    OwnHost(const service::Servers& servers, connection::Caller& caller)
        : servers_(servers), caller_(caller) {}

    void connect(const std::vector<std::string>& servers, std::function<void()> settled) override;
    std::vector<connection::Status> statuses() override { return servers_.statuses(); }
    std::vector<std::string> unknown(const std::vector<std::string>& servers) override;
    void ask_for_tools(const std::vector<std::string>& servers, service::Ask ask,
                       std::function<void()> settled) override;
    service::ToolList tools(const std::vector<std::string>& servers, service::Wait wait,
                            service::Ask ask) override;
    void find_tool(const std::string& name, std::chrono::milliseconds timeout,
                   std::function<void(Result<router::ListedTool>)> found) override;
    router::CallId call(router::Call call, connection::ReplyHandler handler) override;
    std::shared_ptr<AnyListing> list_things(service::Kind kind, const std::string& server,
                                            service::ThingListing::Servers which,
                                            service::ThingListing::Done done) override;
    router::CallId request(router::ServerRequest request,
                           connection::ReplyHandler handler) override;
    void cancel(router::CallId id, const std::string& why) override;
    std::vector<std::string> rule_warnings() override;

private:
    const service::Servers& servers_;
    connection::Caller& caller_;
};

}  // namespace patchbay::app
