#include "app/plugin_transports.hpp"

#include "app/plugin_view.hpp"
#include "config/transport_settings.hpp"

#include <algorithm>

namespace patchbay::app {

PluginTransports::PluginTransports(plugin::Catalogue& plugins, const config::Config& config)
    : plugins_(plugins), config_(config) {}

bool PluginTransports::has(const std::string& transport) const {
    const auto known = plugins_.transports();
    return std::binary_search(known.begin(), known.end(), transport);
}

void PluginTransports::prepare(const std::string& transport, connection::Prepared ready) {
    plugins_.prepare_transport(transport, std::move(ready));
}

Result<std::unique_ptr<plugin::Channel>> PluginTransports::open(const std::string& transport,
                                                                plugin::ChannelOptions options,
                                                                plugin::ChannelEvents& events) {
    const bool some_fall_back =
        std::any_of(config_.servers.begin(), config_.servers.end(),
                    [](const config::Server& server) { return !server.fallback.empty(); });
    if (some_fall_back) {
        const auto schema = schema_of(plugins_, transport);
        options.settings = config::settings_for(options.settings, schema);
    }
    return plugins_.open(transport, std::move(options), events);
}

}  // namespace patchbay::app
