#include "config/table_merge.hpp"

#include "config/agents.hpp"
#include "config/approval.hpp"
#include "config/bundles.hpp"
#include "config/executors.hpp"
#include "config/ids.hpp"
#include "config/permission_lists.hpp"
#include "config/readable_rules.hpp"
#include "config/rules.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace patchbay::config {

namespace {

bool may_say(const TableKey& key, Scope scope) {
    switch (key.may) {
        case May::Anyone:
            return true;
        case May::NotProject:
            return !from_project(scope);
        case May::UserAlone:
            return scope == Scope::User || scope == Scope::Enterprise;
    }
    return false;
}

}  // namespace

void TableMerge::finish(const std::vector<Fragment>& fragments,
                        const std::vector<std::string>& defined) {
    auto& config = into_.config;
    settle_picks(agents_, config.names, into_.hints, config.diagnostics);
    for (auto& [name, executor] : executors_) config.executors.push_back(std::move(executor));
    for (auto& [name, bundle] : bundles_) {
        tell_strange_servers(bundle, defined, into_.hints, config.diagnostics);
        config.bundles.push_back(std::move(bundle));
    }
    for (auto& [name, agent] : agents_) {
        settle_bundle(agent, config.bundles, config.diagnostics);
        tell_strange_servers(agent, defined, into_.hints, config.diagnostics);
        config.agents.push_back(std::move(agent));
    }
    for (const auto& fragment : fragments) withhold_auth(fragment);
    if (empty_deny_) tell_empty_deny(*empty_deny_, config.permissions, config.diagnostics);
    if (!config.permissions.closed.empty()) config.permissions.allow.emplace();
}

void TableMerge::take(const Member& table, const Fragment& fragment) {
    const auto& source = fragment.source;
    if (source.scope == Scope::Plugin) return;  // the rest of a manifest is the plugin room's
    if (table.key == "auth") return take_auth(table, fragment);
    if (table.key == "agents") return take_named(table, source, agents_, read_agent);
    if (table.key == "bundles") return take_named(table, source, bundles_, read_bundle);
    if (table.key == "executors") return take_executors(table, source);
    Config permissions;  // merged by rules of their own
    if (table.key == "permissions" && !table.value.is(Node::Kind::Map)) broken_permissions_ = true;
    if (table.key == "gateway" && !table.value.is(Node::Kind::Map))
        into_.close_gateway(source, table.mark, " cannot be read as [gateway]");
    for (const auto& member : table.value.members) {
        const auto known = table_keys();
        const auto key = std::find_if(known.begin(), known.end(), [&](const TableKey& k) {
            return k.table == table.key && k.name == member.key;
        });
        if (key == known.end()) {
            unknown(table, member, source);
        } else {
            take_key(*key, member, source, table.key == "permissions" ? permissions : into_.config);
        }
    }
    if (table.key == "permissions") take_permissions(permissions.permissions, table, source);
}

void TableMerge::take_key(const TableKey& key, const Member& member, const Source& source,
                          Config& into) {
    const auto name = std::string(key.table) + "." + std::string(key.name);
    if (!may_say(key, source.scope)) {
        return into_.note(RuleId::NotAllowedHere, Severity::Error, source.place(member.mark),
                          name + ": not allowed in a " + name_of(source.scope) +
                              (source.scope == Scope::Session ? " source" : " file") +
                              "; write it to your user config");
    }
    // Permissions are not for the first who speaks: join_permissions() joins them.
    if (key.table != "permissions" && !speaks_first(name, source, member.mark)) return;
    if (const auto faults = take_all(key, into, member.value); !faults.empty()) {
        if (key.table == "permissions") {
            broken_permissions_ = true;
            take_readable(key, member.value, into.permissions);
        }
        if (key.table == "gateway")
            into_.close_gateway(source, faults.front().mark,
                                ": " + name + ": " + faults.front().text);
        into_.forbid_all_of(source);
        for (const auto& fault : faults)
            into_.note(fault.rule, Severity::Error, source.place(fault.mark),
                       name + ": " + fault.text);
        return;
    }
    into_.origins.say(name, source.place(member.mark));
}

// False, with a diagnostic, when a source of equal strength has said this already.
bool TableMerge::speaks_first(const std::string& name, const Source& source, Mark mark) {
    auto& said = said_[name];
    if (said.first && same_strength(*said.first, source)) {
        into_.note(RuleId::DuplicateDefinition, Severity::Warning, source.place(mark),
                   name + ": already given at " + at(*said.first, said.second) +
                       "; the first one is used");
        return false;
    }
    // What was named for this run would be taken to be in force.
    if (said.first && said.first->scope == Scope::Session && source.scope == Scope::Enterprise)
        into_.note(RuleId::NoEffect, Severity::Warning, said.first->place(said.second),
                   name + ": it has no effect here, since " + to_string(source.place(mark)) +
                       " says it too; ask your administrator");
    said = {&source, mark};
    return true;
}

void TableMerge::unknown(const Member& table, const Member& member, const Source& source) {
    std::vector<std::string> names;
    for (const auto& key : table_keys()) {
        if (key.table == table.key) names.emplace_back(key.name);
    }
    if (names.empty()) return;  // a table kept for later versions
    // A rule by a name that nobody knows would forbid nothing, and nobody would see it.
    const bool permissions = table.key == "permissions";
    const bool enterprise = source.scope == Scope::Enterprise;
    const bool rule = permissions || may_forbid(member);
    if (permissions)
        broken_permissions_ = true;
    else if (rule)
        into_.close(to_string(source.place(member.mark)) + " may be a rule that nothing reads");
    into_.forbid_all_of(source);
    auto text = "unknown key \"" + core::printable(member.key, 80) + "\" in [" + table.key + "]" +
                core::did_you_mean(member.key, names, into_.hints);
    const bool gateway = table.key == "gateway";
    if (gateway) into_.close_gateway(source, member.mark, ": " + text);
    into_.note(
        rule ? RuleId::UnreadRule : RuleId::UnknownKey,
        rule || enterprise || gateway || source.is_flag() ? Severity::Error : Severity::Warning,
        source.place(member.mark), std::move(text));
}

void TableMerge::take_auth(const Member& table, const Fragment& fragment) {
    const auto& source = fragment.source;
    for (const auto& member : table.value.members) {
        const auto name = "auth." + core::printable(member.key, 80);
        if (!member.value.is(Node::Kind::Map)) {
            into_.note(RuleId::InvalidValue, Severity::Error, source.place(member.value.mark),
                       name + ": expected a table, found " + name_of(member.value.kind));
            continue;
        }
        if (!speaks_first(name, source, member.mark)) continue;
        into_.config.auth[member.key] = to_object(member.value);
        const auto approved = fragment.auth_programs.find(member.key);
        into_.config.auth_programs[member.key] =
            approved == fragment.auth_programs.end() ? std::nullopt : approved->second;
        if (from_project(source.scope)) into_.config.approved.insert(name);
        into_.origins.say(name, source.place(member.mark));
    }
}

// What is defined by names of the user's own, by the user or an administrator. True: `member` may be read.
bool TableMerge::may_define(const Member& member, const std::string& name, const Source& source) {
    if (from_project(source.scope)) {
        into_.note(RuleId::NotAllowedHere, Severity::Error, source.place(member.mark),
                   name + ": not allowed in a " + name_of(source.scope) +
                       " file; write it to your user config");
        return false;
    }
    if (!valid_id(member.key)) {
        into_.forbid_all_of(source);
        const auto* what = name.starts_with("agents.")    ? "an agent"
                           : name.starts_with("bundles.") ? "a bundle"
                                                          : "an executor";
        into_.note(
            RuleId::InvalidName, Severity::Error, source.place(member.mark),
            name + ": the name of " + what + " has letters, digits, \"_\" and \"-\", 64 at most");
        return false;
    }
    return speaks_first(name, source, member.mark);
}

// Of what an administrator wrote nothing may be passed over.
void TableMerge::deny_for_errors_since(std::size_t before, const Source& source) {
    const auto& told = into_.config.diagnostics;
    const auto wrong =
        std::find_if(told.begin() + static_cast<std::ptrdiff_t>(before), told.end(),
                     [](const auto& each) { return each.severity == Severity::Error; });
    if (wrong != told.end() && source.scope == Scope::Enterprise && !into_.denied_by)
        into_.denied_by = static_cast<std::size_t>(wrong - told.begin());
}

template <class T, class Read>
void TableMerge::take_named(const Member& table, const Source& source,
                            std::map<std::string, T>& all, Read read) {
    for (const auto& member : table.value.members) {
        const auto name = table.key + "." + core::printable(member.key, 80);
        if (!may_define(member, name, source)) continue;
        auto& told = into_.config.diagnostics;
        const auto before = told.size();
        all[member.key] = read(member, source, into_.hints, told);
        deny_for_errors_since(before, source);
        into_.origins.say(name, source.place(member.mark));
    }
}

// A stronger table replaces a weaker one whole, but that of an enterprise only takes away of it.
void TableMerge::take_executors(const Member& table, const Source& source) {
    for (const auto& member : table.value.members) {
        const auto name = "executors." + core::printable(member.key, 80);
        const auto there = executors_.find(member.key);
        const bool ceiling = source.scope == Scope::Enterprise && there != executors_.end();
        if (!ceiling && !may_define(member, name, source)) continue;
        auto& told = into_.config.diagnostics;
        const auto before = told.size();
        auto read = read_executor(member, source, into_.hints, told);
        deny_for_errors_since(before, source);
        if (ceiling)
            narrow(there->second, read);
        else
            executors_[member.key] = std::move(read);
        into_.origins.say(name, source.place(member.mark));
    }
}

void TableMerge::take_permissions(const Permissions& said, const Member& table,
                                  const Source& source) {
    if (std::exchange(broken_permissions_, false)) {
        into_.forbid_all_of(source);
        into_.close(to_string(source.place(table.mark)) + " has a rule that cannot be read");
        into_.note(RuleId::UnreadRule, Severity::Error, source.place(table.mark),
                   "permissions: no tool is allowed until this is mended");
    }
    if (const auto* denied = table.value.find("deny"); denied && denied->is(Node::Kind::List) &&
                                                       denied->items.empty() &&
                                                       source.scope == Scope::Session)
        empty_deny_ = source.place(denied->mark);
    join_permissions(into_.config.permissions, said, table, source, into_.config.diagnostics);
}

void TableMerge::withhold_auth(const Fragment& fragment) {
    for (const auto& proposal : fragment.withheld_auth) {
        const auto in_force = into_.origins.places.find(proposal.id);
        const bool overruled =
            in_force != into_.origins.places.end() && in_force->second.scope > proposal.place.scope;
        if (overruled) continue;
        std::erase_if(into_.config.untrusted,
                      [&](const Proposal& weaker) { return weaker.id == proposal.id; });
        into_.config.untrusted.push_back(proposal);
        into_.note(RuleId::NotApproved, Severity::Warning, proposal.place,
                   proposal.id + ": this table is not approved" +
                       (in_force == into_.origins.places.end()
                            ? ""
                            : ", so that of " + to_string(in_force->second) + " stays in force") +
                       how_to_approve(proposal));
    }
}

}  // namespace patchbay::config
