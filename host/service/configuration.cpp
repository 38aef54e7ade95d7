#include "service/configuration.hpp"

#include "config/agents.hpp"
#include "config/bundles.hpp"
#include "policy/contradictory_rules.hpp"
#include "policy/unmatched_rules.hpp"

#include <filesystem>

namespace patchbay::service {

const char* word_of(config::Candidate::Found found) {
    switch (found) {
        case config::Candidate::Found::Absent:
            return "absent";
        case config::Candidate::Found::Read:
            return "read";
        case config::Candidate::Found::Unreadable:
            return "unreadable";
        case config::Candidate::Found::Broken:
            return "broken";
        case config::Candidate::Found::Ignored:
            return "ignored";
    }
    return "?";
}

boost::json::object to_json(const config::Candidate& candidate) {
    return {{"scope", config::name_of(candidate.scope)},
            {"found", word_of(candidate.found)},
            {"path", candidate.path},
            {"note", candidate.note}};
}

config::Scope scope_of(const std::string& file, const std::vector<config::Candidate>& candidates) {
    std::error_code none;
    const auto path = std::filesystem::weakly_canonical(file, none);
    for (const auto& candidate : candidates) {
        if (std::filesystem::weakly_canonical(candidate.path, none) == path) return candidate.scope;
    }
    const auto name = path.filename().string();
    if (name.starts_with(".patchbay.local.")) return config::Scope::Local;
    if (name.starts_with(".mcp.") || path.parent_path().filename() == ".patchbay")
        return config::Scope::Project;
    return config::Scope::User;
}

std::vector<config::Diagnostic> diagnostics_of(const config::Config& config) {
    auto all = config.diagnostics;
    for (auto& warning : policy::unmatched_rules(config, {})) all.push_back(std::move(warning));
    for (auto& warning : policy::contradictory_rules(config)) all.push_back(std::move(warning));
    for (const auto& agent : config.agents)
        if (agent.enabled)
            for (auto& warning : config::missing_servers(config, agent))
                all.push_back(std::move(warning));
    for (const auto& bundle : config.bundles)
        for (auto& warning : config::missing_servers(config, bundle))
            all.push_back(std::move(warning));
    for (auto& warning : config::empty_views(config)) all.push_back(std::move(warning));
    return all;
}

}  // namespace patchbay::service
