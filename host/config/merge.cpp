#include "config/merge.hpp"

#include "config/agents.hpp"
#include "config/approval.hpp"
#include "config/compile.hpp"
#include "config/ids.hpp"
#include "config/keys.hpp"
#include "config/permission_lists.hpp"
#include "config/readable_rules.hpp"
#include "config/rules.hpp"
#include "config/stray_switches.hpp"
#include "core/spelling.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace patchbay::config {

namespace {

bool same_strength(const Source& a, const Source& b) {
    return a.scope == b.scope && a.rank == b.rank;
}

std::string at(const Source& source, Mark mark) {
    return source.file + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

// Nothing is allowed, because of one diagnostic of an enterprise file.
void deny_all(Config& config, std::size_t cause) {
    config.deny_all = true;
    config.servers.clear();
    auto& told = config.diagnostics.at(cause);
    told.message = "the enterprise config is broken (" + told.message +
                   "), so every server and tool is denied; ask your administrator";
    config.stop = to_string(told.place) + ": " + told.message;
}

class Merger {
public:
    explicit Merger(const MergeDefaults& defaults) : defaults_(defaults) {}

    Config run(const std::vector<Fragment>& fragments) {
        for (const auto& fragment : fragments) {
            std::copy(fragment.diagnostics.begin(), fragment.diagnostics.end(),
                      std::back_inserter(config_.diagnostics));
        }
        for (const auto& fragment : fragments) {
            if (fragment.broken) {
                close(to_string(fragment.source.place({})) + " is broken");
                close_gateway(fragment.source, {}, " is broken");
            }
            for (const auto& entry : fragment.servers) {
                note_name(entry, fragment.source);
                settle(entry, fragment.source);
            }
            for (const auto& table : fragment.tables) take_table(table, fragment);
        }
        std::vector<std::string> defined;
        for (const auto& [id, settled] : settled_) {
            if (!settled.definition.entry && !settled.withheld.entry) continue;
            defined.push_back(id);
            // What a checkout wants to bring must not close what is there.
            const auto* entry = settled.definition.entry;
            if (!entry) continue;
            bare_names_.emplace(bare_name(id), id);
            bare_names_.emplace(bare_name(entry->written), id);
        }
        bare_names_.erase("");
        for (const auto& [id, settled] : settled_) {
            if (denies_for_its_name(id, settled)) continue;
            if (settled.withheld.entry) tell_withheld(id, settled);
            if (settled.withheld.entry && !settled.definition.entry) continue;
            const auto told = config_.diagnostics.size();
            auto server =
                compile(id, settled, {defaults_, defined, hints_}, config_.diagnostics, origins_);
            if (server)
                config_.servers.push_back(std::move(*server));
            else if (has_error_since(told))
                config_.faulty.push_back(readable_rules(id, settled));
        }
        for (auto& server : config_.servers) pass_on(server);
        for (auto& [name, agent] : agents_) {
            tell_strange_servers(agent, defined, hints_, config_.diagnostics);
            config_.agents.push_back(std::move(agent));
        }
        for (const auto& fragment : fragments) withhold_auth(fragment);
        std::sort(config_.untrusted.begin(), config_.untrusted.end(),
                  [](const auto& a, const auto& b) { return a.id < b.id; });
        if (empty_deny_) tell_empty_deny(*empty_deny_, config_.permissions, config_.diagnostics);
        if (!config_.permissions.closed.empty()) config_.permissions.allow.emplace();
        if (denied_by_) deny_all(config_, *denied_by_);
        config_.origins.assign(std::make_move_iterator(origins_.begin()),
                               std::make_move_iterator(origins_.end()));
        return std::move(config_);
    }

private:
    void note(Severity severity, Place place, std::string text, std::string server = {}) {
        config_.diagnostics.push_back(
            {severity, std::move(place), std::move(text), std::move(server)});
    }

    bool has_error_since(std::size_t told) const {
        const auto& all = config_.diagnostics;
        return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(told), all.end(),
                           [](const auto& each) { return each.severity == Severity::Error; });
    }

    void note_name(const ServerEntry& entry, const Source& source) {
        if (!entry.written.empty())
            config_.names.try_emplace(entry.written,
                                      Config::Named{entry.id, source.place(entry.mark)});
        if (from_project(source.scope) && defines_connection(entry.body) && !entry.withheld)
            config_.approved.insert(entry.id);
    }

    // [plugins.stdio]: as if the server's own entry said so too.
    void pass_on(Server& server) const {
        if (server.transport != "stdio" || config_.plugins.stdio_pass_env.empty()) return;
        auto& passed = server.settings["pass_env"];
        if (!passed.is_array()) passed.emplace_array();
        auto& names = passed.get_array();
        for (const auto& name : config_.plugins.stdio_pass_env) {
            const boost::json::value each(name);
            if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
        }
    }

    static bool turns_off(const ServerEntry& entry) {
        const auto* enabled = entry.body.find("enabled");
        return enabled && enabled->is(Node::Kind::Flag) && !enabled->flag;
    }

    void settle(const ServerEntry& entry, const Source& source) {
        if (entry.id.empty()) {
            return note(Severity::Error, source.place(entry.mark), "a server needs a name");
        }
        auto& settled = settled_[entry.id];
        if (!defines_connection(entry.body)) {
            if (!settled.overlays.empty() &&
                same_strength(*settled.overlays.back().source, source)) {
                settled.contested = true;
                return note(
                    Severity::Error, source.place(entry.mark),
                    "server \"" + entry.id + "\": already adjusted at " +
                        at(*settled.overlays.back().source, settled.overlays.back().entry->mark) +
                        "; make one entry of the two",
                    entry.id);
            }
            settled.overlays.push_back({&entry, &source});
            return;
        }
        for (const auto* first : {&settled.definition, &settled.withheld}) {
            if (first->entry && same_strength(*first->source, source))
                return given_before(entry, source, *first);
        }
        if (entry.withheld) {
            settled.withheld = {&entry, &source};
            return;
        }
        if (settled.definition.entry && source.scope == Scope::Enterprise)
            settled.overruled.push_back(settled.definition);
        settled.definition = {&entry, &source};
        settled.withheld = {};
        // Overlays were said about the definition that is gone, but for those of equal strength, and for what turns off
        // what checkouts have: where theirs comes from is no matter to whoever wants none.
        settled.contested =
            settled.contested && same_strength(*settled.overlays.back().source, source);
        const auto gone = std::stable_partition(
            settled.overlays.begin(), settled.overlays.end(), [&](const Voice& voice) {
                return same_strength(*voice.source, source) ||
                       (from_project(source.scope) && turns_off(*voice.entry));
            });
        settled.overruled.insert(settled.overruled.end(), gone, settled.overlays.end());
        settled.overlays.erase(gone, settled.overlays.end());
    }

    // Rules that could not be read are no reason to allow more: nothing is, until they are mended.
    void close(const std::string& why) {
        auto& closed = config_.permissions.closed;
        if (closed.empty()) closed = why + ", and what it forbids is unknown; mend it";
    }

    // Nor is it a reason to let anybody in who may have been meant to be kept out. A checkout has no
    // say in that.
    void close_gateway(const Source& source, Mark mark, const std::string& why) {
        if (from_project(source.scope) || source.scope == Scope::Plugin) return;
        if (config_.gateway.fault.empty())
            config_.gateway.fault = to_string(source.place(mark)) + why;
    }

    // What is noted next is why.
    void forbid_all_of(const Source& source) {
        if (source.scope == Scope::Enterprise && !denied_by_)
            denied_by_ = config_.diagnostics.size();
    }

    // Whether an enterprise file adjusts a server that is not there, by a name that only looks
    // different from that of one that is. What it forbids was meant for that one.
    bool denies_for_its_name(const std::string& id, const Settled& settled) {
        if (settled.definition.entry || settled.withheld.entry) return false;
        for (const auto& [entry, source] : settled.overlays) {
            if (source->scope != Scope::Enterprise) continue;
            auto same = bare_names_.find(bare_name(id));
            if (same == bare_names_.end()) same = bare_names_.find(bare_name(entry->written));
            if (same == bare_names_.end()) continue;
            forbid_all_of(*source);
            note(Severity::Error, source->place(entry->mark),
                 "server \"" + id + "\": no source defines it, and \"" + same->second +
                     "\" differs only in letter case, \"-\", \"_\", \".\", blanks or what nobody "
                     "sees; write that name");
            return true;
        }
        return false;
    }

    void tell_withheld(const std::string& id, const Settled& settled) {
        const auto& [entry, source] = settled.withheld;
        const auto& proposal = *entry->withheld;
        std::string text = "server \"" + id + "\": this definition " +
                           (proposal.approved ? "waits for the approval of " + proposal.waits_for
                                              : "is not approved");
        if (settled.definition.entry)
            text += ", so the one of " +
                    to_string(settled.definition.source->place(settled.definition.entry->mark)) +
                    " stays in force";
        text += how_to_approve(proposal);
        note(Severity::Warning, source->place(entry->mark), std::move(text), id);
        config_.untrusted.push_back(proposal);
        judge_proposal(id, settled.withheld, config_.untrusted.back());
    }

    // Whoever is asked to approve it should know that it would not work.
    void judge_proposal(const std::string& id, const Voice& withheld, Proposal& proposal) {
        std::vector<Diagnostic> told;
        Origins unused;
        Settled alone;
        alone.definition = withheld;
        proposal.server = compile(id, alone, {defaults_, {}, hints_}, told, unused);
        if (proposal.server) pass_on(*proposal.server);
        for (const auto& each : told)
            if (each.severity == Severity::Error) proposal.faults.push_back(each);
    }

    void withhold_auth(const Fragment& fragment) {
        for (const auto& proposal : fragment.withheld_auth) {
            const auto in_force = origins_.find(proposal.id);
            const bool overruled =
                in_force != origins_.end() && in_force->second.scope > proposal.place.scope;
            if (overruled) continue;
            std::erase_if(config_.untrusted,
                          [&](const Proposal& weaker) { return weaker.id == proposal.id; });
            config_.untrusted.push_back(proposal);
            note(Severity::Warning, proposal.place,
                 proposal.id + ": this table is not approved" +
                     (in_force == origins_.end()
                          ? ""
                          : ", so that of " + to_string(in_force->second) + " stays in force") +
                     how_to_approve(proposal));
        }
    }

    void given_before(const ServerEntry& entry, const Source& source, const Voice& first) {
        const bool one_file = first.source->file == source.file;
        note(one_file ? Severity::Error : Severity::Warning, source.place(entry.mark),
             "server \"" + entry.id + "\": already defined at " +
                 at(*first.source, first.entry->mark) + "; the first one is used",
             entry.id);
    }

    void take_table(const Member& table, const Fragment& fragment) {
        const auto& source = fragment.source;
        if (source.scope == Scope::Plugin) return;  // the rest of a manifest is the plugin room's
        if (table.key == "auth") return take_auth(table, fragment);
        if (table.key == "agents") return take_agents(table, source);
        Config permissions;  // merged by rules of their own
        if (table.key == "permissions" && !table.value.is(Node::Kind::Map))
            broken_permissions_ = true;
        if (table.key == "gateway" && !table.value.is(Node::Kind::Map))
            close_gateway(source, table.mark, " cannot be read as [gateway]");
        for (const auto& member : table.value.members) {
            const auto known = table_keys();
            const auto key = std::find_if(known.begin(), known.end(), [&](const TableKey& k) {
                return k.table == table.key && k.name == member.key;
            });
            if (key == known.end()) {
                unknown(table, member, source);
            } else {
                take_key(*key, member, source, table.key == "permissions" ? permissions : config_);
            }
        }
        if (table.key == "permissions") take_permissions(permissions.permissions, table, source);
    }

    void take_key(const TableKey& key, const Member& member, const Source& source, Config& into) {
        const auto name = std::string(key.table) + "." + std::string(key.name);
        if (key.may == May::NotProject && from_project(source.scope)) {
            return note(Severity::Error, source.place(member.mark),
                        name + ": not allowed in a " + name_of(source.scope) +
                            " file; write it to your user config");
        }
        // Permissions are not for the first who speaks: join_permissions() joins them.
        if (key.table != "permissions" && !speaks_first(name, source, member.mark)) return;
        if (const auto wrong = key.take(into, member.value); !wrong.empty()) {
            if (key.table == "permissions") {
                broken_permissions_ = true;
                take_readable(key, member.value, into.permissions);
            }
            if (key.table == "gateway")
                close_gateway(source, member.value.mark, ": " + name + ": " + wrong);
            forbid_all_of(source);
            return note(Severity::Error, source.place(member.value.mark), name + ": " + wrong);
        }
        origins_[name] = source.place(member.mark);
    }

    // False, with a diagnostic, when a source of equal strength has said this already.
    bool speaks_first(const std::string& name, const Source& source, Mark mark) {
        auto& said = said_[name];
        if (said.first && same_strength(*said.first, source)) {
            note(Severity::Warning, source.place(mark),
                 name + ": already given at " + at(*said.first, said.second) +
                     "; the first one is used");
            return false;
        }
        // What was named for this run would be taken to be in force.
        if (said.first && said.first->scope == Scope::Session && source.scope == Scope::Enterprise)
            note(Severity::Warning, said.first->place(said.second),
                 name + ": it has no effect here, since " + to_string(source.place(mark)) +
                     " says it too; ask your administrator");
        said = {&source, mark};
        return true;
    }

    void unknown(const Member& table, const Member& member, const Source& source) {
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
            close(to_string(source.place(member.mark)) + " may be a rule that nothing reads");
        forbid_all_of(source);
        auto text = "unknown key \"" + core::printable(member.key, 80) + "\" in [" + table.key +
                    "]" + core::did_you_mean(member.key, names, hints_);
        const bool gateway = table.key == "gateway";
        if (gateway) close_gateway(source, member.mark, ": " + text);
        note(
            rule || enterprise || gateway || source.is_flag() ? Severity::Error : Severity::Warning,
            source.place(member.mark), std::move(text));
    }

    void take_auth(const Member& table, const Fragment& fragment) {
        const auto& source = fragment.source;
        for (const auto& member : table.value.members) {
            const auto name = "auth." + core::printable(member.key, 80);
            if (!member.value.is(Node::Kind::Map)) {
                note(Severity::Error, source.place(member.value.mark),
                     name + ": expected a table, found " + name_of(member.value.kind));
                continue;
            }
            if (!speaks_first(name, source, member.mark)) continue;
            config_.auth[member.key] = to_object(member.value);
            const auto approved = fragment.auth_programs.find(member.key);
            config_.auth_programs[member.key] =
                approved == fragment.auth_programs.end() ? std::nullopt : approved->second;
            if (from_project(source.scope)) config_.approved.insert(name);
            origins_[name] = source.place(member.mark);
        }
    }

    void take_agents(const Member& table, const Source& source) {
        for (const auto& member : table.value.members) {
            const auto name = "agents." + core::printable(member.key, 80);
            if (from_project(source.scope)) {
                note(Severity::Error, source.place(member.mark),
                     name + ": not allowed in a " + name_of(source.scope) +
                         " file; write it to your user config");
                continue;
            }
            if (!valid_id(member.key)) {
                forbid_all_of(source);
                note(Severity::Error, source.place(member.mark),
                     name +
                         ": the name of an agent has letters, digits, \"_\" and \"-\", 64 at most");
                continue;
            }
            if (!speaks_first(name, source, member.mark)) continue;
            auto& told = config_.diagnostics;
            const auto before = static_cast<std::ptrdiff_t>(told.size());
            agents_[member.key] = read_agent(member, source, hints_, told);
            const auto wrong =
                std::find_if(told.begin() + before, told.end(),
                             [](const auto& each) { return each.severity == Severity::Error; });
            if (wrong != told.end() && source.scope == Scope::Enterprise && !denied_by_)
                denied_by_ = static_cast<std::size_t>(wrong - told.begin());
            origins_[name] = source.place(member.mark);
        }
    }

    void take_permissions(const Permissions& said, const Member& table, const Source& source) {
        if (std::exchange(broken_permissions_, false)) {
            forbid_all_of(source);
            close(to_string(source.place(table.mark)) + " has a rule that cannot be read");
            note(Severity::Error, source.place(table.mark),
                 "permissions: no tool is allowed until this is mended");
        }
        if (const auto* denied = table.value.find("deny");
            denied && said.deny.empty() && source.scope == Scope::Session)
            empty_deny_ = source.place(denied->mark);
        join_permissions(config_.permissions, said, table, source, config_.diagnostics);
    }

    const MergeDefaults& defaults_;
    core::Effort hints_{core::Effort::kOneLoad};
    Config config_;
    Origins origins_;
    std::map<std::string, Settled> settled_;
    std::map<std::string, Agent> agents_;
    std::map<std::string, std::string> bare_names_;               // to ids, of what is defined
    std::map<std::string, std::pair<const Source*, Mark>> said_;  // table keys and auth ids
    bool broken_permissions_ = false;                             // in the table being read
    std::optional<Place> empty_deny_;                             // of the session, the strongest
    std::optional<std::size_t> denied_by_;  // the diagnostic of an enterprise file, if one is
};

Config denied(std::vector<Fragment> enterprise) {
    Config config;
    for (auto& fragment : enterprise) {
        std::move(fragment.diagnostics.begin(), fragment.diagnostics.end(),
                  std::back_inserter(config.diagnostics));
    }
    if (config.diagnostics.empty())
        config.diagnostics.push_back({Severity::Error,
                                      {Scope::Enterprise, enterprise.front().source.file, 0, 0},
                                      "nothing of it can be read",
                                      {}});
    const auto cause =
        std::find_if(config.diagnostics.begin(), config.diagnostics.end(),
                     [](const auto& each) { return each.severity == Severity::Error; });
    deny_all(config, cause == config.diagnostics.end()
                         ? 0
                         : static_cast<std::size_t>(cause - config.diagnostics.begin()));
    return config;
}

}  // namespace

std::string wrong_source(const std::vector<Diagnostic>& diagnostics) {
    for (const auto& diagnostic : diagnostics) {
        const bool named = diagnostic.place.scope == Scope::Session &&
                           (diagnostic.server.empty() || diagnostic.place.is_flag());
        if (named && diagnostic.severity == Severity::Error)
            return to_string(diagnostic.place) + ": " + diagnostic.message;
    }
    return {};
}

bool exclusive(const std::vector<Fragment>& enterprise) {
    bool opened = false;
    for (const auto& fragment : enterprise) {
        if (fragment.exclusive == true) return true;
        if (fragment.exclusive == false) opened = true;
    }
    return !enterprise.empty() && !opened;
}

Config merge(std::vector<Fragment> fragments, const MergeDefaults& defaults) {
    settle_ids(fragments);
    std::stable_sort(fragments.begin(), fragments.end(), [](const auto& a, const auto& b) {
        return std::tie(a.source.scope, a.source.rank) < std::tie(b.source.scope, b.source.rank);
    });
    const auto first = std::find_if(fragments.begin(), fragments.end(), [](const auto& f) {
        return f.source.scope == Scope::Enterprise;
    });
    std::vector<Fragment> enterprise(std::make_move_iterator(first),
                                     std::make_move_iterator(fragments.end()));
    fragments.erase(first, fragments.end());
    // Half of what an administrator wrote could be looser than the whole.
    if (std::any_of(enterprise.begin(), enterprise.end(), [](const auto& f) { return f.broken; })) {
        return denied(std::move(enterprise));
    }
    // Nobody else's file counts then, nor what is wrong in it.
    if (exclusive(enterprise)) fragments.clear();
    std::move(enterprise.begin(), enterprise.end(), std::back_inserter(fragments));
    settle_stray_switches(fragments);

    Merger merger(defaults);
    return merger.run(fragments);
}

}  // namespace patchbay::config
