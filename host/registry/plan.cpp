#include "registry/plan.hpp"

#include "config/hold_back.hpp"
#include "config/levels.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/qualified_name.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace patchbay::registry {
namespace json = boost::json;
using config::Level;

namespace {

using Names = std::vector<std::string>;

// Keys that one of the two does not have, or has another digest of.
Names changed_keys(const Digests& before, const Digests& after) {
    std::set<std::string> changed;
    for (const auto& [key, digest] : before) {
        const auto now = after.find(key);
        if (now == after.end() || now->second != digest) changed.insert(key);
    }
    for (const auto& [key, digest] : after)
        if (!before.contains(key)) changed.insert(key);
    return {changed.begin(), changed.end()};
}

// Sorted; those of `all` that `others` does not have.
Names beyond(const Names& all, const Names& others) {
    const std::set<std::string> known(others.begin(), others.end());
    std::set<std::string> left;
    for (const auto& each : all)
        if (!known.contains(each)) left.insert(each);
    return {left.begin(), left.end()};
}

std::string with_sign(const char* sign, const Names& names) {
    return std::string(sign) + " " + core::join(names, ", ");
}

std::string word_of_pins(const std::string& pins) {
    return pins.empty() ? "default" : pins;
}

// Two sides of a change, in the order in which rules are written down.
class Rules {
public:
    explicit Rules(Plan& plan) : plan_(plan) {}

    void server(const std::string& id, const ServerRules& before, const ServerRules& after) {
        const std::string at = "servers." + id + ".";
        if (before.untrusted != after.untrusted)
            tell(before.untrusted, at + "trust",
                 before.untrusted ? "no longer untrusted" : "untrusted");
        if (before.pins != after.pins)
            tell(config::freedom_of_pins(after.pins) > config::freedom_of_pins(before.pins),
                 at + "pins", word_of_pins(before.pins) + " -> " + word_of_pins(after.pins));
        enabled_tools(at + "enabled_tools", before, after);
        const auto& was = before.disabled_tools;
        const auto& is = after.disabled_tools;
        list(false, at + "disabled_tools", was, is);
        std::set<std::string> named;
        for (const auto* rules : {&before, &after})
            for (const auto& [tool, level] : rules->tools) named.insert(tool);
        for (const auto& tool : named) level(at + "tools." + tool, tool, before, after);
    }

    void permissions(const Imprint& before, const Imprint& after) {
        if (before.closed != after.closed)
            tell(before.closed, "permissions",
                 after.closed ? "deny everything" : "no longer deny everything");
        if (before.closed || after.closed) return;  // what the lists say counts on one side at most
        const std::string at = "permissions.allow";
        if (before.allow && after.allow) {
            list(true, at, *before.allow, *after.allow);
        } else if (after.allow) {
            // Of what such a list names nobody is asked to approve a call; the rest is denied.
            if (!after.allow->empty())
                tell(true, at, with_sign("+", *after.allow) + " (without an approval)");
            tell(false, at, "only what it names");
        } else if (before.allow) {
            tell(true, at, "no longer only what it names");
            if (!before.allow->empty())
                tell(false, at, with_sign("-", *before.allow) + " (not without an approval)");
        }
        list(false, "permissions.deny", before.deny, after.deny);
        list(false, "permissions.ask", before.ask, after.ask);
    }

private:
    void tell(bool wider, const std::string& rule, std::string how) {
        (wider ? plan_.widened : plan_.narrowed).push_back({rule, std::move(how)});
    }

    void list(bool allows, const std::string& rule, const Names& before, const Names& after) {
        if (const auto more = beyond(after, before); !more.empty())
            tell(allows, rule, with_sign("+", more));
        if (const auto gone = beyond(before, after); !gone.empty())
            tell(!allows, rule, with_sign("-", gone));
    }

    void enabled_tools(const std::string& rule, const ServerRules& before,
                       const ServerRules& after) {
        const auto& was = before.enabled_tools;
        const auto& is = after.enabled_tools;
        if (was && is) return list(true, rule, *was, *is);
        if (is) {
            // Of an untrusted server a tool is allowed by being named.
            if (after.untrusted && !is->empty()) tell(true, rule, with_sign("+", *is));
            tell(false, rule, "only what it names");
        } else if (was) {
            tell(true, rule, "no longer only what it names");
            if (before.untrusted && !was->empty()) tell(false, rule, with_sign("-", *was));
        }
    }

    // More is freer. Where nobody wrote one, a tool of an untrusted server is denied; of another what is typed is not
    // asked about.
    static int freedom_in(const ServerRules& rules, const std::string& tool) {
        if (const auto level = rules.level_of(tool)) return 2 * static_cast<int>(*level);
        return rules.untrusted && !rules.enabled_tools
                   ? 2 * static_cast<int>(Level::Deny)
                   : 2 * static_cast<int>(Level::RequireApproval) + 1;
    }

    void level(const std::string& rule, const std::string& tool, const ServerRules& before,
               const ServerRules& after) {
        const auto word = [&](const ServerRules& rules) {
            const auto said = rules.level_of(tool);
            return said ? config::name_of(*said) : "no rule";
        };
        const auto was = freedom_in(before, tool), is = freedom_in(after, tool);
        if (was != is) tell(was < is, rule, std::string(word(before)) + " -> " + word(after));
    }

    Plan& plan_;
};

Names tools_of(const std::string& id, const KnownTools& known,
               const std::vector<const ServerImprint*>& sides) {
    if (const auto listed = known.find(id); listed != known.end()) return listed->second;
    std::set<std::string> named;
    for (const auto* side : sides) {
        if (!side) continue;
        const auto& rules = side->rules;
        named.insert(rules.disabled_tools.begin(), rules.disabled_tools.end());
        if (rules.enabled_tools)
            named.insert(rules.enabled_tools->begin(), rules.enabled_tools->end());
        for (const auto& [tool, level] : rules.tools)
            if (!config::is_beginning(tool)) named.insert(tool);
    }
    return {named.begin(), named.end()};
}

json::array rows(const std::vector<ChangedServer>& changed) {
    json::array out;
    for (const auto& each : changed)
        out.push_back(json::object{{"server", each.server}, {"keys", core::array_of(each.keys)}});
    return out;
}

json::array rows(const std::vector<ChangedRule>& changed) {
    json::array out;
    for (const auto& each : changed)
        out.push_back(json::object{{"rule", each.rule}, {"change", each.how}});
    return out;
}

}  // namespace

Plan plan(const Imprint& running, const Imprint& wanted, const KnownTools& known) {
    Plan made;
    Rules rules(made);
    std::set<std::string> ids;
    for (const auto* side : {&running, &wanted})
        for (const auto& [id, server] : side->servers) ids.insert(id);
    // Null: it does not run.
    const auto running_in = [](const Imprint& imprint,
                               const std::string& id) -> const ServerImprint* {
        const auto found = imprint.servers.find(id);
        return found != imprint.servers.end() && found->second.enabled ? &found->second : nullptr;
    };
    for (const auto& id : ids) {
        const auto* before = running_in(running, id);
        const auto* after = running_in(wanted, id);
        if (before && after) {
            auto keys = changed_keys(before->connection, after->connection);
            auto& moved = keys.empty() ? made.adjust : made.restart;
            for (auto& key : changed_keys(before->conduct, after->conduct))
                keys.push_back(std::move(key));
            if (!keys.empty()) moved.push_back({id, std::move(keys)});
            rules.server(id, before->rules, after->rules);
        } else if (before || after) {
            (after ? made.start : made.stop).push_back(id);
        }
        for (const auto& tool : tools_of(id, known, {before, after})) {
            const bool was = before && before->rules.show(tool);
            const bool is = after && after->rules.show(tool);
            if (was != is)
                (is ? made.gained : made.lost).push_back(protocol::public_name(id, tool));
        }
    }
    rules.permissions(running, wanted);
    constexpr std::string_view kAgent = "agents.";
    for (auto& key : changed_keys(running.tables, wanted.tables)) {
        if (key.starts_with("bundles."))
            (wanted.tables.contains(key) ? made.shown : made.closed).push_back(key);
        else if (key.starts_with(kAgent))
            (wanted.tables.contains(key) ? made.shown : made.closed)
                .push_back(key.substr(kAgent.size()));
        else if (!key.starts_with("executors."))  // `resolve` reads them itself
            made.next_start.push_back(std::move(key));
    }
    for (auto* names : {&made.gained, &made.lost}) std::sort(names->begin(), names->end());
    const auto by_rule = [](const ChangedRule& a, const ChangedRule& b) {
        return std::tie(a.rule, a.how) < std::tie(b.rule, b.how);
    };
    std::sort(made.widened.begin(), made.widened.end(), by_rule);
    std::sort(made.narrowed.begin(), made.narrowed.end(), by_rule);
    return made;
}

Plan plan(const Snapshot& running, const Snapshot& wanted, const KnownTools& known) {
    return plan(clear_imprint_of(running), clear_imprint_of(wanted), known);
}

json::object to_json(const Plan& plan) {
    return {{"start", core::array_of(plan.start)},
            {"stop", core::array_of(plan.stop)},
            {"restart", rows(plan.restart)},
            {"adjust", rows(plan.adjust)},
            {"tools_gained", core::array_of(plan.gained)},
            {"tools_lost", core::array_of(plan.lost)},
            {"widened", rows(plan.widened)},
            {"narrowed", rows(plan.narrowed)},
            {"shown", core::array_of(plan.shown)},
            {"closed", core::array_of(plan.closed)},
            {"next_start", core::array_of(plan.next_start)}};
}

std::vector<PlanLine> lines_of(const Plan& plan) {
    std::vector<PlanLine> lines;
    const auto names = [&](const char* what, const Names& all, const char* how = "") {
        for (const auto& each : all) lines.push_back({what, each, how});
    };
    const auto servers = [&](const char* what, const std::vector<ChangedServer>& all) {
        for (const auto& each : all)
            lines.push_back({what, each.server, core::join(each.keys, ", ")});
    };
    const auto rules = [&](const char* what, const std::vector<ChangedRule>& all) {
        for (const auto& each : all) lines.push_back({what, each.rule, each.how});
    };
    names("start", plan.start);
    names("stop", plan.stop);
    servers("restart", plan.restart);
    servers("adjust", plan.adjust);
    names("gained", plan.gained);
    names("lost", plan.lost);
    rules("widened", plan.widened);
    rules("narrowed", plan.narrowed);
    names("shown", plan.shown, "its clients are shown what it says by now");
    names("closed", plan.closed, "it is gone, and who comes as it is shown nothing");
    names("later", plan.next_start, "counts when the host starts the next time");
    return lines;
}

}  // namespace patchbay::registry
