#include "app/stricter.hpp"

#include "config/permission_lists.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

using Names = std::vector<std::string>;

// True: there is one more.
bool add_missing(Names& names, const Names& more) {
    const auto before = names.size();
    for (const auto& each : more)
        if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
    return names.size() > before;
}

bool narrow(std::optional<Names>& allowed, const std::optional<Names>& more) {
    if (!more || allowed == more) return false;
    auto both = allowed ? config::intersection(*allowed, *more) : *more;
    if (allowed && both == *allowed) return false;
    allowed = std::move(both);
    return true;
}

void take_place(config::Server& server, const config::Server& said, const std::string& rule) {
    if (const auto found = said.rules.find(rule); found != said.rules.end())
        server.rules.insert_or_assign(rule, found->second);
}

// A tool that has no level is allowed to a person, as long as nobody says that they are to be asked.
bool lower(config::Server& server, const config::Server& said) {
    bool changed = false;
    for (const auto& [tool, level] : said.tools) {
        const auto known = server.tools.find(tool);
        const bool lower_now = known == server.tools.end() ? level <= config::Level::RequireApproval
                                                           : level < known->second;
        if (!lower_now) continue;
        server.tools.insert_or_assign(tool, level);
        take_place(server, said, "tools." + tool);
        changed = true;
    }
    return changed;
}

bool tighten(config::Server& server, const config::Server& said) {
    bool changed = lower(server, said);
    if (server.enabled && !said.enabled) {
        server.enabled = false;
        take_place(server, said, "enabled");
        changed = true;
    }
    if (narrow(server.enabled_tools, said.enabled_tools)) {
        take_place(server, said, "enabled_tools");
        changed = true;
    }
    if (add_missing(server.disabled_tools, said.disabled_tools)) {
        take_place(server, said, "disabled_tools");
        changed = true;
    }
    if (said.trust == "untrusted" && server.trust != "untrusted") {
        server.trust = said.trust;
        take_place(server, said, "trust");
        changed = true;
    }
    return changed;
}

bool tighten(config::Permissions& now, const config::Permissions& said) {
    bool changed = add_missing(now.deny, said.deny);
    now.deny_places.insert(said.deny_places.begin(), said.deny_places.end());
    // Where a file cannot be read, `allow` is what nobody wrote.
    if (said.closed.empty() && narrow(now.allow, said.allow)) {
        now.allow_lists.insert(now.allow_lists.end(), said.allow_lists.begin(),
                               said.allow_lists.end());
        now.allow_places.insert(said.allow_places.begin(), said.allow_places.end());
        changed = true;
    }
    return changed;
}

}  // namespace

std::optional<config::Config> made_stricter(const config::Config& now, const config::Config& read) {
    auto stricter = now;
    bool changed = tighten(stricter.permissions, read.permissions);
    for (auto& server : stricter.servers)
        for (const auto& said : read.servers)
            if (said.id == server.id && tighten(server, said)) changed = true;
    if (!changed) return {};
    return stricter;
}

}  // namespace patchbay::app
