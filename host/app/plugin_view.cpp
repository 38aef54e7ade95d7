#include "app/plugin_view.hpp"

#include "app/plugin_settings.hpp"
#include "config/transport_settings.hpp"
#include "core/json.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Only of transports that some server uses: a schema nobody needs is not parsed.
std::vector<config::KnownTransport> known_transports(const config::Config& config,
                                                     const plugin::Catalogue& plugins) {
    std::vector<config::KnownTransport> known;
    for (const auto& name : plugins.transports()) {
        config::KnownTransport transport{name, nullptr, {}, plugins.is_local(name)};
        for (const auto& server : config.servers) {
            if (server.transport != name &&
                std::find(server.fallback.begin(), server.fallback.end(), name) ==
                    server.fallback.end())
                continue;
            transport.schema = schema_of(plugins, name);
            break;
        }
        known.push_back(std::move(transport));
    }
    // A server may mean one of a plugin that is broken or turned off: it is told that, and not that
    // nobody knows the name.
    const auto usable = plugins.transports();
    for (const auto& info : plugins.list()) {
        for (const auto& provided : info.provides) {
            const bool missed = provided.kind == "transport" &&
                                info.state != plugin::PluginState::Shadowed &&
                                !std::binary_search(usable.begin(), usable.end(), provided.name);
            if (!missed) continue;
            known.push_back({provided.name, nullptr,
                             "plugin \"" + info.id + "\" would provide it, but is " +
                                 plugin::name_of(info.state) + ": " + info.reason});
        }
    }
    return known;
}

// What waits for an approval is judged as it would be with one: whoever is asked for it learns what is
// wrong with it. Apart from the rest, which it may not change.
void check_proposals(config::Config& config, const plugin::Catalogue& plugins,
                     const ServerAuth& server_auth, core::Effort& hints) {
    if (config.untrusted.empty()) return;
    config::Config meant;
    meant.auth = config.auth;
    for (auto& proposal : config.untrusted) {
        if (proposal.server) meant.servers.push_back(*proposal.server);
        const auto* table =
            proposal.is_table() ? proposal.definition.at("auth").if_object() : nullptr;
        if (!table) continue;
        meant.auth[proposal.id.substr(std::string_view("auth.").size())] = *table;
        if (const auto method = server_auth.method_named_by(*table); !method)
            proposal.faults.push_back({config::RuleId::InvalidAuth, config::Severity::Error,
                                       proposal.place, proposal.id + ": " + method.error().message,
                                       proposal.id});
    }
    config::check_transports(meant, known_transports(meant, plugins), compile_schema);
    server_auth.check(meant, hints);
    std::multimap<std::string_view, config::Proposal*> by_id;
    for (auto& proposal : config.untrusted) by_id.emplace(proposal.id, &proposal);
    for (const auto& told : meant.diagnostics) {
        if (told.severity != config::Severity::Error) continue;
        const auto [first, last] = by_id.equal_range(told.server);
        for (auto at = first; at != last; ++at) at->second->faults.push_back(told);
    }
}

}  // namespace

std::vector<config::PluginFragment> servers_of_plugins(const plugin::Catalogue& plugins) {
    std::vector<config::PluginFragment> fragments;
    for (const auto& info : plugins.list()) {
        if (!info.has_servers || info.state != plugin::PluginState::Available) continue;
        std::ifstream file(info.manifest_path);
        std::stringstream text;
        text << file.rdbuf();
        fragments.push_back({info.manifest_path, text.str()});
    }
    return fragments;
}

json::value schema_of(const plugin::Catalogue& plugins, const std::string& transport) {
    const auto text = plugins.schema_of(transport);
    auto schema = core::parse_json(text ? *text : "null");
    return schema ? std::move(*schema) : json::value();
}

std::string PluginApprovals::plugin_of(const std::string& transport) const {
    return provider_of("transport", transport);
}
std::string PluginApprovals::plugin_of_auth(const std::string& method) const {
    return provider_of("auth", method);
}

std::string PluginApprovals::provider_of(std::string_view kind, const std::string& name) const {
    for (const auto& info : plugins_.list()) {
        if (info.state != plugin::PluginState::Available &&
            info.state != plugin::PluginState::Loaded)
            continue;
        for (const auto& provided : info.provides)
            if (provided.kind == kind && provided.name == name) return info.id;
    }
    return {};
}

void check_by_plugins(config::Config& config, const plugin::Catalogue& plugins,
                      const ServerAuth& server_auth) {
    config::check_transports(config, known_transports(config, plugins), compile_schema);
    core::Effort hints(core::Effort::kOneLoad);
    server_auth.check(config, hints);
    check_disabled(config, plugins);
    check_proposals(config, plugins, server_auth, hints);
}

}  // namespace patchbay::app
