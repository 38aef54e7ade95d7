#include "app/tracked_secrets.hpp"

#include "app/server_words.hpp"
#include "config/git_index.hpp"
#include "config/secret_values.hpp"
#include "core/json.hpp"

#include <map>
#include <string>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

void tell_tracked_secrets(config::Config& config) {
    std::map<std::string, bool> tracked;  // by file
    const auto is_tracked = [&](const std::string& file) {
        const auto [known, fresh] = tracked.try_emplace(file, false);
        if (fresh) known->second = config::git_tracks(file);
        return known->second;
    };
    const auto tell = [&](const std::string& id, const json::object& settings,
                          const config::Place& of_server) {
        auto names = clear_secrets(settings);
        if (const auto* args = core::array_in(&settings, "args"))
            for (const auto& parts : config::secret_parts(*args))
                if (!parts.empty() && (names.empty() || names.back() != "args"))
                    names.emplace_back("args");
        for (const auto& name : names) {
            const auto* origin = config.find_origin("servers." + id + "." + name);
            const auto& place = origin ? *origin : of_server;
            if (!is_tracked(place.file)) continue;
            config.diagnostics.push_back(
                {config::Severity::Warning, place,
                 "server \"" + id + "\": " + name +
                     " is in clear text in a file that git tracks; ${NAME} takes it from a "
                     "variable, ${secret:NAME} from `patchbay secret set`",
                 id});
        }
    };
    for (const auto& server : config.servers) tell(server.id, server.settings, server.place);
    for (const auto& proposal : config.untrusted)
        if (const auto* settings = core::object_in(&proposal.definition, "server"))
            tell(proposal.id, *settings, proposal.place);
}

}  // namespace patchbay::app
