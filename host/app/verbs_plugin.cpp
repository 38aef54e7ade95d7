#include "app/in_a_child.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "core/text.hpp"
#include "service/plugins.hpp"

#include <csignal>
#include <cstdio>
#include <memory>

namespace patchbay::app {
namespace json = boost::json;
using plugin::PluginInfo;
using plugin::PluginState;

namespace {

constexpr std::chrono::seconds kLoadLimit{60};  // of loading and shutting down, for the doctor

bool usable(PluginState state) {
    return state == PluginState::Available || state == PluginState::Loaded;
}

// In a child process, since a plugin that is out of order may take the whole process with it. Empty:
// it was loaded and shut down again.
std::string why_it_does_not_load(const std::string& id, const GlobalOptions& global) {
    const auto ended = in_a_child(
        [&] {
            const auto tried = Host(host_options(global)).plugins().load(id);
            return tried ? std::string() : tried.error().message;
        },
        kLoadLimit);
    if (!ended) return ended.error().message;
    if (ended->told_too_much)
        return "writes more than 1 MiB to where the outcome of loading it is told";
    if (ended->signal == SIGALRM)
        return "is not loaded and shut down after " + core::duration(kLoadLimit);
    if (ended->signal) return "ends the process with " + name_of_signal(ended->signal);
    return ended->returned ? *ended->returned
                           : "ends the process with exit code " + std::to_string(ended->exit_code);
}

int plugin_list_verb(const GlobalOptions& global) {
    const auto opened = Session::open(global, Session::Life::OneShot);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    session.host().plugins().verify();
    const auto& plugins = session.host().plugins().list();
    if (global.json) {
        json::array list;
        for (const auto& info : plugins) list.push_back(service::to_json(info));
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
             {core::join(service::provided(info), ", ")},
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
    session.troubles().tell_those_of({});
    session.host().plugins().verify();
    const auto info = session.host().plugins().info(name);
    if (!info) return session.report(info.error());
    if (global.json) {
        print_json(json::serialize(service::to_json(*info)));
        return kOk;
    }
    std::vector<std::vector<Cell>> rows;
    for (const auto& member : service::to_json(*info)) {
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
    std::vector<plugin::Looked> looked;
    std::vector<std::string> loadable;
    {
        // No Session: its watchdog is a thread, and the children below come from a process that
        // has only one.
        Host host(host_options(global));
        if (!host.config().stop.empty()) return report_stop(host.config(), global);
        print_diagnostics(host.config().diagnostics, global.quiet);
        host.plugins().verify();
        looked = host.plugins().looked();
        for (const auto& info : host.plugins().list())
            if (info.state == PluginState::Available) loadable.push_back(info.id);
    }
    bool trouble = false;
    json::array list;
    std::vector<std::vector<Cell>> rows{{{"FROM"}, {"PATH"}, {"FINDING"}}};
    for (const auto& each : looked) {
        trouble = trouble || !each.ok;
        list.push_back(service::to_json(each));
        rows.push_back({{each.place.kind}, {each.path}, {each.finding, each.ok ? "" : "red"}});
    }
    if (!global.json) print_table(rows);
    for (const auto& id : load ? loadable : std::vector<std::string>()) {
        const auto why = why_it_does_not_load(id, global);
        trouble = trouble || !why.empty();
        const std::string finding = why.empty() ? "loads" : why;
        plugin::Looked tried{{}, id, finding, why.empty()};
        tried.place.kind = "load";
        list.push_back(service::to_json(tried));
        if (global.json) continue;
        // Each as it comes: the next one may take its time.
        print_table({{{"load"}, {id}, {finding, why.empty() ? "green" : "red"}}});
        std::fflush(stdout);
    }
    if (global.json) print_json(json::serialize(list));
    return trouble ? kFailure : kOk;
}

}  // namespace

void add_plugin_verbs(CLI::App& app, Choice& choice) {
    struct Words {
        std::string name;
        bool load = false;
    };
    const auto words = std::make_shared<Words>();
    auto& plugin =
        add_verb(app, "plugin", "Plugins: list, info, doctor",
                 "  patchbay plugin list\n  patchbay plugin info stdio\n  patchbay plugin doctor");
    plugin.require_subcommand(1);
    auto& list =
        add_verb(plugin, "list", "List plugins and what they provide", "  patchbay plugin list");
    choice.on(list, plugin_list_verb);
    auto& info = add_verb(plugin, "info", "One plugin, by its id or by what it provides",
                          "  patchbay plugin info stdio");
    info.add_option("NAME", words->name, "Plugin or transport")->required();
    choice.on(info, [words](const auto& global) { return plugin_info_verb(global, words->name); });
    auto& doctor = add_verb(
        plugin, "doctor", "Every place that was looked at, in order, and why something was refused",
        "  patchbay plugin doctor --load");
    doctor.add_flag("--load", words->load, "Load every plugin too");
    choice.on(doctor,
              [words](const auto& global) { return plugin_doctor_verb(global, words->load); });
}

}  // namespace patchbay::app
