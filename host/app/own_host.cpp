#include "app/own_host.hpp"

#include "service/call.hpp"

#include <utility>

namespace patchbay::app {

void OwnHost::connect(const std::vector<std::string>& servers, std::function<void()> settled) {
    servers_.connections().connect(caller_, servers, std::move(settled));
}

service::ToolList OwnHost::tools(const std::vector<std::string>& servers, service::Wait wait) {
    return service::tools_listed(servers_, caller_, servers, wait);
}

void OwnHost::find_tool(const std::string& name, std::chrono::milliseconds timeout,
                        std::function<void(Result<router::ListedTool>)> found) {
    service::find_tool(servers_, caller_, name, timeout, std::move(found));
}

router::CallId OwnHost::call(router::Call call, connection::ReplyHandler handler) {
    return service::call(servers_, caller_, std::move(call), std::move(handler));
}

void OwnHost::cancel(router::CallId id, const std::string& why) {
    servers_.router().cancel(id, why);
}

std::vector<std::string> OwnHost::rule_warnings() {
    std::vector<std::string> warnings;
    for (const auto& each : servers_.rule_warnings()) warnings.push_back(config::to_string(each));
    return warnings;
}

}  // namespace patchbay::app
