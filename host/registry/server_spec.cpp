#include "registry/server_spec.hpp"

#include "config/approval.hpp"
#include "core/digest.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace patchbay::registry {
namespace json = boost::json;

namespace {

std::string definition_key(const config::Server& server) {
    json::object definition;
    definition["transport"] = server.transport;
    definition["protocol"] = server.protocol;
    definition["settings"] = server.settings;
    // Left out where it says nothing, so that most keys stay what they were.
    if (!server.expand) definition["expand"] = false;
    if (!server.fallback.empty()) definition["fallback"] = json::value_from(server.fallback);
    if (!server.auth.empty()) definition["auth"] = server.auth;
    if (!server.oauth.empty()) definition["oauth"] = server.oauth;
    if (!server.bearer_token_env_var.empty())
        definition["bearer_token_env_var"] = server.bearer_token_env_var;
    if (server.program) definition["program"] = *server.program;
    return core::sha256_hex(json::serialize(definition));
}

bool is_relative_path(const json::object& settings, const char* key, std::string_view needs) {
    const auto* value = settings.if_contains(key);
    if (!value || !value->is_string()) return false;
    const std::string_view path = value->get_string();
    return !path.starts_with('/') && path.find(needs) != std::string_view::npos;
}

// Whether the same words would mean something else in another file.
bool depends_on_its_file(const ServerSpec& spec) {
    const auto& settings = spec.config.settings;
    if (is_relative_path(settings, "command", "/") || is_relative_path(settings, "cwd", ""))
        return true;
    json::value written{settings, spec.config.oauth};
    if (spec.auth_table) written.get_array().push_back(*spec.auth_table);
    return json::serialize(written).find("${") != std::string::npos;
}

// A checkout may name less than a person, and a relative path stands beside the file.
json::value folder_of(const config::Place& place) {
    const auto slash = place.file.starts_with('/') ? place.file.rfind('/') : std::string::npos;
    return {slash == std::string::npos ? "" : place.file.substr(0, slash),
            config::from_project(place.scope)};
}

// What was remembered when it was a flag still fits.
json::value restart_part(config::Restart restart) {
    if (restart == config::Restart::Always) return json::value(config::name_of(restart));
    return restart == config::Restart::OnFailure;
}

void sort(std::vector<Part>& parts) {
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
}

}  // namespace

ServerSpec spec_of(const config::Server& server, const config::Config& config) {
    ServerSpec spec{server, definition_key(server)};
    if (const auto table = config.auth.find(server.auth); table != config.auth.end())
        spec.auth_table = table->second;
    const auto program = config.auth_programs.find(server.auth);
    if (program != config.auth_programs.end()) spec.auth_program = program->second;
    return spec;
}

std::vector<ServerSpec> specs_of(const config::Config& config) {
    std::vector<ServerSpec> specs;
    if (config.deny_all) return specs;
    for (const auto& server : config.servers) {
        if (server.enabled) specs.push_back(spec_of(server, config));
    }
    std::sort(specs.begin(), specs.end(),
              [](const auto& a, const auto& b) { return a.id() < b.id(); });
    return specs;
}

std::vector<Part> parts_of_connection(const ServerSpec& spec) {
    const auto& server = spec.config;
    std::vector<Part> parts{{"transport", json::value(server.transport)},
                            {"protocol", json::value(server.protocol)},
                            {"expand", server.expand}};
    for (const auto& setting : server.settings) parts.push_back({setting.key(), setting.value()});
    const auto add = [&](const std::string& key, json::value value) {
        parts.push_back({key, std::move(value)});
    };
    if (!server.auth.empty()) add("auth", json::value(server.auth));
    if (spec.auth_table) add("auth." + server.auth, *spec.auth_table);
    // Paths that a person approved: another one at the same command is another program.
    if (spec.auth_program) add("program of auth." + server.auth, json::value(*spec.auth_program));
    if (server.program) add("program of command", json::value(*server.program));
    if (!server.oauth.empty()) add("oauth", server.oauth);
    if (!server.bearer_token_env_var.empty())
        add("bearer_token_env_var", json::value(server.bearer_token_env_var));
    if (!server.fallback.empty())
        add("fallback", json::array(server.fallback.begin(), server.fallback.end()));
    if (depends_on_its_file(spec)) add("folder", folder_of(server.place));
    sort(parts);
    return parts;
}

std::vector<Part> parts_of_conduct(const config::Server& server) {
    std::vector<Part> parts{{"lazy", server.lazy},
                            {"mode", json::value(server.mode)},
                            {"request_timeout", server.request_timeout.count()},
                            {"required", server.required},
                            {"restart", restart_part(server.restart)},
                            {"startup_timeout", server.startup_timeout.count()},
                            {"tool_timeout", server.tool_timeout.count()}};
    // Left out where they say nothing, so that what was remembered before they were known still fits.
    if (server.idle_timeout) parts.push_back({"idle_timeout", server.idle_timeout->count()});
    if (server.warm > 0) parts.push_back({"warm", server.warm});
    if (const auto& names = server.forward_headers; !names.empty())
        parts.push_back({"forward_headers", json::array(names.begin(), names.end())});
    sort(parts);
    return parts;
}

bool operator==(const ServerSpec& a, const ServerSpec& b) {
    return a.id() == b.id() && parts_of_connection(a) == parts_of_connection(b);
}

Difference difference(const std::vector<ServerSpec>& before, const std::vector<ServerSpec>& after) {
    Difference result;
    std::map<std::string_view, const ServerSpec*> old;
    for (const auto& spec : before) old.emplace(spec.id(), &spec);
    for (const auto& spec : after) {
        const auto then = old.find(spec.id());
        const bool known = then != old.end();
        const bool stays = known && *then->second == spec;
        if (known) old.erase(then);
        if (stays) continue;
        if (known) result.changed.push_back(spec.id());
        result.added.push_back(spec);
    }
    for (const auto& [id, spec] : old) result.gone.emplace_back(id);
    return result;
}

}  // namespace patchbay::registry
