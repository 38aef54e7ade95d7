#include "registry/server_spec.hpp"

#include "core/digest.hpp"

#include <algorithm>
#include <tuple>

namespace patchbay::registry {

namespace {

std::string definition_key(const config::Server& server) {
    boost::json::object definition;
    definition["transport"] = server.transport;
    definition["protocol"] = server.protocol;
    definition["settings"] = server.settings;
    // Left out where it says nothing, so that most keys stay what they were.
    if (!server.expand) definition["expand"] = false;
    if (!server.fallback.empty()) definition["fallback"] = boost::json::value_from(server.fallback);
    if (!server.auth.empty()) definition["auth"] = server.auth;
    if (!server.oauth.empty()) definition["oauth"] = server.oauth;
    if (!server.bearer_token_env_var.empty())
        definition["bearer_token_env_var"] = server.bearer_token_env_var;
    if (server.program) definition["program"] = *server.program;
    return core::sha256_hex(boost::json::serialize(definition));
}

// What, besides the definition, a running connection was built from. Rules are not: the policy has
// them, and judges each call by those of now.
auto conduct(const config::Server& server) {
    return std::tie(server.startup_timeout, server.request_timeout, server.tool_timeout,
                    server.restart);
}

}  // namespace

bool operator==(const ServerSpec& a, const ServerSpec& b) {
    return a.id() == b.id() && a.definition_key == b.definition_key &&
           conduct(a.config) == conduct(b.config);
}

std::vector<ServerSpec> specs_of(const config::Config& config) {
    std::vector<ServerSpec> specs;
    if (config.deny_all) return specs;
    for (const auto& server : config.servers) {
        if (server.enabled) specs.push_back({server, definition_key(server)});
    }
    std::sort(specs.begin(), specs.end(),
              [](const auto& a, const auto& b) { return a.id() < b.id(); });
    return specs;
}

Difference difference(const std::vector<ServerSpec>& before, const std::vector<ServerSpec>& after) {
    Difference result;
    const auto find = [](const std::vector<ServerSpec>& specs, const std::string& id) {
        return std::find_if(specs.begin(), specs.end(),
                            [&](const auto& spec) { return spec.id() == id; });
    };
    for (const auto& spec : before) {
        const auto now = find(after, spec.id());
        if (now == after.end())
            result.gone.push_back(spec.id());
        else if (!(*now == spec))
            result.changed.push_back(spec.id());
    }
    for (const auto& spec : after) {
        const auto then = find(before, spec.id());
        if (then == before.end() || !(*then == spec)) result.added.push_back(spec);
    }
    return result;
}

}  // namespace patchbay::registry
