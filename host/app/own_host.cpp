#include "app/own_host.hpp"

#include "service/call.hpp"

#include <utility>

namespace patchbay::app {

void OwnHost::connect(const std::vector<std::string>& servers, std::function<void()> settled) {
    servers_.connections().connect(caller_, servers, std::move(settled));
}

std::vector<std::string> OwnHost::unknown(const std::vector<std::string>& servers) {
    return service::with_unknown_tools(servers_, caller_, servers);
}

void OwnHost::ask_for_tools(const std::vector<std::string>& servers, service::Ask ask,
                            std::function<void()> settled) {
    service::ask_for_tools(servers_, caller_, servers, ask, std::move(settled));
}

service::ToolList OwnHost::tools(const std::vector<std::string>& servers, service::Wait wait,
                                 service::Ask ask) {
    return service::tools_listed(servers_, caller_, servers, wait, ask);
}

void OwnHost::find_tool(const std::string& name, std::chrono::milliseconds timeout,
                        std::function<void(Result<router::ListedTool>)> found) {
    service::find_tool(servers_, caller_, name, timeout, std::move(found));
}

router::CallId OwnHost::call(router::Call call, connection::ReplyHandler handler) {
    return service::call(servers_, caller_, std::move(call), std::move(handler));
}

namespace {

class OwnListing final : public AnyListing {
public:
    explicit OwnListing(std::shared_ptr<service::ThingListing> listing)
        : listing_(std::move(listing)) {}
    service::ThingList so_far() const override { return listing_->so_far(); }
    std::vector<std::string> silent() const override { return listing_->silent(); }
    void cut_short() override { listing_->cut_short(); }

private:
    const std::shared_ptr<service::ThingListing> listing_;
};

}  // namespace

std::shared_ptr<AnyListing> OwnHost::list_things(service::Kind kind, const std::string& server,
                                                 service::ThingListing::Servers which,
                                                 service::ThingListing::Done done) {
    return std::make_shared<OwnListing>(
        service::list_things(servers_, caller_, kind, server, which, std::move(done)));
}

router::CallId OwnHost::request(router::ServerRequest request, connection::ReplyHandler handler) {
    return servers_.router().request(caller_, std::move(request), std::move(handler));
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
