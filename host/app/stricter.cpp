#include "app/stricter.hpp"

#include "config/approval.hpp"
#include "config/hold_back.hpp"
#include "config/levels.hpp"
#include "config/permission_lists.hpp"

#include <algorithm>
#include <set>
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
    std::set<std::string> keys;
    for (const auto* tools : {&std::as_const(server.tools), &said.tools})
        for (const auto& [key, level] : *tools) keys.insert(key);
    std::vector<std::pair<std::string, std::string>> lowered;  // and by which key
    for (const auto& key : keys) {
        const auto* by = config::deciding_key(said, key);
        if (!by) continue;
        const auto* known = config::deciding_key(server, key);
        const auto level = said.tools.at(*by);
        if (known ? level < server.tools.at(*known) : level <= config::Level::RequireApproval)
            lowered.emplace_back(key, *by);
    }
    for (const auto& [key, by] : lowered) {
        server.tools.insert_or_assign(key, said.tools.at(by));
        server.rules.insert_or_assign("tools." + key, said.place_of_rule("tools." + by));
    }
    return !lowered.empty();
}

bool tighten(config::Server& server, const config::Server& said) {
    bool changed = lower(server, said);
    if (server.enabled && !said.enabled) {
        server.enabled = false;
        server.turn_on = said.turn_on;
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
    if (config::freedom_of_pins(said.pins) < config::freedom_of_pins(server.pins)) {
        server.pins = said.pins;
        take_place(server, said, "pins");
        changed = true;
    }
    return changed;
}

// By each list and not by `allow`, which is empty where a file cannot be read, though nobody wrote that.
bool tighten(config::Permissions& now, const config::Permissions& said) {
    bool changed = add_missing(now.deny, said.deny);
    changed = add_missing(now.ask, said.ask) || changed;
    now.deny_places.insert(said.deny_places.begin(), said.deny_places.end());
    now.ask_places.insert(said.ask_places.begin(), said.ask_places.end());
    for (const auto& list : said.allow_lists) {
        if (!narrow(now.allow, list.patterns)) continue;
        now.allow_lists.push_back(list);
        now.allow_places.insert(said.allow_places.begin(), said.allow_places.end());
        changed = true;
    }
    return changed;
}

// What cannot be read of an agent may be what it was to be kept from.
bool tighten(config::Agent& agent, const config::Agent& said) {
    bool changed = narrow(agent.servers, said.servers);
    changed = narrow(agent.tools, said.tools) || changed;
    if (agent.enabled && !said.enabled) {
        agent.enabled = false;
        agent.place = said.place;
        changed = true;
    }
    if (agent.fault.empty() && !said.fault.empty()) {
        agent.fault = said.fault;
        changed = true;
    }
    return changed;
}

// One that no file has any more is off, as its servers would be.
bool tighten(std::vector<config::Agent>& agents, const config::Config& read) {
    bool changed = false;
    for (auto& agent : agents) {
        const auto said = std::find_if(read.agents.begin(), read.agents.end(),
                                       [&](const auto& each) { return each.name == agent.name; });
        if (said != read.agents.end()) {
            changed = tighten(agent, *said) || changed;
        } else if (agent.enabled && !read.unread.contains(agent.place.file)) {
            agent.enabled = false;
            changed = true;
        }
    }
    return changed;
}

// As with agents: what cannot be read of it may be what it was to be kept from.
bool tighten(config::Bundle& bundle, const config::Bundle& said) {
    const auto before = bundle.servers.size();
    std::erase_if(bundle.servers, [&](const auto& id) {
        return std::find(said.servers.begin(), said.servers.end(), id) == said.servers.end();
    });
    bool changed = bundle.servers.size() != before;
    changed = narrow(bundle.allow, said.allow) || changed;
    changed = add_missing(bundle.deny, said.deny) || changed;
    if (said.trust == "untrusted" && bundle.trust != said.trust) {
        bundle.trust = said.trust;
        changed = true;
    }
    if (said.mode == "meta" && bundle.mode != said.mode) {
        bundle.mode = said.mode;
        changed = true;
    }
    if (bundle.fault.empty() && !said.fault.empty()) {
        bundle.fault = said.fault;
        changed = true;
    }
    return changed;
}

bool tighten(std::vector<config::Bundle>& bundles, const config::Config& read) {
    bool changed = false;
    for (auto& bundle : bundles) {
        const auto said = std::find_if(read.bundles.begin(), read.bundles.end(),
                                       [&](const auto& each) { return each.name == bundle.name; });
        if (said != read.bundles.end()) {
            changed = tighten(bundle, *said) || changed;
        } else if (bundle.fault.empty() && !read.unread.contains(bundle.place.file)) {
            bundle.fault = config::to_string(bundle.place) + ": no file has it any more";
            changed = true;
        }
    }
    return changed;
}

const config::Server* find(const std::vector<config::Server>& servers, const std::string& id) {
    const auto found = std::find_if(servers.begin(), servers.end(),
                                    [&](const auto& each) { return each.id == id; });
    return found == servers.end() ? nullptr : &*found;
}

const config::Proposal* find_proposal(const config::Config& read, const std::string& id) {
    const auto found = std::find_if(read.untrusted.begin(), read.untrusted.end(),
                                    [&](const auto& each) { return each.id == id; });
    return found == read.untrusted.end() ? nullptr : &*found;
}

// By its file: another one of that name is another server.
bool is_defined(const config::Server& server, const config::Config& read) {
    const auto* said = find(read.servers, server.id);
    if (said && said->place.file == server.place.file) return true;
    return std::any_of(read.faulty.begin(), read.faulty.end(), [&](const auto& each) {
        return each.rules.id == server.id && each.files.contains(server.place.file);
    });
}

class Judge {
public:
    Judge(const config::Config& kept, const config::Config& read, Removed removed)
        : kept_(kept), read_(read), removed_(removed) {}

    // Why it is off, as Server::turn_on has it, and where that is said; nothing: it is not.
    std::optional<std::pair<std::string, config::Place>> why_off(
        const config::Server& server) const {
        using Why = std::pair<std::string, config::Place>;
        const bool of_a_checkout = config::from_project(server.place.scope);
        if (const auto* table = table_not_approved(server))
            return Why(
                "it uses " + table->id + ", which is not approved" + config::how_to_approve(*table),
                table->place);
        if (is_changed_by_enterprise(server))
            return Why(
                "an administrator has another one of that name; `patchbay config apply` brings it",
                find(read_.servers, server.id)->place);
        if (is_defined(server, read_)) return {};
        const auto* proposal = of_a_checkout ? find_proposal(read_, server.id) : nullptr;
        if (proposal)
            return Why("it is not approved" + config::how_to_approve(*proposal), proposal->place);
        const bool has_consent = !of_a_checkout || read_.consents.contains(server.id);
        if (read_.unread.contains(server.place.file)) {
            if (has_consent) return {};
            return Why("its approval is revoked", server.place);
        }
        // Nor is it known what is followed, or what of it counts.
        if (config::is_followed(server.place.scope) && !read_.unread.empty() && has_consent)
            return {};
        if (!read_.closed_by.empty()) return Why(read_.closed_by, server.place);
        const bool is_back = removed_ == Removed::IsBack && !of_a_checkout &&
                             server.place.scope != config::Scope::Enterprise;
        if (is_back) return {};
        return Why("that file does not define it any more", server.place);
    }

private:
    // Of a table that a checkout brought: of the same name another may be in force.
    const config::Proposal* table_not_approved(const config::Server& server) const {
        if (server.auth.empty()) return nullptr;
        const auto id = "auth." + server.auth;
        const auto* place = kept_.find_origin(id);
        return place && config::from_project(place->scope) ? find_proposal(read_, id) : nullptr;
    }

    bool is_changed_by_enterprise(const config::Server& server) const {
        const auto* said = find(read_.servers, server.id);
        if (!said || said->place.scope != config::Scope::Enterprise) return false;
        if (server.place.file != said->place.file) return true;
        return removed_ == Removed::IsBack &&
               (server.transport != said->transport || server.settings != said->settings);
    }

    const config::Config& kept_;
    const config::Config& read_;
    const Removed removed_;
};

bool turn_off(config::Server& server, const Judge& judge) {
    auto why = server.enabled ? judge.why_off(server) : std::nullopt;
    if (!why) return false;
    server.enabled = false;
    server.turn_on = std::move(why->first);
    server.rules.insert_or_assign("enabled", std::move(why->second));
    return true;
}

}  // namespace

std::optional<config::Config> made_stricter(const config::Config& kept, const config::Config& read,
                                            Removed removed) {
    auto stricter = kept;
    bool changed = tighten(stricter.permissions, read.permissions);
    changed = tighten(stricter.agents, read) || changed;
    changed = tighten(stricter.bundles, read) || changed;
    const Judge judge(kept, read, removed);
    for (auto& server : stricter.servers) {
        if (const auto* said = find(read.servers, server.id)) {
            changed = tighten(server, *said) || changed;
            // Shown to fewer: it has become one agent's own.
            if (server.agent.empty() && !said->agent.empty()) {
                server.agent = said->agent;
                changed = true;
            }
        }
        for (const auto& said : read.faulty)
            if (said.rules.id == server.id) changed = tighten(server, said.rules) || changed;
        changed = turn_off(server, judge) || changed;
    }
    if (!changed) return {};
    return stricter;
}

}  // namespace patchbay::app
