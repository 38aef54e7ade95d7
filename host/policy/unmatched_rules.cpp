#include "policy/unmatched_rules.hpp"

#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>

namespace patchbay::policy {
using config::Diagnostic;
using config::Place;
using config::Severity;

namespace {

constexpr std::string_view kPublicPrefix = "mcp__";

bool starts_like(std::string_view a, std::string_view b) {
    const auto common = std::min(a.size(), b.size());
    return a.substr(0, common) == b.substr(0, common);
}

class Search {
public:
    Search(const config::Config& config, const KnownTools& known) : config_(config), known_(known) {
        for (const auto& server : config.servers) {
            configured_.push_back(server.id);
            if (server.enabled) ids_.push_back(server.id);
        }
        for (const auto& proposal : config.untrusted) configured_.push_back(proposal.id);
        for (const auto& diagnostic : config.diagnostics)
            if (!diagnostic.server.empty()) configured_.push_back(diagnostic.server);
        for (const auto& [id, tools] : known)
            for (const auto& tool : tools) names_.add(id, tool);
    }

    std::vector<Diagnostic> run() {
        for (const auto& server : config_.servers) check(server);
        const auto& permissions = config_.permissions;
        for (const auto& pattern : permissions.deny)
            check("permissions.deny", pattern, permissions.deny_places);
        if (!permissions.allow) return std::move(found_);
        for (const auto& pattern : *permissions.allow)
            check("permissions.allow", pattern, permissions.allow_places);
        return std::move(found_);
    }

private:
    void check(const config::Server& server) {
        const auto known = known_.find(server.id);
        if (known == known_.end()) return;
        const auto look = [&](const std::string& key, const std::string& tool) {
            const auto& tools = known->second;
            if (std::find(tools.begin(), tools.end(), tool) != tools.end()) return;
            found_.push_back(
                {Severity::Warning, server.place_of_rule(key),
                 "server \"" + server.id + "\": " + key + " names \"" + core::printable(tool, 80) +
                     "\", and the server has no such tool" + core::did_you_mean(tool, tools),
                 server.id});
        };
        if (server.enabled_tools)
            for (const auto& tool : *server.enabled_tools) look("enabled_tools", tool);
        for (const auto& tool : server.disabled_tools) look("disabled_tools", tool);
        for (const auto& [tool, level] : server.tools) look("tools." + tool, tool);
    }

    void check(const char* key, const std::string& pattern,
               const std::map<std::string, Place>& places) {
        const auto tell = [&](const std::string& why) {
            const auto place = places.find(pattern);
            found_.push_back(
                {Severity::Warning,
                 place == places.end() ? Place() : place->second,
                 std::string(key) + ": \"" + core::printable(pattern, 80) + "\" " + why,
                 {}});
        };
        const bool open = !pattern.empty() && pattern.back() == '*';
        const auto begin = std::string_view(pattern).substr(0, pattern.size() - (open ? 1 : 0));
        if (!starts_like(begin, kPublicPrefix) || (!open && begin.size() <= kPublicPrefix.size()))
            return tell("can match no tool: public names are mcp__SERVER__TOOL");
        if (const auto hint = near_server(begin); !hint.empty())
            return tell("concerns no server that is configured" + hint);
        // A rule for servers that are not here, or not known yet, may be right elsewhere.
        const auto owners = open ? owners_of(begin) : protocol::servers_for(pattern, ids_);
        std::vector<std::string> names;
        for (const auto& id : owners) {
            const auto known = known_.find(id);
            if (known == known_.end()) return;
            for (const auto& tool : known->second) names.push_back(names_.public_name(id, tool));
        }
        const bool matched = std::any_of(names.begin(), names.end(), [&](const auto& name) {
            return protocol::matches(pattern, name);
        });
        // A pattern that covers a whole server concerns more than its tools.
        const bool whole = open && std::any_of(owners.begin(), owners.end(), [&](const auto& id) {
                               return protocol::matches(pattern, "mcp__" + id + "__");
                           });
        if (owners.empty() || matched || whole) return;
        tell("matches no tool of " + std::string(owners.size() == 1 ? "server \"" : "servers \"") +
             core::join(owners, "\", \"") + "\"" +
             (open ? std::string() : near_tools(pattern, owners.front(), names)));
    }

    // Compared without what all tools of the server begin with: that makes any two names alike.
    static std::string near_tools(std::string_view wanted, const std::string& owner,
                                  const std::vector<std::string>& names) {
        const auto prefix = "mcp__" + owner + "__";
        std::vector<std::string> ends, near;
        for (const auto& name : names)
            if (name.starts_with(prefix)) ends.push_back(name.substr(prefix.size()));
        for (const auto& end :
             core::nearest(wanted.substr(std::min(prefix.size(), wanted.size())), ends))
            near.push_back(prefix + end);
        return near.empty() ? "" : "; did you mean \"" + core::join(near, "\" or \"") + "\"?";
    }

    std::vector<std::string> owners_of(std::string_view begin) const {
        std::vector<std::string> owners;
        for (const auto& id : ids_)
            if (starts_like(begin, "mcp__" + id + "__")) owners.push_back(id);
        return owners;
    }

    // Nothing when the server that `begin` names is configured, or is like none that is.
    std::string near_server(std::string_view begin) const {
        const auto rest = begin.substr(std::min(begin.size(), kPublicPrefix.size()));
        const auto end = rest.find("__");
        if (end == std::string_view::npos) return {};
        const auto id = rest.substr(0, end);
        if (std::find(configured_.begin(), configured_.end(), id) != configured_.end()) return {};
        return core::did_you_mean(id, configured_);
    }

    const config::Config& config_;
    const KnownTools& known_;
    std::vector<std::string> configured_;  // disabled, untrusted and faulty ones too
    std::vector<std::string> ids_;         // of those that are enabled
    protocol::NameTable names_;
    std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> unmatched_rules(const config::Config& config, const KnownTools& known) {
    return Search(config, known).run();
}

}  // namespace patchbay::policy
