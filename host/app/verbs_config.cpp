#include "app/config_schema.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/show.hpp"
#include "policy/unmatched_rules.hpp"
#include "service/configuration.hpp"
#include "service/servers.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Indented, for people; Boost.JSON only knows the compact form. A list of plain values stays in its
// line, as it is mostly written: args, patterns.
void print_indented(const json::value& value, std::string& out, const std::string& indent = {}) {
    const std::string deeper = indent + "  ";
    if (const auto* object = value.if_object(); object && !object->empty()) {
        out += "{\n";
        bool first = true;
        for (const auto& member : *object) {
            out +=
                (first ? "" : ",\n") + deeper + json::serialize(json::value(member.key())) + ": ";
            print_indented(member.value(), out, deeper);
            first = false;
        }
        out += "\n" + indent + "}";
    } else if (const auto* array = value.if_array();
               array && !array->empty() &&
               (array->front().is_object() || array->front().is_array())) {
        out += "[\n";
        for (std::size_t i = 0; i < array->size(); ++i) {
            out += (i ? ",\n" : "") + deeper;
            print_indented((*array)[i], out, deeper);
        }
        out += "\n" + indent + "]";
    } else {
        out += json::serialize(value);
    }
}

// "2 errors and 1 warning in 3 files".
std::string summary_of(const std::vector<config::Diagnostic>& diagnostics) {
    const auto counted = [](std::size_t count, const std::string& what) {
        return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    std::set<std::string> files;
    std::size_t errors = 0;
    for (const auto& each : diagnostics) {
        files.insert(each.place.file);
        errors += each.severity == config::Severity::Error;
    }
    return counted(errors, "error") + " and " + counted(diagnostics.size() - errors, "warning") +
           " in " + counted(files.size(), "file");
}

int report_check(std::vector<config::Diagnostic> diagnostics, const GlobalOptions& global) {
    // As they stand, for whoever mends them in this order.
    std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const auto& a, const auto& b) {
        const auto of = [](const config::Place& place) {
            return std::tie(place.scope, place.file, place.line, place.column);
        };
        return of(a.place) < of(b.place);
    });
    if (global.json) {
        json::array list;
        for (const auto& diagnostic : diagnostics) list.push_back(config::to_json(diagnostic));
        print_json(json::serialize(list));
    }
    bool errors = false;
    for (const auto& each : diagnostics) {
        const bool error = each.severity == config::Severity::Error;
        errors = errors || error;
        if (error || !global.quiet)
            say(config::to_string(each) + " [" + std::string(config::name_of(each.rule)) + "]");
    }
    if (diagnostics.empty() && !global.json) print_line("configuration is fine");
    if (diagnostics.size() > 1 && !global.json && !global.quiet) say(summary_of(diagnostics));
    return errors ? kConfigError : kOk;
}

int config_show_verb(const GlobalOptions& global, bool origins) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    const auto shown = config::to_json(session.host().config(), origins);
    if (global.json) {
        print_json(json::serialize(shown));
    } else {
        std::string text;
        print_indented(shown, text);
        print_json(text);
    }
    // It is shown all the same, but nothing in it counts.
    return session.host().config().deny_all ? kConfigError : kOk;
}

// Beside what files say by themselves: what agents and bundles name that no server had when it listed its tools last.
std::vector<config::Diagnostic> check_all(Host& host) {
    auto all = host.check();
    host.recall_lists();
    const auto known = service::known_tools(host.connections(), host.catalogue());
    for (auto& each : policy::unmatched_in_views(host.config(), known)) {
        const bool told = std::any_of(all.begin(), all.end(), [&](const auto& other) {
            return other.place == each.place && other.message == each.message;
        });
        if (!told) all.push_back(std::move(each));
    }
    return all;
}

int config_check_verb(const GlobalOptions& global, const std::string& file) {
    // Without a session, which would tell the same by itself, and go no further where they stop a run.
    Host host(host_options(global));
    return report_check(file.empty() ? check_all(host) : host.check_file(file), global);
}

int config_paths_verb(const GlobalOptions& global) {
    // Without a host: where files belong must be told also when what they say stops a run.
    const auto loaded = config::load(environment_of(global));
    json::array list;
    std::vector<std::vector<Cell>> rows{{{"SCOPE"}, {"FOUND"}, {"PATH"}}};
    for (const auto& candidate : loaded.candidates) {
        const bool read = candidate.found == config::Candidate::Found::Read;
        const bool absent = candidate.found == config::Candidate::Found::Absent;
        list.push_back(service::to_json(candidate));
        rows.push_back(
            {{config::name_of(candidate.scope)},
             {service::word_of(candidate.found), read     ? "green"
                                                 : absent ? "gray"
                                                          : "red"},
             {candidate.path + (candidate.note.empty() ? "" : "  (" + candidate.note + ")")}});
    }
    if (global.json)
        print_json(json::serialize(list));
    else
        print_table(rows);
    return kOk;
}

}  // namespace

void add_config_verbs(CLI::App& app, Choice& choice) {
    struct Words {
        std::string file;
        bool origins = false;
    };
    const auto words = std::make_shared<Words>();
    auto& config = add_verb(
        app, "config", "Configuration: show, check, paths, schema, plan, apply, rollback, undo",
        "  patchbay config show --origin\n  patchbay config check .mcp.json\n  "
        "patchbay config paths\n  patchbay config plan");
    config.require_subcommand(1);
    auto& show = add_verb(config, "show", "The merged configuration, secrets masked",
                          "  patchbay config show --origin");
    show.add_flag("--origin", words->origins, "Say where each value that is no default comes from");
    choice.on(show,
              [words](const auto& global) { return config_show_verb(global, words->origins); });
    auto& check = add_verb(config, "check", "Check all configuration, or one file",
                           "  patchbay config check\n  patchbay config check .mcp.json");
    check.add_option("FILE", words->file, "Only what is wrong in this file");
    choice.on(check,
              [words](const auto& global) { return config_check_verb(global, words->file); });
    auto& paths = add_verb(config, "paths", "Where configuration is looked for, and what was found",
                           "  patchbay config paths");
    choice.on(paths, config_paths_verb);
    auto& schema =
        add_verb(config, "schema", "The JSON Schema of configuration files, for editors",
                 "  patchbay config schema > patchbay.schema.json\nA JSON file names it as "
                 "\"$schema\"; YAML with `# yaml-language-server: $schema=FILE`, "
                 "TOML with `#:schema FILE`.");
    choice.on(schema, [](const auto&) { return print_json(kConfigSchema), int(kOk); });
    add_plan_verb(config, choice);
    add_undo_verb(config, choice);
}

}  // namespace patchbay::app
