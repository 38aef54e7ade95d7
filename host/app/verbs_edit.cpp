// Verbs that take a server out of the file of one scope, turn it on and off there, and take a change back.
#include "app/distant_host.hpp"
#include "app/entry_check.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/server_edit.hpp"
#include "app/session.hpp"
#include "app/shown_difference.hpp"
#include "app/typed_entry.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "service/configuration.hpp"
#include "service/trust.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// ---- remove

int remove_verb(const GlobalOptions& global, const EditOptions& options) {
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_of(options), options.id, options.file, environment,
                                        default_state_directory(environment));
    if (!file) return report_file(file.error(), global);
    Host host(host_options(global));
    if (!file->entry())
        return report(not_there(*file, options.id, host, definitions_of(options.id, environment)),
                      global);
    auto text = file->without();
    if (!text) return report_file(text.error(), global);
    const auto freed =
        is_switched(*file, *file->entry(), nullptr, approved_digest(host, options.id));
    auto written = file->write(std::move(*text), "mcp remove " + options.id,
                               approval_of(host, options.id, scope_of(options)));
    if (!written) return report_file(written.error(), global);
    return tell(options, "removed", *written, global, freed);
}

// ---- enable, disable

// Of all servers that one command turns.
struct Switching {
    bool on;
    Turn turn;
    std::map<std::string, ScopeChange> changes = {};  // so far, by the file
};

int switch_verb(const GlobalOptions& global, const EditOptions& options, Switching& all) {
    const bool on = all.on;
    auto& changes = all.changes;
    if (auto fine = check_id(options.id); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_of(options), options.id, options.file, environment,
                                        default_state_directory(environment), all.turn);
    if (!file) return report_file(file.error(), global);
    const auto definitions = definitions_of(options.id, environment);
    Host host(host_options(global));
    if (definitions.empty() || !check_list(*file, options.id, definitions))
        return report(not_there(*file, options.id, host, definitions), global);
    // A weaker file adjusts nothing of a stronger one's.
    if (!file->entry() && definitions.front().place.scope > scope_of(options))
        return report(invalid("\"" + options.id + "\" is defined in " +
                              config::to_string(definitions.front().place) + "; say --scope " +
                              config::name_of(definitions.front().place.scope)),
                      global);
    // Some programs have the switch the other way round, and theirs is what they read.
    const auto* entry = file->entry() ? file->entry()->if_object() : nullptr;
    const bool turned = entry && entry->contains("disabled");
    const char* const key = turned ? "disabled" : "enabled";
    auto text = file->with(key, turned != on);
    if (!text) return report_file(text.error(), global);
    const auto before = entry ? json::value(*entry) : json::value();
    auto after = entry ? *entry : json::object();
    after[key] = turned != on;
    const auto approved = approved_digest(host, options.id);
    if (auto fine = judge(host, file->path(), *text, options.id, global); !fine)
        return report(fine.error(), global);
    const auto earlier = changes.find(file->path());
    const auto* last = earlier == changes.end() ? nullptr : &earlier->second;
    auto note = approval_of(host, options.id, scope_of(options));
    if (last) note = joined_notes(last->note, note);
    auto written = file->write(std::move(*text), options.by, std::move(note), last);
    if (!written) return report_file(written.error(), global);
    const bool same = written->before == written->after;
    if (!same) changes[file->path()] = *written;
    return tell(options,
                same ? "unchanged"
                : on ? "enabled"
                     : "disabled",
                *written, global, is_switched(*file, before, after, approved));
}

// ---- undo

struct UndoOptions {
    std::string file;
    bool dry_run = false;
};

// Whether what a checkout brings is approved, by its id as in config::Proposal.
using Approvals = std::map<std::string, bool>;

Approvals approvals_now(const GlobalOptions& global) {
    const Host host(host_options(global));
    const auto now = host.read_snapshot();
    Approvals all;
    for (const auto& id : now->config.approved) all[id] = true;
    for (const auto& proposal : now->config.untrusted) all[proposal.id] = false;
    return all;
}

// What somebody approved is no part of a file that is put back, so that this is seen nowhere else.
enum class Approval { Waits, Given, Gone };
std::map<std::string, Approval> changed_by_undo(const Approvals& before, const Approvals& after) {
    std::map<std::string, Approval> changed;
    for (const auto& [id, approved] : after) {
        const auto was = before.find(id);
        if (was == before.end() || was->second != approved)
            changed[id] = approved ? Approval::Given : Approval::Waits;
    }
    for (const auto& [id, approved] : before)
        if (approved && !after.contains(id)) changed[id] = Approval::Gone;
    return changed;
}

void tell_approvals(const std::map<std::string, Approval>& changed) {
    for (const auto& [id, approval] : changed) {
        const auto what = (id.starts_with("auth.") ? "[" + id + "]" : "server \"" + id + "\"");
        say("note: " + (approval == Approval::Gone
                            ? "the approval of " + what + " is taken back with it"
                        : approval == Approval::Given
                            ? what + " is approved, as it was before that change"
                            : what + " waits for your approval now: patchbay trust " + id));
    }
}

json::array to_json(const std::map<std::string, Approval>& changed) {
    json::array all;
    for (const auto& [id, approval] : changed)
        all.push_back(json::object{{"id", id},
                                   {"approval", approval == Approval::Gone    ? "gone"
                                                : approval == Approval::Given ? "given"
                                                                              : "waits"}});
    return all;
}

void tell_undone(const ScopeChange& done, const UndoOptions& options, const GlobalOptions& global,
                 const std::map<std::string, Approval>& approvals = {}) {
    const auto shown = options.dry_run
                           ? shown_difference(done.before, done.after, done.file,
                                              *config::format_of(done.file), PassedOn::AllHidden)
                           : std::string();
    const auto would = options.dry_run ? std::string("would be ") : std::string();
    if (global.json) {
        json::object told{{"file", done.file},
                          {"state", would + (done.removed ? "removed" : "restored")},
                          {"by", done.by},
                          {"at", done.at}};
        if (options.dry_run) told["diff"] = shown;
        if (!approvals.empty()) told["approvals"] = to_json(approvals);
        if (!done.also.empty())
            told["also_changed"] = json::array(done.also.begin(), done.also.end());
        return print_json(json::serialize(told));
    }
    say(would + (done.removed ? "removed: " + done.file + ", which was made by " + done.named()
                              : "restored: " + done.file + " as it was before " + done.named()));
    if (options.dry_run) print_foreign(shown);
    if (global.quiet) return;
    tell_approvals(approvals);
    for (const auto& file : done.also)
        say("note: " + core::printable(file, 4096) +
            " was changed by that command too; back with: patchbay config undo " +
            core::shell_word(file));
}

int undo_verb(const GlobalOptions& global, const UndoOptions& options) {
    const auto environment = environment_of(global);
    const auto state = default_state_directory(environment);
    const auto turn = take_turn(state);  // until the approvals are as they were
    if (!turn) return report(turn.error(), global);
    const auto before = options.dry_run ? Approvals() : approvals_now(global);
    const auto done =
        ScopeFile::undo(options.file, environment, state, options.dry_run ? Trial::Yes : Trial::No);
    if (!done) return report_file(done.error(), global);
    if (options.dry_run) return tell_undone(*done, options, global), int(kOk);
    Host host(host_options(global));
    if (const auto approved = approve_again(host, done->note, project_folder(environment));
        !approved)
        return report(approved.error(), global);
    tell_undone(*done, options, global, changed_by_undo(before, approvals_now(global)));
    // Whoever has named them elsewhere since needs them.
    if (const auto* stored = core::array_in(&done->note, kStoredBy); stored && !global.quiet)
        for (const auto& each : *stored)
            if (const auto name = core::text_of(each))
                say("note: the secret " + core::printable(*name, 80) +
                    " was stored by that change and stays; patchbay secret rm " +
                    core::printable(*name, 80));
    return kOk;
}

// A file is one thing, and what somebody has turned off in the host that runs another.
void tell_kept_off(const GlobalOptions& global, const std::vector<std::string>& servers) {
    const auto session = Session::open(global, Session::Life::OneShot);
    auto line = session ? running_host(*session, Guest::Person)
                        : Result<std::unique_ptr<HostLine>>(Error());
    if (!line) return;
    DistantHost host(session->servers(), std::move(*line));
    for (const auto& status : host.statuses()) {
        const bool meant = std::find(servers.begin(), servers.end(), status.id) != servers.end();
        if (!meant || status.state != connection::State::Disabled) continue;
        for (const auto& note : status.notes)
            if (note.find("`patchbay mcp ") != std::string::npos)
                say("note: in the running host server \"" + status.id + "\" is " + note);
    }
}

}  // namespace

int switch_in_file(const GlobalOptions& given, const std::vector<std::string>& servers,
                   const std::string& scope, bool on) {
    const auto global = parsing_once(given);
    int code = kOk;
    const auto environment = environment_of(global);
    if (auto turn = take_turn(default_state_directory(environment))) {
        Switching all{on, std::move(*turn)};
        // Of one that is not there it is told, and none is turned.
        const auto stranger = std::find_if(servers.begin(), servers.end(), [&](const auto& id) {
            return definitions_of(id, environment).empty();
        });
        const auto turned = stranger == servers.end() ? servers : std::vector{*stranger};
        for (const auto& id : turned) {
            EditOptions options;
            options.id = id;
            options.scope = scope;
            options.by = std::string("mcp ") + (on ? "enable " : "disable ") +
                         core::join(servers, " ") + " --scope " + scope;
            if (const int failed = switch_verb(global, options, all); failed != kOk) code = failed;
        }
    } else {
        return report(turn.error(), global);
    }
    if (on && code == kOk && !global.quiet) tell_kept_off(global, servers);
    return code;
}

void add_remove_verb(CLI::App& mcp, Choice& choice) {
    const auto options = std::make_shared<EditOptions>();
    auto& remove = add_verb(mcp, "remove", "Take a server out of the file of a scope",
                            "  patchbay mcp remove docs --scope user\nWhat another scope says of "
                            "it stays, and is told. Back with: patchbay config undo");
    remove.alias("rm");
    take_place(remove, *options);
    choice.on(remove, [options](const auto& global) {
        return remove_verb(parsing_once(global), *options);
    });
}

void add_undo_verb(CLI::App& config, Choice& choice) {
    const auto options = std::make_shared<UndoOptions>();
    auto& undo = add_verb(
        config, "undo", "Take the last change of a file by patchbay mcp, policy or import back",
        "  patchbay config undo\n  patchbay config undo --dry-run\n"
        "  patchbay config undo .mcp.json\n"
        "One command back, which is named; once more takes back the last one of another file, and "
        "none twice: of each\nfile one change is kept. Approvals that the command gave or took are "
        "as before, which is told. A file that\nwas changed by somebody else since stays as it is; "
        "secrets that were stored stay.\n"
        "Exit codes: 6 there is no change to take back; 3 its file was changed since.");
    undo.add_option("FILE", options->file,
                    "Of this file; without it, of the one that was changed last");
    undo.add_flag("--dry-run", options->dry_run, "Show which change it is and take nothing back");
    choice.on(undo,
              [options](const auto& global) { return undo_verb(parsing_once(global), *options); });
}

}  // namespace patchbay::app
