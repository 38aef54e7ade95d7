#include "gateway/told_abilities.hpp"

#include "connection/responder.hpp"
#include "core/json.hpp"
#include "protocol/task_extension.hpp"

#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;

void tell_of_any(const service::Servers& servers) {
    auto offered = connection::capabilities_of(servers.config().client);
    for (const auto* each : {"roots", "sampling"}) offered[each].emplace_object();
    offered["elicitation"] = {{"form", json::object()}, {"url", json::object()}};
    servers.connections().offer(std::move(offered));
}

void ToldAbilities::offer(std::string_view raw_capabilities) {
    if (offered_) return;
    offered_ = with_ours(raw_capabilities);
    if (told_ == Told::OfThisOne) servers_.connections().offer(*offered_);
}

const std::string& ToldAbilities::told_of(const std::string& raw_capabilities, bool with_tasks) {
    if (text_.empty() || raw_capabilities != last_ || with_tasks != last_with_tasks_) {
        last_ = raw_capabilities;
        last_with_tasks_ = with_tasks;
        auto told = with_ours(raw_capabilities);
        if (with_tasks && protocol::names_tasks(raw_capabilities)) {
            auto& extensions = told["extensions"];
            if (!extensions.is_object()) extensions.emplace_object();
            extensions.get_object()[protocol::kTasksExtension].emplace_object();
        }
        text_ = json::serialize(told);
    }
    return text_;
}

json::object ToldAbilities::with_ours(std::string_view raw_capabilities) const {
    auto read = core::parse_json_object(raw_capabilities);
    const auto capabilities = read ? std::move(*read) : json::object();
    auto offered = connection::capabilities_of(servers_.config().client);
    for (const auto* each : {"roots", "sampling", "elicitation"})
        if (const auto* told = core::object_in(&capabilities, each)) offered[each] = *told;
    return offered;
}

}  // namespace patchbay::gateway
