#include "registry/server_spec.hpp"

#include "config/approval.hpp"
#include "config/keys.hpp"
#include "core/digest.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace patchbay::registry {
namespace json = boost::json;

namespace {

// A time limit may be written in two units.
std::string without_unit(std::string_view key) {
    for (const std::string_view unit : {"_sec", "_ms"})
        if (key.ends_with(unit)) key.remove_suffix(unit.size());
    return std::string(key);
}

std::vector<Part> parts_with(config::Effect effect, const config::Server& server) {
    std::vector<Part> parts;
    for (const auto& key : config::server_keys()) {
        if (key.effect != effect) continue;
        if (auto value = key.tell(server); !value.is_null())
            parts.push_back({without_unit(key.name), std::move(value)});
    }
    return parts;
}

std::string definition_key(const config::Server& server) {
    // A key that says nothing is left out, so that most definitions stay what they were when one is added.
    json::object definition;
    for (auto& part : parts_with(config::Effect::Restart, server))
        definition[part.key] = std::move(part.value);
    definition["settings"] = server.settings;
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
    auto parts = parts_with(config::Effect::Restart, server);
    for (const auto& setting : server.settings) parts.push_back({setting.key(), setting.value()});
    const auto add = [&](const std::string& key, json::value value) {
        parts.push_back({key, std::move(value)});
    };
    if (spec.auth_table) add("auth." + server.auth, *spec.auth_table);
    // Paths that a person approved: another one at the same command is another program.
    if (spec.auth_program) add("program of auth." + server.auth, json::value(*spec.auth_program));
    if (server.program) add("program of command", json::value(*server.program));
    if (depends_on_its_file(spec)) add("folder", folder_of(server.place));
    sort(parts);
    return parts;
}

std::vector<Part> parts_of_conduct(const config::Server& server) {
    auto parts = parts_with(config::Effect::Adjust, server);
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
