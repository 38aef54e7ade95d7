#include "config/server_merge.hpp"

#include "config/approval.hpp"
#include "config/ids.hpp"
#include "config/keys.hpp"
#include "config/readable_rules.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace patchbay::config {

namespace {

bool turns_off(const ServerEntry& entry) {
    const auto* enabled = entry.body.find("enabled");
    return enabled && enabled->is(Node::Kind::Flag) && !enabled->flag;
}

}  // namespace

void ServerMerge::take(const ServerEntry& entry, const Source& source) {
    note_name(entry, source);
    if (entry.id.empty())
        return into_.note(RuleId::InvalidName, Severity::Error, source.place(entry.mark),
                          "a server needs a name");
    auto& settled = settled_[entry.id];
    if (defines_connection(entry.body))
        define(settled, entry, source);
    else
        adjust(settled, entry, source);
}

std::vector<std::string> ServerMerge::finish() {
    auto& config = into_.config;
    auto ids = defined();
    for (const auto& [id, settled] : settled_) {
        if (denies_for_its_name(id, settled)) continue;
        if (settled.withheld.entry) tell_withheld(id, settled);
        if (settled.withheld.entry && !settled.definition.entry) continue;
        const auto told = config.diagnostics.size();
        auto server = compile(id, settled, {into_.defaults, ids, into_.hints}, config.diagnostics,
                              into_.origins);
        if (server)
            config.servers.push_back(std::move(*server));
        else if (into_.has_error_since(told))
            config.faulty.push_back(readable_rules(id, settled));
        into_.soften_followed_since(told);
    }
    for (auto& server : config.servers) pass_on(server);
    return ids;
}

std::vector<std::string> ServerMerge::defined() {
    std::vector<std::string> ids;
    for (const auto& [id, settled] : settled_) {
        const auto* entry = settled.definition.entry;
        if (!entry && !settled.withheld.entry) continue;
        ids.push_back(id);
        // What a checkout wants to bring must not close what is there.
        if (!entry) continue;
        bare_names_.emplace(bare_name(id), id);
        bare_names_.emplace(bare_name(entry->written), id);
    }
    bare_names_.erase("");
    return ids;
}

void ServerMerge::note_name(const ServerEntry& entry, const Source& source) {
    if (!entry.written.empty())
        into_.config.names.try_emplace(entry.written,
                                       Config::Named{entry.id, source.place(entry.mark)});
    if (from_project(source.scope) && defines_connection(entry.body) && !entry.withheld)
        into_.config.approved.insert(entry.id);
}

void ServerMerge::adjust(Settled& settled, const ServerEntry& entry, const Source& source) {
    if (!settled.overlays.empty() && same_strength(*settled.overlays.back().source, source)) {
        settled.contested = true;
        return into_.note(
            RuleId::DuplicateDefinition, Severity::Error, source.place(entry.mark),
            "server \"" + entry.id + "\": already adjusted at " +
                at(*settled.overlays.back().source, settled.overlays.back().entry->mark) +
                "; make one entry of the two",
            entry.id);
    }
    settled.overlays.push_back({&entry, &source});
}

void ServerMerge::define(Settled& settled, const ServerEntry& entry, const Source& source) {
    for (const auto* first : {&settled.definition, &settled.withheld}) {
        if (first->entry && same_strength(*first->source, source))
            return given_before(entry, source, *first);
    }
    if (entry.withheld) {
        settled.withheld = {&entry, &source};
        return;
    }
    if (settled.definition.entry) {
        settled.replaced.push_back(settled.definition);
        if (source.scope == Scope::Enterprise) settled.overruled.push_back(settled.definition);
    }
    settled.definition = {&entry, &source};
    settled.withheld = {};
    // Overlays were said about the definition that is gone, but for those of equal strength, and for what turns off
    // what checkouts have: where theirs comes from is no matter to whoever wants none.
    settled.contested = settled.contested && same_strength(*settled.overlays.back().source, source);
    const auto gone = std::stable_partition(
        settled.overlays.begin(), settled.overlays.end(), [&](const Voice& voice) {
            return same_strength(*voice.source, source) ||
                   (from_project(source.scope) && turns_off(*voice.entry));
        });
    settled.overruled.insert(settled.overruled.end(), gone, settled.overlays.end());
    settled.replaced.insert(settled.replaced.end(), gone, settled.overlays.end());
    settled.overlays.erase(gone, settled.overlays.end());
}

void ServerMerge::given_before(const ServerEntry& entry, const Source& source, const Voice& first) {
    const bool one_file = first.source->file == source.file;
    into_.note(RuleId::DuplicateDefinition, one_file ? Severity::Error : Severity::Warning,
               source.place(entry.mark),
               "server \"" + entry.id + "\": already defined at " +
                   at(*first.source, first.entry->mark) + "; the first one is used",
               entry.id);
}

// Whether an enterprise file adjusts a server that is not there, by a name that only looks
// different from that of one that is. What it forbids was meant for that one.
bool ServerMerge::denies_for_its_name(const std::string& id, const Settled& settled) {
    if (settled.definition.entry || settled.withheld.entry) return false;
    for (const auto& [entry, source] : settled.overlays) {
        if (source->scope != Scope::Enterprise) continue;
        auto same = bare_names_.find(bare_name(id));
        if (same == bare_names_.end()) same = bare_names_.find(bare_name(entry->written));
        if (same == bare_names_.end()) continue;
        into_.forbid_all_of(*source);
        into_.note(RuleId::AmbiguousName, Severity::Error, source->place(entry->mark),
                   "server \"" + id + "\": no source defines it, and \"" + same->second +
                       "\" differs only in letter case, \"-\", \"_\", \".\", blanks or what nobody "
                       "sees; write that name");
        return true;
    }
    return false;
}

void ServerMerge::tell_withheld(const std::string& id, const Settled& settled) {
    const auto& [entry, source] = settled.withheld;
    const auto& proposal = *entry->withheld;
    std::string text =
        "server \"" + id + "\": this definition " +
        (proposal.approved ? "waits for the approval of " + proposal.waits_for : "is not approved");
    if (settled.definition.entry)
        text += ", so the one of " +
                to_string(settled.definition.source->place(settled.definition.entry->mark)) +
                " stays in force";
    text += how_to_approve(proposal);
    into_.note(RuleId::NotApproved, Severity::Warning, source->place(entry->mark), std::move(text),
               id);
    into_.config.untrusted.push_back(proposal);
    judge_proposal(id, settled.withheld, into_.config.untrusted.back());
}

// Whoever is asked to approve it should know that it would not work.
void ServerMerge::judge_proposal(const std::string& id, const Voice& withheld, Proposal& proposal) {
    std::vector<Diagnostic> told;
    Origins unused;
    Settled alone;
    alone.definition = withheld;
    proposal.server = compile(id, alone, {into_.defaults, {}, into_.hints}, told, unused);
    if (proposal.server) pass_on(*proposal.server);
    for (const auto& each : told)
        if (each.severity == Severity::Error) proposal.faults.push_back(each);
}

// [plugins.stdio]: as if the server's own entry said so too.
void ServerMerge::pass_on(Server& server) const {
    if (server.transport != "stdio" || into_.config.plugins.stdio_pass_env.empty()) return;
    auto& passed = server.settings["pass_env"];
    if (!passed.is_array()) passed.emplace_array();
    auto& names = passed.get_array();
    for (const auto& name : into_.config.plugins.stdio_pass_env) {
        const boost::json::value each(name);
        if (std::find(names.begin(), names.end(), each) == names.end()) names.push_back(each);
    }
}

}  // namespace patchbay::config
