#include "gateway/told_abilities.hpp"

#include "connection/responder.hpp"
#include "core/json.hpp"

#include <utility>

namespace patchbay::gateway {
namespace json = boost::json;

void ToldAbilities::offer(std::string_view raw_capabilities) {
    if (std::exchange(told_to_, Told::Nothing) == Told::Nothing) return;
    servers_.connections().offer(with_ours(raw_capabilities));
}

const std::string& ToldAbilities::told_of(const std::string& raw_capabilities) {
    if (told_.empty() || raw_capabilities != last_) {
        last_ = raw_capabilities;
        told_ = json::serialize(with_ours(raw_capabilities));
    }
    return told_;
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
