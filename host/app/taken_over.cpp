#include "app/taken_over.hpp"

#include "app/output.hpp"
#include "app/server_words.hpp"
#include "app/session.hpp"
#include "app/typed_entry.hpp"
#include "app/wanted_entry.hpp"
#include "config/ids.hpp"
#include "core/text.hpp"
#include "core/time_source.hpp"

#include <filesystem>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Scope;

namespace {

std::string path_of(const std::string& file, const config::Environment& environment) {
    return (std::filesystem::path(environment.working_directory) / file).lexically_normal();
}

}  // namespace

Result<std::vector<ForeignFile>> read_foreign_files(const ImportOptions& options,
                                                    const config::Environment& environment) {
    if (!options.from.empty() && !find_client(options.from)) {
        std::vector<std::string> known;
        for (const auto& each : known_clients()) known.emplace_back(each.id);
        return Error{ErrorCode::Invalid, "--from: no client \"" +
                                             core::printable(options.from, 80) + "\" is known" +
                                             core::did_you_mean(options.from, known) +
                                             "; expected one of " + core::join(known, ", ")};
    }
    if (std::error_code failed;
        !options.file.empty() &&
        !std::filesystem::exists(path_of(options.file, environment), failed))
        return Error{ErrorCode::NotFound,
                     "--file: " + core::printable(options.file, 200) + ": no such file"};
    if (!options.file.empty() && options.from.empty())
        return Error{ErrorCode::Invalid,
                     "--file: in whose words it is, says --from CLIENT; expected both"};
    const auto project = project_folder(environment);
    Lookout out{environment,
                project,
                options.into() == Scope::User ? std::string() : project,
                self_path(),
                {}};
    // What is followed is still another program's, and may be taken over.
    for (const auto& each : config::load(environment).candidates)
        if (!config::is_followed(each.scope)) out.own.insert(each.path);
    std::vector<ForeignFile> files;
    std::set<std::string> seen;
    for (const auto& client : known_clients()) {
        if (!options.from.empty() && options.from != client.id) continue;
        auto paths = foreign_files(client, out);
        if (!options.file.empty()) paths = {path_of(options.file, environment)};
        for (const auto& path : paths) {
            if (!seen.insert(path).second)
                continue;  // VS Code and its Insiders share those of a project
            auto file = read_foreign(client, path, out);
            if (file.fault && !options.from.empty()) return file.error();
            if (file.fault)  // it hides its own alone
                say("warning: " + file.error().message + "; nothing of it is taken");
            else
                files.push_back(std::move(file));
        }
    }
    return files;
}

Import::Import(const GlobalOptions& global, const ImportOptions& options)
    : global_(global),
      options_(options),
      environment_(environment_of(global)),
      host_(host_options(global)) {}

Outcome Import::take(const ForeignFile& from, const ForeignServer& server) {
    Outcome outcome{&from, &server, "left", server.left};
    if (server.needs_folder)
        outcome.why += "; --scope project or local takes it for the one that we are in";
    if (outcome.why.empty() && from.of_checkout && !options_.names(server.id))
        outcome.why =
            "it comes with the checkout, which is somebody else's word; whoever "
            "names it takes it: patchbay import " +
            server.id;
    outcome.warnings = server.warnings;
    if (!outcome.why.empty()) return outcome;
    if (auto state = put(server))
        outcome.state = *state;
    else
        outcome.why = state.error().message;
    // Its client starts it in one folder, and we would everywhere.
    if (outcome.why.empty() && server.of_project && options_.into() == Scope::User)
        outcome.warnings.push_back(
            std::string(from.client->title) + " has it for " + project_folder(environment_) +
            " alone, and in your user file it is there for every project; --scope local or project "
            "keeps it to that one");
    return outcome;
}

void Import::warn_of_clear_text() const {
    for (const auto& [file, secrets] : clear_)
        warn_of_secrets(secrets, file, options_.into(), global_);
}

Result<std::string> Import::put(const ForeignServer& server) {
    const auto state = default_state_directory(environment_);
    if (!turn_) {
        auto taken = take_turn(state);
        if (!taken) return fault_.emplace(taken.error());
        turn_ = std::move(*taken);
    }
    const auto file = ScopeFile::choose(options_.into(), server.id, {}, environment_, state, turn_);
    if (!file) return fault_.emplace(file.error());
    auto entry = server.entry;
    const auto taken = put_away(server.id, entry);
    // In a trial nothing that was taken before is in the file.
    const auto planned = planned_.find(server.id);
    const json::object* there = planned != planned_.end() ? &planned->second
                                : file->entry()           ? file->entry()->if_object()
                                                          : nullptr;
    if (there && (*there == entry || is_as_stored(server, *there)))
        return std::string("there already");
    if (there && planned != planned_.end())
        return Error{ErrorCode::Invalid,
                     "another client has another one by that id; patchbay import " + server.id +
                         " --from CLIENT says which, and --as NEWID calls the other one so"};
    if (there && !options_.replace)
        return Error{ErrorCode::Invalid, file->path() +
                                             " has another one by that id; --replace puts this "
                                             "in its place, --as NEWID beside it"};
    auto text = file->with(entry);
    if (!text) return text.error();
    // Before the file that names them, and of a trial nobody is told that they are not there.
    auto global = global_;
    global.quiet = global.quiet || (options_.dry_run && !taken.empty());
    if (auto kept = keep(taken); !kept) return kept.error();
    if (auto fine = judge(host_, file->path(), *text, server.id, global); !fine) {
        forget(taken);
        return fine.error();
    }
    planned_.emplace(server.id, entry);
    clear_[file->path()][server.id] = clear_secrets(entry);
    if (options_.dry_run) return std::string(there ? "would be replaced" : "would be added");
    if (auto written = write(*file, std::move(*text), server.id, entry, taken); !written) {
        forget(taken);
        return written.error();
    }
    return std::string(there ? "replaced" : "added");
}

// With --secrets store: a name stands in the place of each, and of those that are not kept yet, which.
std::vector<TakenSecret> Import::put_away(const std::string& id, json::object& entry) const {
    return options_.secrets == "store" ? stored_as(id, entry) : std::vector<TakenSecret>();
}

// What an earlier import has stored is the same server, whatever is said of secrets this time.
bool Import::is_as_stored(const ForeignServer& server, const json::object& there) const {
    auto entry = server.entry;
    return stored_as(server.id, entry).empty() && there == entry;
}

std::vector<TakenSecret> Import::stored_as(const std::string& id, json::object& entry) const {
    const auto& secrets = host_.named_secrets();
    auto taken = take_secrets(entry, id, [&](const std::string& name, const auto& value) {
        if (!secrets.check(name)) return true;
        const auto kept = secrets.read(name);
        return kept && *kept == value;
    });
    std::erase_if(taken, [&](const auto& each) { return bool(secrets.check(each.name)); });
    return taken;
}

Result<void> Import::keep(const std::vector<TakenSecret>& taken) const {
    if (options_.dry_run) return {};
    for (const auto& each : taken) {
        const auto kept =
            host_.named_secrets().write(each.name, each.value, core::machine_time().date());
        if (!kept) return kept.error();
        if (!kept->warning.empty() && !global_.quiet) say("warning: " + kept->warning);
    }
    return {};
}

void Import::forget(const std::vector<TakenSecret>& taken) const {
    if (!options_.dry_run)
        for (const auto& each : taken) static_cast<void>(host_.named_secrets().erase(each.name));
}

Result<void> Import::write(const ScopeFile& file, std::string text, const std::string& id,
                           const json::object& entry, const std::vector<TakenSecret>& taken) {
    const bool continues = last_ && last_->file == file.path();
    auto note = approval_of(host_, id, options_.into());
    for (const auto& each : taken) {
        auto& list = note[kStoredBy];
        if (!list.is_array()) list.emplace_array();
        list.get_array().emplace_back(each.name);
    }
    if (continues) note = joined_notes(last_->note, note);
    auto written =
        file.write(std::move(text), "import", std::move(note), continues ? &*last_ : nullptr);
    if (!written) return written.error();
    files_.insert(written->file);
    last_ = std::move(*written);
    if (options_.into() == Scope::User) return {};
    Host now(host_options(global_));
    return approve(now, id, is_whole(file, entry));
}

}  // namespace patchbay::app
