#include "app/policy_targets.hpp"

#include "config/levels.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <string_view>

namespace patchbay::app {

namespace {

constexpr std::string_view kPrefix = "mcp__";
constexpr auto kAllTools = "*";

std::string beginning_of(const std::string& server) {
    return std::string(kPrefix) + server + "__";
}

// Disabled ones, those that wait for an approval and faulty ones too.
std::vector<std::string> servers_of(const config::Config& config) {
    std::vector<std::string> ids;
    for (const auto& server : config.servers) ids.push_back(server.id);
    for (const auto& proposal : config.untrusted)
        if (!proposal.is_table()) ids.push_back(proposal.id);
    for (const auto& faulty : config.faulty) ids.push_back(faulty.rules.id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

// The server's own name of the tool that is shown so; of one that nobody has listed what stands there.
std::string own_name(const std::string& server, const std::string& pattern, Host& host) {
    const auto begin = beginning_of(server);
    const auto& listings = host.catalogue().listings();
    if (const auto listed = listings.find(server); listed != listings.end())
        for (const auto& tool : listed->second->tools)
            if (protocol::public_name(server, tool.name) == pattern) return tool.name;
    return pattern.substr(begin.size());
}

Error no_server_for(const std::string& pattern, const std::vector<std::string>& ids) {
    const auto shown = "\"" + core::printable(pattern, 80) + "\"";
    if (!pattern.starts_with(kPrefix))
        return {ErrorCode::Invalid,
                shown +
                    " is no pattern: expected mcp__SERVER__TOOL, mcp__SERVER__create_*, "
                    "mcp__SERVER__* or mcp__*, or --server SERVER and the server's own names"};
    const auto end = pattern.find("__", kPrefix.size());
    const auto id = pattern.substr(kPrefix.size(), end - kPrefix.size());
    return {ErrorCode::NotFound,
            shown + " is about no server that is configured" + core::did_you_mean(id, ids)};
}

}  // namespace

std::optional<Error> why_no_key(const std::string& key) {
    if (key.find('*') >= key.size() - 1 && core::trimmed(key) == key) return {};
    return Error{ErrorCode::Invalid,
                 "\"" + core::printable(key, 80) +
                     "\" is no name of a tool and no beginning of names: a \"*\" "
                     "stands at the end alone, as in create_*"};
}

bool are_meant(const std::vector<PolicyTarget>& targets, const service::Decision& answer) {
    const auto& name = answer.tool.empty() ? answer.request : answer.tool;
    return std::any_of(targets.begin(), targets.end(), [&](const auto& target) {
        return target.server == answer.server && protocol::matches(target.key, name);
    });
}

Result<std::vector<PolicyTarget>> policy_targets(const PolicyWords& words, Host& host) {
    const auto ids = servers_of(host.config());
    std::vector<PolicyTarget> targets;
    const auto add = [&](std::string server, std::string key) {
        PolicyTarget target{std::move(server), std::move(key)};
        if (std::find(targets.begin(), targets.end(), target) == targets.end())
            targets.push_back(std::move(target));
    };
    if (!words.server.empty() && !host.servers().has(words.server) &&
        std::find(ids.begin(), ids.end(), words.server) == ids.end())
        return host.servers().no_such_server(words.server);
    if (words.all || !words.server.empty()) {
        const auto meant = words.all ? ids : std::vector{words.server};
        const auto keys =
            words.patterns.empty() ? std::vector<std::string>{kAllTools} : words.patterns;
        for (const auto& key : keys)
            if (auto why = why_no_key(key)) return *why;
        for (const auto& id : meant)
            for (const auto& key : keys)
                add(id, key.starts_with(beginning_of(id)) ? own_name(id, key, host) : key);
        return targets;
    }
    for (const auto& pattern : words.patterns) {
        if (auto why = why_no_key(pattern)) return *why;
        if (pattern == "mcp__*") {
            for (const auto& id : ids) add(id, kAllTools);
            continue;
        }
        const auto owners = protocol::servers_for(std::string(config::beginning_in(pattern)), ids);
        if (owners.empty()) return no_server_for(pattern, ids);
        auto key = own_name(owners.front(), pattern, host);
        if (key.empty())
            return Error{ErrorCode::Invalid, "\"" + core::printable(pattern, 80) +
                                                 "\" names no tool; " + pattern +
                                                 "* is all of the server, and what was "
                                                 "answered about its requests is named by their "
                                                 "methods: --server " +
                                                 owners.front() + " resources/read"};
        add(owners.front(), std::move(key));
    }
    return targets;
}

}  // namespace patchbay::app
