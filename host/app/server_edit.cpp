#include "app/server_edit.hpp"

#include "app/ignored_file.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/typed_entry.hpp"
#include "config/ids.hpp"
#include "config/show.hpp"
#include "config/sources.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Scope;

namespace {

// Which definition counts by now; of none why that is.
json::object effective_json(const config::Config& config, const std::string& id) {
    const auto* server = server_of(config, id);
    if (!server) return {};
    return {{"scope", config::name_of(server->place.scope)},
            {"file", server->place.file},
            {"line", server->place.line},
            {"enabled", server->enabled}};
}

// Why what was written counts for nothing.
std::string why_not(const config::Config& config, const std::string& id, const std::string& file,
                    const config::Environment& environment) {
    const auto waits =
        std::any_of(config.untrusted.begin(), config.untrusted.end(),
                    [&](const config::Proposal& proposal) { return proposal.id == id; });
    if (waits) return "it waits for your approval: patchbay trust " + id;
    const auto loaded = config::load(environment);
    const bool read = std::any_of(loaded.candidates.begin(), loaded.candidates.end(),
                                  [&](const auto& candidate) { return candidate.path == file; });
    if (!read)
        return "it does not count here: no scope reads that file; --config " + file + " does";
    return "it does not count here: patchbay config check says why";
}

// A person who has changed a file believes that it counts. Where it does not, or where another file has the last word, it
// is said here, and what would change that.
void tell_effective(const config::Config& config, const std::string& id, const std::string& state,
                    const std::string& file, const config::Environment& environment) {
    const auto* server = server_of(config, id);
    if (!server && state == "removed") {
        for (const auto& left : definitions_of(id, environment))
            say((left.connects ? "it is defined still: " : "what adjusts it is left: ") +
                config::to_string(left.place) + "; patchbay mcp remove " + id + " --scope " +
                config::name_of(left.place.scope));
        return;
    }
    if (!server) return say(why_not(config, id, file, environment));
    if (state == "unchanged") return;
    const bool wanted = state != "disabled";
    if (server->place.file != file && state != "enabled" && state != "disabled")
        say("what counts is " + config::to_string(server->place) +
            (server->enabled ? "" : ", which is disabled"));
    else if (server->enabled != wanted && state != "added" && state != "replaced")
        say("it stays " + std::string(server->enabled ? "enabled" : "disabled") +
            ": a stronger file says so, see patchbay mcp get " + id);
}

}  // namespace

Error invalid(std::string why) {
    return {ErrorCode::Invalid, std::move(why)};
}

// One of the three that are checked on the command line.
Scope scope_of(const EditOptions& options) {
    return config::scope_named(options.scope).value_or(Scope::Project);
}

Result<void> check_id(const std::string& id) {
    if (config::valid_id(id)) return {};
    return invalid("\"" + core::printable(id, 80) +
                   "\" is no id: expected 1 to 64 letters, digits, - and _, without __");
}

void take_place(CLI::App& verb, EditOptions& options) {
    verb.add_option("ID", options.id, "The server")->required();
    verb.add_option("--scope", options.scope, "Whose file: local, project or user")
        ->check(CLI::IsMember({"local", "project", "user"}))
        ->capture_default_str();
    verb.add_option("--file", options.file, "This file, whatever the scope has")->type_name("FILE");
}

Result<void> check_list(const ScopeFile& file, const std::string& id,
                        const std::vector<Definition>& definitions) {
    if (file.entry() || !file.has_list()) return {};
    for (const auto& each : definitions)
        if (each.place.file == file.path())
            return invalid(config::to_string(each.place) + ": \"" + id +
                           "\" stands in a list, where no verb changes it; edit it there, or write "
                           "the list as tables by id");
    return {};
}

Error not_there(const ScopeFile& file, const std::string& id, const Host& host,
                const std::vector<Definition>& definitions) {
    if (auto listed = check_list(file, id, definitions); !listed) return listed.error();
    auto why = file.path() + " does not define \"" + core::printable(id, 80) + "\"";
    for (const auto& other : definitions) why += "; " + config::to_string(other.place) + " does";
    if (!definitions.empty()) return {ErrorCode::NotFound, why};
    std::vector<std::string> known;
    for (const auto& server : host.config().servers) known.push_back(server.id);
    return {ErrorCode::NotFound, why + ", nor does another file" + core::did_you_mean(id, known) +
                                     "; patchbay mcp list shows which there are"};
}

void keep_out_of_git(const GlobalOptions& global) {
    const auto ignored = ignore_local(project_folder(environment_of(global)));
    if (!ignored && !global.quiet)
        say("warning: git may take " + std::string(kIgnored) +
            " along: " + ignored.error().message);
    else if (ignored && *ignored == "added" && !global.json)
        say("written: " + std::string(kIgnored) + " into .gitignore");
}

// Read anew, since the host that judged the text was made before it was written.
int tell(const EditOptions& options, const std::string& state, const ScopeChange& done,
         const GlobalOptions& global, const IsTyped& typed) {
    Host host(host_options(global));
    const auto approved = approve(host, options.id, typed);
    const auto now = host.read_snapshot();
    const auto& config = now->config;
    if (global.json) {
        json::object line{
            {"id", options.id}, {"state", state}, {"file", done.file}, {"made", done.made}};
        if (!done.backup.empty() && !done.made) line["backup"] = done.backup;
        auto effective = effective_json(config, options.id);
        line["effective"] = effective.empty() ? json::value() : json::value(std::move(effective));
        print_json(json::serialize(line));
    } else {
        say(state + ": " + options.id + (state == "removed" ? " from " : " in ") + done.file +
            (done.made ? ", which is new" : ""));
        tell_effective(config, options.id, state, done.file, environment_of(global));
    }
    if (done.made && scope_of(options) == Scope::Local && options.file.empty())
        keep_out_of_git(global);
    return approved ? int(kOk) : report(approved.error(), global);
}

}  // namespace patchbay::app
