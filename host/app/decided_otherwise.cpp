#include "app/decided_otherwise.hpp"

#include "app/host.hpp"
#include "app/session.hpp"
#include "config/levels.hpp"
#include "config/show.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"
#include "service/policy.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Level;

namespace {

DecidedOtherwise level_at(const config::Server& server, const std::string& key) {
    return {"tools \"" + core::printable(key, 80) + "\"", server.tools.at(key),
            server.place_of_rule("tools." + key), key};
}

std::string shown(const DecidedOtherwise& rule) {
    return rule.rule + " = " + config::name_of(rule.level) +
           (rule.place ? " (" + config::to_string(*rule.place) + ")" : "");
}

// The more specific keys. What is less so and stronger decides for all, and is told as that.
void add_levels(const config::Server& server, const PolicyTarget& target, Level level,
                std::vector<DecidedOtherwise>& found) {
    for (const auto& [key, said] : server.tools) {
        if (!protocol::matches(target.key, key)) continue;
        const auto* decides = config::deciding_key(server, key);
        if (!decides || server.tools.at(*decides) == level) continue;
        const bool told = std::any_of(found.begin(), found.end(),
                                      [&](const auto& each) { return each.key == *decides; });
        if (!told) found.push_back(level_at(server, *decides));
    }
}

// What is no level, for tools that are known: disabled_tools, [permissions] and their like.
void add_other_rules(Host& host, const PolicyTarget& target, Level level,
                     std::vector<DecidedOtherwise>& found) {
    using Kind = policy::Rule::Kind;
    host.recall_lists({target.server});
    const auto tools = service::policy_of(host.servers(), host.decisions(), {target.server});
    if (!tools) return;
    for (const auto& tool : *tools) {
        const auto& rule = tool.ruling.rule;
        if (!rule || rule->kind == Kind::Level || rule->kind == Kind::Allow ||
            tool.ruling.level == level || !protocol::matches(target.key, tool.tool))
            continue;
        DecidedOtherwise other{
            std::string(policy::name_of(rule->kind)) +
                (rule->text.empty() ? "" : " \"" + core::printable(rule->text, 80) + "\""),
            tool.ruling.level,
            rule->place,
            {}};
        const bool told = std::any_of(found.begin(), found.end(), [&](const auto& each) {
            return each.rule == other.rule && each.place == other.place;
        });
        if (!told) found.push_back(std::move(other));
    }
}

}  // namespace

std::string to_string(const DecidedOtherwise& rule, const std::string& server) {
    const auto text = shown(rule);
    if (rule.key.empty() || !rule.place) return text;
    if (rule.place->scope == config::Scope::Enterprise) return text + "; ask your administrator";
    const auto scope = std::string(config::name_of(rule.place->scope));
    if (scope != "user" && scope != "project" && scope != "local") return text;
    return text + "; patchbay policy reset " + core::shell_word(rule.key, 200) + " --server " +
           server + " --scope " + scope + (config::is_beginning(rule.key) ? " --exact" : "") +
           " takes it out";
}

json::object to_json(const DecidedOtherwise& rule) {
    json::object out{{"rule", rule.rule}, {"level", config::name_of(rule.level)}};
    if (rule.place) out["place"] = config::to_json(*rule.place);
    return out;
}

Standing standing_of(const GlobalOptions& global, const PolicyTarget& target, Level level) {
    Host host(host_options(global));
    const auto now = host.read_snapshot();
    Standing standing;
    const auto& all = now->config.servers;
    const auto server = std::find_if(all.begin(), all.end(),
                                     [&](const auto& each) { return each.id == target.server; });
    if (server == all.end()) {
        standing.in_force = false;
        standing.overruled_by =
            "the server is not in force; patchbay why " + target.server + " says why";
        return standing;
    }
    if (const auto* key = config::deciding_key(*server, target.key);
        key && server->tools.at(*key) != level) {
        standing.overruled_by = shown(level_at(*server, *key));
    }
    auto& found = standing.exceptions;
    add_levels(*server, target, level, found);
    std::erase_if(found, [&](const auto& each) { return shown(each) == standing.overruled_by; });
    add_other_rules(host, target, level, found);
    if (found.size() > kMostExceptions) {
        standing.more = found.size() - kMostExceptions;
        found.resize(kMostExceptions);
    }
    return standing;
}

}  // namespace patchbay::app
