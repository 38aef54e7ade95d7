// What the plugins that there are make of a configuration: the servers that they bring, the approvals
// that are bound to them, the transports and auth methods that exist.
//
// Borrows the catalogue. Threads: [loop].
// Errors:  told as diagnostics, and as faults of what waits for an approval.
#pragma once

#include "app/server_auth.hpp"
#include "config/load.hpp"
#include "plugin/loading/catalogue.hpp"
#include "service/trust_file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

std::vector<config::PluginFragment> servers_of_plugins(const plugin::Catalogue& plugins);

// Of the settings of a transport; null: there is none.
boost::json::value schema_of(const plugin::Catalogue& plugins, const std::string& transport);

class PluginApprovals final : public config::Approvals {
public:
    enum class Shown { Yes, No };  // to a person, what waits for an approval
    PluginApprovals(const service::TrustFile& trust, const plugin::Catalogue& plugins, Shown shown)
        : trust_(trust), plugins_(plugins), shown_(shown) {}
    bool approved(const config::Proposal& proposal) const override {
        return trust_.approved(proposal);
    }
    bool looks_for_program(const config::Proposal& proposal) const override {
        return shown_ == Shown::Yes || trust_.knows(proposal);
    }
    std::string plugin_of(const std::string& transport) const override;
    std::string plugin_of_auth(const std::string& method) const override;

private:
    std::string provider_of(std::string_view kind, const std::string& name) const;

    const service::TrustFile& trust_;
    const plugin::Catalogue& plugins_;
    const Shown shown_;
};

// Transports, sign-ins and the ids of plugins that `config` names; what waits for an approval is
// judged like the rest.
void check_by_plugins(config::Config& config, const plugin::Catalogue& plugins,
                      const ServerAuth& server_auth);

}  // namespace patchbay::app
