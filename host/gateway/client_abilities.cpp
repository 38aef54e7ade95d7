#include "gateway/client_abilities.hpp"

#include "core/json.hpp"

namespace patchbay::gateway {
namespace json = boost::json;
using protocol::Era;

json::object our_capabilities(Era era) {
    json::object capabilities{{"tools", {{"listChanged", true}}},
                              {"prompts", {{"listChanged", true}}},
                              {"resources", {{"listChanged", true}, {"subscribe", true}}},
                              {"completions", json::object()},
                              {"logging", json::object()}};
    if (era == Era::Legacy)
        capabilities["tasks"] = {{"list", json::object()},
                                 {"cancel", json::object()},
                                 {"requests", {{"tools", {{"call", json::object()}}}}}};
    return capabilities;
}

bool may_want_input(std::string_view method) {
    return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

bool can_be_asked(const json::object& capabilities, std::string_view method,
                  const json::object& params) {
    if (method == "roots/list") return core::object_in(&capabilities, "roots") != nullptr;
    if (method == "sampling/createMessage") {
        const auto* sampling = core::object_in(&capabilities, "sampling");
        const bool tools = params.contains("tools") || params.contains("toolChoice");
        return sampling && (!tools || core::object_in(sampling, "tools"));
    }
    const auto* elicitation = core::object_in(&capabilities, "elicitation");
    if (method != "elicitation/create" || !elicitation) return false;
    if (core::text_in(&params, "mode") == "url") return elicitation->contains("url");
    return elicitation->empty() || elicitation->contains("form");
}

}  // namespace patchbay::gateway
