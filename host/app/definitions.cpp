#include "app/definitions.hpp"

#include "config/ids.hpp"
#include "config/keys.hpp"

#include <algorithm>

namespace patchbay::app {

std::vector<Definition> definitions_of(const std::string& id,
                                       const config::Environment& environment) {
    auto sources = config::discover(environment, {});
    config::settle_ids(sources.fragments);
    std::vector<Definition> found;
    for (const auto& fragment : sources.fragments)
        for (const auto& entry : fragment.servers)
            if (entry.id == id)
                found.push_back(
                    {fragment.source.place(entry.mark), config::defines_connection(entry.body)});
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.place.scope < b.place.scope; });
    return found;
}

const config::Server* server_of(const config::Config& config, const std::string& id) {
    const auto found = std::find_if(config.servers.begin(), config.servers.end(),
                                    [&](const auto& server) { return server.id == id; });
    return found == config.servers.end() ? nullptr : &*found;
}

}  // namespace patchbay::app
