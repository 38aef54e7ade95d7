#include "service/trust.hpp"

#include "config/approval.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "service/servers.hpp"

#include <algorithm>

namespace patchbay::service {
namespace json = boost::json;
using config::Proposal;

namespace {

json::array texts_of(const std::vector<std::string>& all) {
    return json::array(all.begin(), all.end());
}

}  // namespace

Stage stage_of(const Proposal& proposal, const TrustFile& trust) {
    const auto ids = trust.ids(proposal.directory);
    if (proposal.approved) return Stage::Approved;
    return std::find(ids.begin(), ids.end(), proposal.id) == ids.end() ? Stage::New
                                                                       : Stage::Changed;
}

json::object definition_of(const Proposal& proposal, const std::vector<Proposal>& shown,
                           const config::Config& config) {
    auto definition = proposal.definition;
    const auto name = core::text_in(core::object_in(&definition, "server"), "auth");
    if (!name || !definition.contains("auth_table")) return definition;
    const auto waiting_in = [id = "auth." + std::string(*name)](const auto& proposals) {
        return std::find_if(proposals.begin(), proposals.end(),
                            [&](const Proposal& other) { return other.id == id; });
    };
    if (waiting_in(shown) != shown.end()) return definition;
    const auto waiting = waiting_in(config.untrusted);
    const auto in_force = config.auth.find(std::string(*name));
    if (waiting != config.untrusted.end())
        definition["auth_table"] = waiting->definition.at("auth");
    else if (in_force != config.auth.end())
        definition["auth_table"] = in_force->second;
    return definition;
}

json::object to_json(const Proposal& proposal, const TrustFile& trust,
                     const config::Config& config) {
    const auto stage = stage_of(proposal, trust);
    std::vector<std::string> faults;
    for (const auto& fault : proposal.faults) faults.push_back(config::sentence_of(fault));
    return {{"id", proposal.id},
            {"state", stage == Stage::New       ? "new"
                      : stage == Stage::Changed ? "changed"
                                                : "approved"},
            {"changed", texts_of(stage == Stage::Changed ? trust.changed(proposal)
                                                         : std::vector<std::string>())},
            {"unbound", proposal.unbound},
            {"faults", texts_of(faults)},
            {"project", proposal.directory},
            {"source", config::to_string(proposal.place)},
            {"digest", proposal.digest},
            {"waits_for", proposal.waits_for},
            {"definition", definition_of(proposal, config.untrusted, config)}};
}

bool is_approved(const std::string& id, const config::Config& config) {
    return config.approved.contains(id) &&
           std::none_of(config.untrusted.begin(), config.untrusted.end(),
                        [&](const auto& proposal) { return proposal.id == id; });
}

Result<std::vector<Proposal>> chosen(const std::vector<std::string>& ids,
                                     const config::Config& config) {
    const auto& waiting = config.untrusted;
    std::vector<Proposal> picked;
    for (const auto& id : ids) {
        const auto found = std::find_if(waiting.begin(), waiting.end(),
                                        [&](const auto& proposal) { return proposal.id == id; });
        if (found != waiting.end()) {
            picked.push_back(*found);
            continue;
        }
        std::vector<std::string> known;
        for (const auto& proposal : waiting) known.push_back(proposal.id);
        const auto& servers = config.servers;
        const bool in_force = std::any_of(servers.begin(), servers.end(),
                                          [&](const auto& server) { return server.id == id; });
        if (auto otherwise = called_otherwise(config, id)) return *otherwise;
        return Error{ErrorCode::NotFound,
                     "\"" + core::printable(id, 80) + "\"" +
                         (in_force ? " needs no approval" : " does not wait for an approval") +
                         "; waiting: " + (known.empty() ? "nothing" : core::join(known, ", ")) +
                         passed_over(config)};
    }
    return picked;
}

}  // namespace patchbay::service
