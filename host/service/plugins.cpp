#include "service/plugins.hpp"

namespace patchbay::service {
namespace json = boost::json;
using plugin::PluginInfo;

std::vector<std::string> provided(const PluginInfo& info) {
    std::vector<std::string> names;
    for (const auto& each : info.provides) names.push_back(each.kind + " " + each.name);
    return names;
}

json::object to_json(const PluginInfo& info) {
    const auto names = provided(info);
    json::object grants;
    for (const auto& [name, given] : info.grants) grants[name] = given;
    return {
        {"id", info.id},
        {"name", info.name},
        {"version", info.version},
        {"license", info.license},
        {"state", plugin::name_of(info.state)},
        {"reason", info.reason},
        {"provides", json::array(names.begin(), names.end())},
        {"manifest", info.manifest_path},
        {"library", info.library_path},
        {"sha256", info.sha256},
        {"found_in", info.place.kind},
        {"requires", json::array(info.requires_extensions.begin(), info.requires_extensions.end())},
        {"wants", json::array(info.wants_extensions.begin(), info.wants_extensions.end())},
        {"grants", std::move(grants)}};
}

json::object to_json(const plugin::Looked& looked) {
    return {{"from", looked.place.kind},
            {"path", looked.path},
            {"finding", looked.finding},
            {"ok", looked.ok}};
}

}  // namespace patchbay::service
