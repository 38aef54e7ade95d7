// The transports of plugins, as connections reach them.
//
// Owns:    nothing. Borrows the catalogue. Threads: [loop].
#pragma once

#include "config/config.hpp"
#include "connection/context.hpp"
#include "plugin/loading/catalogue.hpp"

#include <string>

namespace patchbay::app {

class PluginTransports final : public connection::TransportSource {
public:
    PluginTransports(plugin::Catalogue& plugins, const config::Config& config);

    bool has(const std::string& transport) const override;
    void prepare(const std::string& transport, connection::Prepared ready) override;
    // Another transport than the server's own gets those of its settings that it knows.
    Result<std::unique_ptr<plugin::Channel>> open(const std::string& transport,
                                                  plugin::ChannelOptions options,
                                                  plugin::ChannelEvents& events) override;

private:
    plugin::Catalogue& plugins_;
    const config::Config& config_;  // as it is in force
};

}  // namespace patchbay::app
