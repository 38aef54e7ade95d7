#include "app/configuration_digest.hpp"

#include "app/server_variables.hpp"
#include "config/keys.hpp"
#include "config/launch.hpp"
#include "core/digest.hpp"
#include "registry/imprint.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Of those that a program inherits (plugins/stdio), the ones that change what it does; a terminal's are
// another at every window.
constexpr const char* kInherited[] = {
    "HOME",       "USER",       "LANG",          "LC_ALL",      "TZ",        "TMPDIR",
    "HTTP_PROXY", "http_proxy", "HTTPS_PROXY",   "https_proxy", "ALL_PROXY", "all_proxy",
    "NO_PROXY",   "no_proxy",   "SSL_CERT_FILE", "SSL_CERT_DIR"};

std::set<std::string> variables_of_all(const registry::Snapshot& snapshot) {
    std::set<std::string> names(std::begin(kInherited), std::end(kInherited));
    for (const auto& limit : config::kTimeLimits)
        if (limit.variable) names.insert(limit.variable);
    names.insert(snapshot.config.plugins.stdio_pass_env.begin(),
                 snapshot.config.plugins.stdio_pass_env.end());
    for (const auto& spec : snapshot.specs) names.merge(variables_of(spec));
    return names;
}

// Which file each command leads to by this process' PATH, which a shell, an environment of some language or a package
// manager changes all the time; where a `${...}` decides, PATH itself.
json::object programs_of(const registry::Snapshot& snapshot,
                         const config::Environment& environment) {
    json::object programs;
    config::ProgramSearch search(environment);
    for (const auto& spec : snapshot.specs) {
        const auto launch = config::launch_of(spec.config.settings);
        if (!launch) continue;
        const auto& program = search.look(*launch).program;
        programs[spec.id()] = program ? *program : environment.variable("PATH").value_or("");
    }
    return programs;
}

bool is_of_the_log(std::string_view key) {
    return key.starts_with("log.");
}

json::object servers_and_rules(const registry::Snapshot& snapshot) {
    auto imprint = registry::clear_imprint_of(snapshot);
    std::erase_if(imprint.tables, [](const auto& each) { return is_of_the_log(each.first); });
    return registry::to_json(imprint);
}

// Of what is not approved nothing is started, so where its command leads to is no matter: a host that stays does not
// look for it.
std::string definition_of(const config::Proposal& proposal) {
    auto definition = proposal.definition;
    definition.erase("program");
    return json::serialize(definition);
}

json::array places(const config::Config& config) {
    json::array told;
    for (const auto& [key, place] : config.origins)
        if (!is_of_the_log(key)) told.emplace_back(key + " " + config::to_string(place));
    for (const auto& each : config.diagnostics) told.emplace_back(config::to_string(each));
    for (const auto& each : config.untrusted)
        told.emplace_back(each.id + " " +
                          (each.approved ? each.digest + " approved" : definition_of(each)));
    for (const auto& [name, named] : config.names) told.emplace_back(name + " " + named.id);
    for (const auto& each : config.passed_over) told.emplace_back(each);
    for (const auto& each : config.approved) told.emplace_back(each);
    for (const auto& each : config.consents) told.emplace_back(each);
    told.emplace_back(config.closed_by);
    told.emplace_back(config.stop);
    return told;
}

}  // namespace

std::vector<std::string> variables_given(const registry::Snapshot& snapshot) {
    constexpr std::string_view kOfTheUser[] = {"HOME", "USER",   "LANG",          "LC_ALL",
                                               "TZ",   "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"};
    std::vector<std::string> given;
    for (const auto& name : variables_of_all(snapshot)) {
        const char* value = std::getenv(name.c_str());
        const bool known =
            std::find(std::begin(kOfTheUser), std::end(kOfTheUser), name) != std::end(kOfTheUser);
        if (value && !name.empty() && !known) given.push_back(name);
    }
    return given;
}

bool minds_the_folder(const registry::Snapshot& snapshot) {
    const auto& roots = snapshot.config.client.roots;
    return std::any_of(snapshot.specs.begin(), snapshot.specs.end(),
                       [](const auto& spec) {
                           return spec.local() && !spec.config.settings.contains("cwd");
                       }) ||
           std::any_of(roots.begin(), roots.end(), [](const auto& root) {
               return !root.starts_with('/') && !root.starts_with("file:");
           });
}

std::string configuration_digest(const registry::Snapshot& snapshot,
                                 const config::Environment& environment) {
    json::object values;
    for (const auto& name : variables_of_all(snapshot))
        if (const auto value = environment.variable(name)) values[name] = *value;
    return core::sha256_hex(json::serialize(
        json::array{servers_and_rules(snapshot), places(snapshot.config), std::move(values),
                    programs_of(snapshot, environment),
                    json::value(minds_the_folder(snapshot) ? environment.working_directory : "")}));
}

}  // namespace patchbay::app
