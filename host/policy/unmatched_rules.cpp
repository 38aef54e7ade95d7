#include "policy/unmatched_rules.hpp"

#include "config/levels.hpp"
#include "core/text.hpp"
#include "policy/readings.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace patchbay::policy {
using config::Diagnostic;
using config::Place;
using config::RuleId;
using config::Severity;

namespace {

constexpr std::string_view kPublicPrefix = "mcp__";

// A person reads no more, and each costs a look at all names: a file may hold thousands of rules, a
// server list thousands of tools.
constexpr std::size_t kMostWarnings = 20;

constexpr auto kClosed = "; it may be meant for others, so all its tools are denied";
constexpr auto kSettled =
    "may mean more, but denies that tool alone since there is one; write its public name";

bool starts_like(std::string_view a, std::string_view b) {
    const auto common = std::min(a.size(), b.size());
    return a.substr(0, common) == b.substr(0, common);
}

bool rules_of(const config::Server& server) {
    return server.enabled_tools || !server.disabled_tools.empty() || !server.tools.empty();
}

class UnmatchedSearch {
public:
    UnmatchedSearch(const config::Config& config, const KnownTools& known)
        : config_(config), known_(known), readings_(config.servers) {
        for (const auto& server : config.servers) {
            configured_.push_back(server.id);
            if (server.enabled) ids_.push_back(server.id);
        }
        for (const auto& proposal : config.untrusted) configured_.push_back(proposal.id);
        for (const auto& diagnostic : config.diagnostics)
            if (!diagnostic.server.empty()) configured_.push_back(diagnostic.server);
    }

    std::vector<Diagnostic> run(OfAgents of_agents) {
        for (const auto& server : config_.servers) check(server);
        const auto& permissions = config_.permissions;
        for (const auto& pattern : permissions.deny)
            check("permissions.deny", pattern, permissions.deny_places, readings_.of_deny(pattern));
        for (const auto& pattern : permissions.ask)
            check("permissions.ask", pattern, permissions.ask_places, readings_.of_deny(pattern));
        if (permissions.allow)
            for (const auto& pattern : *permissions.allow)
                check("permissions.allow", pattern, permissions.allow_places,
                      {readings_.of_allow(pattern), {}, {}});
        if (of_agents == OfAgents::Yes) check_views();
        return end();
    }

    std::vector<Diagnostic> run_views() {
        check_views();
        return end();
    }

    std::vector<Diagnostic> run(const config::Bundle& bundle) {
        check(bundle);
        return end();
    }

    std::vector<Diagnostic> run(const std::string& option,
                                const std::vector<std::string>& patterns) {
        check_shown({{}, {}, nullptr, "shows", {config::Scope::Session, option, 0, 0}}, patterns);
        return end();
    }

private:
    std::vector<Diagnostic> end() {
        if (full()) {
            auto& rest = found_.emplace_back();
            rest.rule = RuleId::UnmatchedRule;
            rest.severity = Severity::Warning;
            rest.message = "more rules may match no tool: the rest was not looked at";
        }
        return std::move(found_);
    }

    // A list of what is shown, or of what is hidden of that.
    struct ShownList {
        std::string key;  // empty: an option, which `otherwise` names
        std::map<std::string, Place> places;
        const std::vector<std::string>* among = nullptr;  // servers; null: all
        const char* verb = "shows";
        Place otherwise = {};
    };
    // These are read as they stand: they show, and have no other names for what they hide.
    void check_shown(const ShownList& list, const std::vector<std::string>& patterns) {
        for (const auto& pattern : patterns) {
            if (full()) return;
            auto why = fault_of(pattern);
            // A rule may be for a server that is elsewhere; what is shown is shown here.
            if (why.empty() && names_a_stranger(pattern))
                why = "concerns no server that is configured";
            if (why.empty() && list.among && is_of_others(pattern, *list.among))
                why = "concerns none of its servers";
            if (why.empty()) continue;
            const auto place = list.places.find(pattern);
            found_.push_back({RuleId::UnmatchedRule,
                              Severity::Warning,
                              place == list.places.end() ? list.otherwise : place->second,
                              list.key + (list.key.empty() ? "\"" : ": \"") +
                                  core::printable(pattern, 80) + "\" " + list.verb +
                                  " nothing: it " + why,
                              {}});
        }
    }

    void check_views() {
        for (const auto& agent : config_.agents)
            if (agent.enabled && agent.fault.empty() && agent.tools)
                check_shown({"agents." + agent.name + ".tools", agent.tool_places}, *agent.tools);
        for (const auto& bundle : config_.bundles) check(bundle);
    }

    void check(const config::Bundle& bundle) {
        if (!bundle.fault.empty()) return;
        const auto name = "bundles." + bundle.name;
        if (bundle.allow)
            check_shown({name + ".allow", bundle.allow_places, &bundle.servers}, *bundle.allow);
        check_shown({name + ".deny", bundle.deny_places, &bundle.servers, "hides"}, bundle.deny);
    }

    bool is_of_others(const std::string& pattern, const std::vector<std::string>& ids) const {
        const auto owners = owners_of(pattern);
        return !owners.empty() && std::none_of(owners.begin(), owners.end(), [&](const auto& id) {
            return std::find(ids.begin(), ids.end(), id) != ids.end();
        });
    }

    bool full() const { return found_.size() >= kMostWarnings; }

    void check(const config::Server& server) {
        if (!rules_of(server)) return;
        const auto known = known_.find(server.id);
        if (known == known_.end()) return;
        const auto& tools = known->second;
        const std::unordered_set<std::string_view> there(tools.begin(), tools.end());
        const auto look = [&](const std::string& key, const std::string& tool, bool forbids) {
            if (full()) return;
            if (key.starts_with("tools.") && config::is_beginning(tool) &&
                (!forbids || is_plain_beginning(server, tool)))
                return look_for_beginning(server, key, tool, tools);
            const bool is_listed = there.contains(forbids ? core::trimmed(tool) : tool);
            auto meant = forbids ? forbidden_by(server, tool) : Forbidden();
            const bool sure = std::all_of(meant.doubts.begin(), meant.doubts.end(),
                                          [](const auto& doubt) { return doubt.usual; });
            if (is_listed && meant.cut.empty() && sure) return;
            const auto [wide, closed, settled] = widened(meant);
            const auto matches_one = [&](const auto& pattern) {
                return matches_any(pattern, server.id);
            };
            auto why = ", and the server has no such tool" + std::string(closed ? kClosed : "") +
                       core::did_you_mean(tool, tools);
            auto rule = RuleId::WideRule;
            if (!closed && !wide.empty())
                why = ", which " + why_all_that_begins(core::trimmed(tool), wide);
            else if (is_listed)
                why = ", which " + std::string(kSettled);
            else
                rule = RuleId::UnmatchedRule;
            if (rule == RuleId::UnmatchedRule && !closed &&
                std::any_of(meant.patterns.begin(), meant.patterns.end(), matches_one))
                return;
            found_.push_back({rule, Severity::Warning, server.place_of_rule(key, tool),
                              "server \"" + server.id + "\": " + key + " names \"" +
                                  core::printable(tool, 80) + "\"" + why,
                              server.id});
        };
        if (server.enabled_tools)
            for (const auto& tool : *server.enabled_tools) look("enabled_tools", tool, false);
        for (const auto& tool : server.disabled_tools) look("disabled_tools", tool, true);
        for (const auto& [tool, level] : server.tools)
            look("tools." + tool, tool, level <= config::Level::Deny);
    }

    // Of a level for all tools that begin so.
    void look_for_beginning(const config::Server& server, const std::string& key,
                            const std::string& written, const std::vector<std::string>& tools) {
        const auto begin = config::beginning_in(written);
        const auto begins_so = [&](const auto& tool) { return tool.starts_with(begin); };
        if (begin.empty() || std::any_of(tools.begin(), tools.end(), begins_so)) return;
        std::set<std::string> beginnings;
        for (const auto& tool : tools) beginnings.insert(tool.substr(0, begin.size()));
        found_.push_back({RuleId::UnmatchedRule, Severity::Warning, server.place_of_rule(key),
                          "server \"" + server.id + "\": " + key + " names \"" +
                              core::printable(written, 80) +
                              "\", and no tool of the server begins so" +
                              core::did_you_mean(begin, {beginnings.begin(), beginnings.end()}),
                          server.id});
    }

    void check(const char* key, const std::string& pattern,
               const std::map<std::string, Place>& places, Forbidden meant) {
        if (full()) return;
        std::string why;
        auto rule = RuleId::UnmatchedRule;
        if (meant.patterns.empty()) {
            rule = RuleId::AmbiguousName;
            why =
                "may be about two servers, so it allows nothing of either; write the id as in "
                "`patchbay mcp list`";
        } else {
            const auto [wide, closed, settled] = widened(meant);
            // What it stands for counts, and alone where it says the name of no server that is here.
            const auto itself = meant.patterns.front();
            if (meant.patterns.size() > 1 && owners_of(itself).empty())
                meant.patterns.erase(meant.patterns.begin());
            for (const auto& each : meant.patterns) {
                const auto fault = fault_of(each);
                if (fault.empty()) {
                    why.clear();
                    break;
                }
                if (fault.size() > why.size()) why = fault;  // the one with a hint
            }
            if (why.empty()) rule = RuleId::WideRule;
            if (why.empty() && !wide.empty()) why = why_all_that_begins(itself, wide);
            if (why.empty() && settled) why = kSettled;
        }
        if (why.empty()) return;
        const auto place = places.find(pattern);
        found_.push_back({rule,
                          Severity::Warning,
                          place == places.end() ? Place() : place->second,
                          std::string(key) + ": \"" + core::printable(pattern, 80) + "\" " + why,
                          {}});
    }

    struct Width {
        std::string beginning;  // all that begins so is denied; empty: there is no such thing
        bool closed = false;    // for a doubt that holds
        bool settled = false;   // a doubt does not, for what its server lists
    };
    // Adds the patterns of doubts that hold.
    Width widened(Forbidden& meant) const {
        Width width{meant.cut};
        for (const auto& doubt : meant.doubts) {
            const auto tools = known_.find(doubt.server);
            if (tools == known_.end()) continue;
            const auto is_meant = [&](const std::string& tool) {
                return doubt.open ? tool.starts_with(doubt.name) : tool == doubt.name;
            };
            if (std::any_of(tools->second.begin(), tools->second.end(), is_meant)) {
                width.settled = !doubt.usual;
                continue;
            }
            width.closed = true;
            width.beginning = "mcp__" + doubt.server + "__";
            meant.patterns.push_back(width.beginning + "*");
        }
        return width;
    }

    static std::string why_all_that_begins(std::string_view written, const std::string& beginning) {
        std::string_view begins = beginning;
        if (!written.starts_with(kPublicPrefix))
            begins.remove_prefix(beginning.find("__", kPublicPrefix.size()) + 2);
        auto at = static_cast<std::size_t>(  // of the mark
            std::mismatch(written.begin(), written.end(), begins.begin(), begins.end()).first -
            written.begin());
        at += plain_length(written.substr(at));
        auto end = at + 1;
        while (end < written.size() && (static_cast<unsigned char>(written[end]) & 0xC0) == 0x80)
            ++end;
        return "holds a \"" + core::printable(written.substr(at, end - at), 80) +
               "\", which may stand for more, so all that begins with \"" +
               core::printable(beginning, 80) +
               "\" is denied; a beginning ends in \"*\", and one tool alone has a public name";
    }

    bool matches_any(const std::string& pattern, const std::string& server) {
        const auto& names = names_of(server);
        if (!pattern.ends_with('*')) return names.all.contains(pattern);
        return std::any_of(names.list.begin(), names.list.end(),
                           [&](const auto& name) { return protocol::matches(pattern, name); });
    }

    // What it says of no tool; empty: it is about some, or nobody knows.
    std::string fault_of(const std::string& pattern) {
        const bool open = !pattern.empty() && pattern.back() == '*';
        const auto begin = std::string_view(pattern).substr(0, pattern.size() - (open ? 1 : 0));
        const bool names_a_tool = begin.size() > kPublicPrefix.size() &&
                                  begin.find("__", kPublicPrefix.size()) != std::string_view::npos;
        const auto server = begin.substr(std::min(begin.size(), kPublicPrefix.size()));
        if (begin.starts_with(kPublicPrefix) && !server.empty() && !open && !names_a_tool &&
            !is_configured(server)) {  // one that is not here, alone
            const auto hint = near(server);
            return hint.empty() ? hint : "concerns no server that is configured" + hint;
        }
        if (!starts_like(begin, kPublicPrefix) || (!open && !names_a_tool))
            return "can match no tool: public names are mcp__SERVER__TOOL, and mcp__SERVER__* is "
                   "all of a server";
        if (const auto hint = near_server(begin); !hint.empty())
            return "concerns no server that is configured" + hint;
        // A rule for servers that are not here, or not known yet, may be right elsewhere.
        const auto owners = owners_of(pattern);
        bool matched = false;
        for (const auto& id : owners) {
            if (!known_.contains(id)) return {};
            matched = matched || matches_any(pattern, id);
        }
        // What is asked of a whole server, its resources and prompts, is judged as "mcp__ID__".
        const bool whole = std::any_of(owners.begin(), owners.end(), [&](const auto& id) {
            return protocol::matches(pattern, "mcp__" + id + "__");
        });
        if (owners.empty() || matched || whole) return {};
        return "matches no tool of " +
               std::string(owners.size() == 1 ? "server \"" : "servers \"") +
               core::join(owners, "\", \"") + "\"" +
               (open ? std::string()
                     : near_tools(pattern, owners.front(), names_of(owners.front()).list));
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

    struct Names {  // public ones
        std::vector<std::string> list;
        std::unordered_set<std::string_view> all;
    };
    const Names& names_of(const std::string& id) {
        const auto [at, added] = public_names_.try_emplace(id);
        auto& [list, all] = at->second;
        if (!added) return at->second;
        if (public_names_.size() == 1)  // a rule asks for the first time
            for (const auto& [server, tools] : known_)
                for (const auto& tool : tools) names_.add(server, tool);
        for (const auto& tool : known_.at(id)) list.push_back(names_.public_name(id, tool));
        all.insert(list.begin(), list.end());
        return at->second;
    }

    std::vector<std::string> owners_of(std::string_view pattern) const {
        if (!pattern.ends_with('*')) return protocol::servers_for(pattern, ids_);
        pattern.remove_suffix(1);
        std::vector<std::string> owners;
        for (const auto& id : ids_)
            if (starts_like(pattern, "mcp__" + id + "__")) owners.push_back(id);
        return owners;
    }

    // Nothing when the server that `begin` names is configured, or is like none that is.
    std::string near_server(std::string_view begin) {
        const auto rest = begin.substr(std::min(begin.size(), kPublicPrefix.size()));
        const auto end = rest.find("__");
        if (end == std::string_view::npos) return {};
        const auto id = rest.substr(0, end);
        return is_configured(id) ? std::string() : near(id);
    }

    bool names_a_stranger(std::string_view pattern) const {
        if (!pattern.starts_with(kPublicPrefix)) return false;
        const auto rest = pattern.substr(kPublicPrefix.size());
        const auto end = rest.find("__");
        return end != std::string_view::npos && !is_configured(rest.substr(0, end));
    }

    bool is_configured(std::string_view id) const {
        return std::find(configured_.begin(), configured_.end(), id) != configured_.end();
    }

    std::string near(std::string_view id) {
        if (strangers_++ >= kMostWarnings) return {};
        return core::did_you_mean(id, configured_);
    }

    const config::Config& config_;
    const KnownTools& known_;
    const Readings readings_;
    std::vector<std::string> configured_;  // disabled, untrusted and faulty ones too
    std::vector<std::string> ids_;         // of those that are enabled
    protocol::NameTable names_;
    std::map<std::string, Names> public_names_;  // of servers that a rule was about
    std::size_t strangers_ = 0;                  // rules about servers that are not configured
    std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> unmatched_rules(const config::Config& config, const KnownTools& known,
                                        OfAgents of_agents) {
    return UnmatchedSearch(config, known).run(of_agents);
}

bool has_rules(const config::Config& config) {
    return config.permissions.allow || !config.permissions.deny.empty() ||
           !config.permissions.ask.empty() ||
           std::any_of(config.servers.begin(), config.servers.end(), rules_of) ||
           std::any_of(config.agents.begin(), config.agents.end(),
                       [](const auto& agent) { return agent.enabled && agent.tools; }) ||
           std::any_of(config.bundles.begin(), config.bundles.end(),
                       [](const auto& bundle) { return bundle.allow || !bundle.deny.empty(); });
}

std::vector<Diagnostic> unmatched_in_views(const config::Config& config, const KnownTools& known) {
    return UnmatchedSearch(config, known).run_views();
}

std::vector<Diagnostic> unmatched_in_bundle(const config::Config& config, const KnownTools& known,
                                            const config::Bundle& bundle) {
    return UnmatchedSearch(config, known).run(bundle);
}

std::vector<Diagnostic> unmatched_patterns(const config::Config& config, const KnownTools& known,
                                           const std::string& option,
                                           const std::vector<std::string>& patterns) {
    return UnmatchedSearch(config, known).run(option, patterns);
}

}  // namespace patchbay::policy
