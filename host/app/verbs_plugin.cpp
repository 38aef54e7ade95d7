#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verbs.hpp"
#include "core/text.hpp"

namespace patchbay::app {
namespace json = boost::json;
using plugin::PluginInfo;
using plugin::PluginState;

namespace {

bool usable(PluginState state) {
    return state == PluginState::Available || state == PluginState::Loaded;
}

std::vector<std::string> provided(const PluginInfo& info) {
    std::vector<std::string> names;
    for (const auto& each : info.provides) names.push_back(each.kind + " " + each.name);
    return names;
}

json::object json_of(const PluginInfo& info) {
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

}  // namespace

int plugin_list_verb(const GlobalOptions& global) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles();
    session.host().plugins().verify();
    const auto& plugins = session.host().plugins().list();
    if (global.json) {
        json::array list;
        for (const auto& info : plugins) list.push_back(json_of(info));
        print_json(json::serialize(list));
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{{{"ID"}, {"VERSION"}, {"STATE"}, {"PROVIDES"}, {"FROM"}}};
    for (const auto& info : plugins) {
        rows.push_back(
            {{info.id.empty() ? info.manifest_path : info.id},
             {info.version},
             {plugin::name_of(info.state), usable(info.state)                   ? "green"
                                           : info.state == PluginState::Refused ? "red"
                                                                                : "gray"},
             {core::join(provided(info), ", ")},
             {info.place.kind}});
    }
    print_table(rows);
    for (const auto& info : plugins) {
        if (!info.reason.empty())
            say((info.id.empty() ? info.manifest_path : info.id) + ": " + info.reason);
    }
    if (plugins.empty()) say("no plugins found; `patchbay plugin doctor` says where was looked");
    return kOk;
}

int plugin_info_verb(const GlobalOptions& global, const std::string& name) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles_of({});
    session.host().plugins().verify();
    const auto info = session.host().plugins().info(name);
    if (!info) return session.report(info.error());
    if (global.json) {
        print_json(json::serialize(json_of(*info)));
        return kOk;
    }
    std::vector<std::vector<Cell>> rows;
    for (const auto& member : json_of(*info)) {
        const auto& value = member.value();
        const std::string text =
            value.is_string() ? std::string(value.get_string()) : json::serialize(value);
        if (!text.empty() && text != "[]" && text != "{}")
            rows.push_back({{std::string(member.key())}, {text}});
    }
    print_table(rows);
    return usable(info->state) ? kOk : kFailure;
}

int plugin_doctor_verb(const GlobalOptions& global, bool load) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.tell_troubles();
    auto& plugins = session.host().plugins();
    plugins.verify();
    // First, for what is found here changes what was found by looking.
    std::vector<std::pair<std::string, std::string>>
        loaded;  // id and why it does not; empty: loads
    if (load) {
        for (const auto& info : plugins.list())
            if (info.state == PluginState::Available) loaded.emplace_back(info.id, "");
        for (auto& [id, why] : loaded)
            if (const auto tried = plugins.load(id); !tried) why = tried.error().message;
    }
    bool trouble = false;
    json::array list;
    std::vector<std::vector<Cell>> rows{{{"FROM"}, {"PATH"}, {"FINDING"}}};
    for (const auto& looked : plugins.looked()) {
        trouble = trouble || !looked.ok;
        list.push_back({{"from", looked.place.kind},
                        {"path", looked.path},
                        {"finding", looked.finding},
                        {"ok", looked.ok}});
        rows.push_back(
            {{looked.place.kind}, {looked.path}, {looked.finding, looked.ok ? "" : "red"}});
    }
    for (const auto& [id, why] : loaded) {
        trouble = trouble || !why.empty();
        const std::string finding = why.empty() ? "loads" : why;
        list.push_back({{"from", "load"}, {"path", id}, {"finding", finding}, {"ok", why.empty()}});
        rows.push_back({{"load"}, {id}, {finding, why.empty() ? "green" : "red"}});
    }
    if (global.json)
        print_json(json::serialize(list));
    else
        print_table(rows);
    return trouble ? kFailure : kOk;
}

}  // namespace patchbay::app
