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
    return core::sha256_hex(boost::json::serialize(definition));
}

// What, besides the definition, a running connection was built from.
auto conduct(const config::Server& server) {
    return std::tie(server.startup_timeout, server.request_timeout, server.tool_timeout,
                    server.enabled_tools, server.disabled_tools, server.tools, server.restart,
                    server.auth, server.oauth, server.bearer_token_env_var, server.expand,
                    server.fallback, server.program);
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
