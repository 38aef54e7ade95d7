// Verbs that take a server out of the file of one scope, turn it on and off there, and take a change back.
#include "app/distant_host.hpp"
#include "app/entry_check.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/server_edit.hpp"
#include "app/session.hpp"
#include "app/typed_entry.hpp"
#include "core/json.hpp"
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
    auto written = file->write(std::move(*text), approval_of(host, options.id, scope_of(options)));
    if (!written) return report_file(written.error(), global);
    return tell(options, "removed", *written, global, freed);
}

// ---- enable, disable

// `changes`: by this command so far, by the file; this one is put with them.
int switch_verb(const GlobalOptions& global, const EditOptions& options, bool on,
                std::map<std::string, ScopeChange>& changes) {
    if (auto fine = check_id(options.id); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_of(options), options.id, options.file, environment,
                                        default_state_directory(environment));
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
    auto written = file->write(std::move(*text), std::move(note), last);
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

int undo_verb(const GlobalOptions& global, const std::string& file) {
    const auto environment = environment_of(global);
    const auto done = ScopeFile::undo(file, environment, default_state_directory(environment));
    if (!done) return report_file(done.error(), global);
    Host host(host_options(global));
    if (const auto approved = approve_again(host, done->note, project_folder(environment));
        !approved)
        return report(approved.error(), global);
    if (global.json)
        print_json(json::serialize(
            json::object{{"file", done->file}, {"state", done->removed ? "removed" : "restored"}}));
    else
        say(done->removed ? "removed: " + done->file + ", which was made by the change"
                          : "restored: " + done->file + " is as it was before the last change");
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

int switch_in_file(const GlobalOptions& global, const std::vector<std::string>& servers,
                   const std::string& scope, bool on) {
    int code = kOk;
    std::map<std::string, ScopeChange> changes;
    for (const auto& id : servers) {
        EditOptions options;
        options.id = id;
        options.scope = scope;
        if (const int failed = switch_verb(global, options, on, changes); failed != kOk)
            code = failed;
    }
    if (on && code == kOk && !global.quiet) tell_kept_off(global, servers);
    return code;
}

void add_remove_verb(CLI::App& mcp, Choice& choice) {
    const auto options = std::make_shared<EditOptions>();
    auto& remove = add_verb(mcp, "remove", "Take a server out of the file of a scope",
                            "  patchbay mcp remove docs --scope user\nWhat another scope says of "
                            "it stays, and is told. Back with: patchbay config undo");
    take_place(remove, *options);
    choice.on(remove, [options](const auto& global) { return remove_verb(global, *options); });
}

void add_undo_verb(CLI::App& config, Choice& choice) {
    const auto file = std::make_shared<std::string>();
    auto& undo =
        add_verb(config, "undo", "Take the last change by `patchbay mcp` of a file back",
                 "  patchbay config undo\n  patchbay config undo .mcp.json\nOne command back. A "
                 "file that was changed by somebody else since stays as it is.");
    undo.add_option("FILE", *file, "Of this file; without it, of the one that was changed last");
    choice.on(undo, [file](const auto& global) { return undo_verb(global, *file); });
}

}  // namespace patchbay::app
