#include "app/scope_file.hpp"

#include "core/digest.hpp"
#include "core/random.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "core/time_source.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace patchbay::app {
namespace edit = config::edit;
namespace fs = std::filesystem;
namespace json = boost::json;
using config::Scope;

namespace {

// Where servers stand, as config/dialects.hpp reads them.
const std::vector<edit::Path>& tables() {
    static const std::vector<edit::Path> all{
        {"servers"}, {"mcpServers"}, {"mcp_servers"}, {"mcp", "servers"}, {"mcp", "mcpServers"}};
    return all;
}

edit::Path usual_table(const std::string& path) {
    const auto name = fs::path(path).filename().string();
    if (!name.starts_with(".mcp.")) return {"servers"};
    return {name == ".mcp.toml" ? "mcp_servers" : "mcpServers"};
}

edit::Path below(edit::Path table, const std::string& id) {
    table.push_back(id);
    return table;
}

std::string absolute(const std::string& file, const config::Environment& environment) {
    return file.starts_with('/') ? file : environment.working_directory + "/" + file;
}

// What a scope's files are called, whether they are there or not.
struct Places {
    std::vector<std::string> files;  // in the order in which they are read
    std::string fresh;               // to be made where none is there
    std::string folder;              // that they speak for; empty: they come with no checkout
};

bool is_in(const std::string& path, const std::string& folder) {
    return path.starts_with(folder == "/" ? folder : folder + "/");
}

bool has_project_file(const config::Loaded& loaded) {
    using Found = config::Candidate::Found;
    return std::any_of(loaded.candidates.begin(), loaded.candidates.end(), [](const auto& each) {
        return each.scope == Scope::Project && each.found != Found::Absent &&
               each.found != Found::Ignored;
    });
}

// As the reader looks for them, so that no file is written which it would not find.
Result<Places> places_of(Scope scope, const config::Environment& environment) {
    const auto loaded = config::load(environment);
    if (!loaded.config.closed_by.empty())
        return Error{ErrorCode::Denied,
                     "what would be written would not count: " + loaded.config.closed_by};
    Places places;
    if (scope == Scope::User) {
        if (environment.config_home.empty())
            return Error{ErrorCode::NotFound,
                         "there is no home folder to write to; set HOME or XDG_CONFIG_HOME"};
        places.fresh = environment.config_home + "/patchbay/config.toml";
    } else if (scope == Scope::Local) {
        if (!has_project_file(loaded))
            return Error{ErrorCode::NotFound,
                         "local files adjust a project's, and no project file is here; write to "
                         "--scope project, or to --scope user for all projects"};
        places.folder = loaded.project;
        places.fresh = places.folder + "/.patchbay.local.toml";
    } else {
        places.folder = loaded.project.empty() ? project_folder(environment) : loaded.project;
        places.fresh = places.folder + "/.patchbay/config.toml";
    }
    for (const auto& candidate : loaded.candidates) {
        const bool here = places.folder.empty() || is_in(candidate.path, places.folder);
        if (candidate.scope == scope && here) places.files.push_back(candidate.path);
    }
    return places;
}

// What is done in another checkout is not undone from this one.
std::vector<std::string> files_of_here(const config::Environment& environment) {
    std::vector<std::string> files;
    for (const auto scope : {Scope::User, Scope::Project, Scope::Local}) {
        const auto places = places_of(scope, environment);
        if (!places) continue;
        auto named = places->files;
        named.push_back(places->fresh);
        for (const auto& path : named) {
            if (!places->folder.empty() && !check_inside(path, places->folder)) continue;
            if (const auto seen = ClientFile::read(path)) files.push_back(seen->path());
        }
    }
    return files;
}

// Files of here beside `file` that the same run of a command has changed and that nobody has put back since.
std::vector<std::string> also_changed(const config::Environment& environment,
                                      const std::string& state_directory, const std::string& file,
                                      const std::string& run) {
    std::vector<std::string> others;
    if (run.empty()) return others;
    for (auto& other : files_of_here(environment)) {
        if (other == file || std::find(others.begin(), others.end(), other) != others.end())
            continue;
        const auto change = ClientRecord(state_directory, ClientRecord::kOurs, other, {}).read();
        if (change && *change && (*change)->run == run) others.push_back(std::move(other));
    }
    return others;
}

// A process is one run of a command: who stays writes no file of a scope.
const std::string& this_run() {
    static const std::string run = core::random_hex(8);
    return run;
}

// What somebody did to the file since, an undo would lose.
Error why_not_undone(const ScopeChange& change, bool there, const std::string& backup) {
    if (change.removed && !there)
        return {ErrorCode::NotFound, change.file + " was made by " + change.named() +
                                         " and is gone, so there is nothing to take back"};
    const auto what = "it is not undone: " + change.file + " was " +
                      (there ? "changed" : "removed") + " since " + change.named() +
                      (change.removed ? ", which made it" : "");
    const auto folder = std::filesystem::path(change.file).parent_path();
    std::error_code failed;
    const auto copy = (std::filesystem::exists(folder, failed)
                           ? ""
                           : "mkdir -p " + core::shell_word(folder.string()) + " && ") +
                      "cp " + core::shell_word(backup) + " " + core::shell_word(change.file);
    if (change.removed) return {ErrorCode::Invalid, what + "; it is yours to remove"};
    return {ErrorCode::Invalid, what + "; as it was before that" +
                                    (there ? ", without what was changed since: " : ": ") + copy};
}

}  // namespace

std::string ScopeChange::named() const {
    if (by.empty()) return "the last change";
    return "`patchbay " + core::printable(by, 200) + "` of " + core::printable(at, 40);
}

std::string project_folder(const config::Environment& environment) {
    std::error_code ignored;
    for (fs::path at = environment.working_directory; at != at.root_path(); at = at.parent_path()) {
        if (at == environment.home) break;
        if (fs::exists(at / ".git", ignored)) return at;
    }
    return environment.working_directory;
}

Result<void> check_inside(const std::string& file, const std::string& folder) {
    const auto read = ClientFile::read(file);
    if (!read) return {};  // whoever is to write it says why not
    std::error_code failed;
    const auto project = fs::weakly_canonical(folder, failed);
    const auto place = fs::weakly_canonical(fs::path(read->path()).parent_path(), failed);
    const auto differ = std::mismatch(project.begin(), project.end(), place.begin(), place.end());
    if (!failed && differ.first == project.end()) return {};
    return Error{ErrorCode::Denied, file + " leads out of the project, to " + read->path() +
                                        "; name that file with --file if it is meant"};
}

Result<std::string> ScopeFile::placed(Result<std::string> text) const {
    if (text) return text;
    return in_file(path_, text.error());
}

Result<Turn> take_turn(const std::string& state_directory) {
    auto taken = ClientRecord::take_turn(ClientRecord::directory_in(state_directory));
    if (!taken) return taken.error();
    return std::make_shared<const core::Descriptor>(std::move(*taken));
}

Result<ScopeFile> ScopeFile::open(const std::string& path, const config::Environment& environment,
                                  const std::string& state_directory, Turn turn) {
    auto seen = ClientFile::read(path);
    if (!seen) return seen.error();
    // One record for each file: the text before its last change.
    ClientRecord record(state_directory, ClientRecord::kOurs, seen->path(), {});
    ScopeFile opened(path, std::move(*seen), std::move(record));
    if (!turn) {
        auto taken = take_turn(state_directory);
        if (!taken) return taken.error();
        turn = std::move(*taken);
    }
    opened.turn_ = std::move(turn);
    auto now = ClientFile::read(path);  // within our turn
    if (!now) return now.error();
    opened.file_ = std::move(*now);
    const auto format = config::format_of(path);
    if (!format)
        return Error{ErrorCode::Invalid, path +
                                             ": expected a name that ends in .toml, .yaml, "
                                             ".yml, .json or .jsonc"};
    opened.format_ = *format;
    opened.parsed_ = environment.parsed;
    auto root = edit::read(opened.file_.text(), *format, opened.parsed_.get());
    if (!root) return in_file(path, root.error());
    opened.root_ = std::move(*root);
    return opened;
}

void ScopeFile::find_table(const std::string& id) {
    key_ = below(usual_table(path_), id);
    const edit::Path* there = nullptr;
    for (const auto& table : tables()) {
        const auto* value = edit::find(root_, table);
        if (!value || (!value->is_object() && !value->is_null())) continue;
        if (!there) there = &table;
        if (edit::find(root_, below(table, id))) {
            there = &table;
            break;
        }
    }
    if (there) key_ = below(*there, id);
}

Result<ScopeFile> ScopeFile::choose(Scope scope, const std::string& id, const std::string& file,
                                    const config::Environment& environment,
                                    const std::string& state_directory, Turn turn) {
    if (!file.empty()) {
        const auto path = absolute(file, environment);
        std::error_code ignored;
        if (const auto folder = fs::path(path).parent_path(); !fs::is_directory(folder, ignored))
            return Error{ErrorCode::NotFound,
                         path + ": there is no folder " + folder.string() + "; make it first"};
        auto named = open(path, environment, state_directory, std::move(turn));
        if (named) named->find_table(id);
        return named;
    }
    const auto places = places_of(scope, environment);
    if (!places) return places.error();
    std::string first;
    for (const auto& path : places->files) {
        const auto seen = ClientFile::read(path);
        if (!seen) return seen.error();
        if (!seen->there()) continue;
        if (first.empty()) first = path;
        // The text is looked at again within our turn. One that does not parse may define it, too: then
        // nobody can say what the scope has.
        const auto root =
            edit::read(seen->text(), *config::format_of(path), environment.parsed.get());
        if (!root)
            return in_file(path,
                           {root.error().code,
                            root.error().message + "; nothing is changed before that is mended"});
        const bool defines = std::any_of(tables().begin(), tables().end(), [&](const auto& table) {
            return edit::find(*root, below(table, id)) != nullptr;
        });
        if (!defines) continue;
        first = path;
        break;
    }
    if (first.empty()) first = places->fresh;
    if (!places->folder.empty())
        if (auto inside = check_inside(first, places->folder); !inside) return inside.error();
    auto chosen = open(first, environment, state_directory, std::move(turn));
    if (!chosen) return chosen;
    chosen->find_table(id);
    // What one user says of servers may hold secrets; a project's file is for all who have the checkout.
    if (scope != Scope::Project) chosen->readers_ = ClientFile::Readers::User;
    return chosen;
}

bool ScopeFile::of_other_programs() const {
    return key_.size() > 2 || key_.front() == "mcpServers";
}

bool ScopeFile::has_list() const {
    return std::any_of(tables().begin(), tables().end(), [this](const auto& table) {
        const auto* value = edit::find(root_, table);
        return value && value->is_array();
    });
}

Result<std::string> ScopeFile::with(const json::object& entry) const {
    return placed(edit::set(file_.text(), format_, key_, entry, parsed_.get()));
}

Result<std::string> ScopeFile::with(const std::string& member, const json::value& value) const {
    return placed(edit::set(file_.text(), format_, below(key_, member), value, parsed_.get()));
}

Result<std::string> ScopeFile::with(const edit::Path& below, const json::value& value) const {
    auto path = key_;
    path.insert(path.end(), below.begin(), below.end());
    return placed(edit::set(file_.text(), format_, path, value));
}

Result<std::string> ScopeFile::without() const {
    return placed(edit::remove(file_.text(), format_, key_, parsed_.get()));
}

Result<std::string> ScopeFile::without(const edit::Path& below) const {
    auto path = key_;
    path.insert(path.end(), below.begin(), below.end());
    return placed(edit::remove(file_.text(), format_, path));
}

Result<ScopeChange> ScopeFile::write(std::string after, const std::string& by, json::object note,
                                     const ScopeChange* earlier) const {
    ScopeChange done{path_, file_.text(), std::move(after), !file_.there(), false, {}, note};
    if (done.before == done.after) return done;
    ClientChange change{done.before,
                        done.made,
                        {},
                        core::sha256_hex(done.after),
                        std::move(note),
                        by,
                        service::time_of(core::machine_time().date()),
                        this_run()};
    std::optional<ClientChange> last;
    if (earlier && earlier->after == done.before) {  // nobody has written it in between
        auto read = record_.read();
        if (!read) return read.error();
        last = std::move(*read);
    }
    if (last) {
        change.before = last->before;
        change.made = last->made;
        change.folders = last->folders;
    }
    // Ahead of the file: whoever ends us in between leaves a record of a text that is still there, which undo()
    // sees by the digest.
    if (auto kept = record_.write(change); !kept) return kept.error();
    if (auto written = file_.replace(done.after, readers_, change.folders); !written) {
        if (last) {
            static_cast<void>(record_.write(*last));
        } else {
            remove_folders(change.folders);
            record_.forget();
        }
        return written.error();
    }
    done.backup = record_.backup();
    if (change.folders.empty()) return done;
    if (auto kept = record_.write(change); !kept) return kept.error();
    return done;
}

Result<ScopeChange> ScopeFile::undo(const std::string& file, const config::Environment& environment,
                                    const std::string& state_directory, Trial trial) {
    auto path = file.empty() ? ClientRecord::last_of(files_of_here(environment), state_directory,
                                                     ClientRecord::kOurs)
                             : absolute(file, environment);
    // Of one that is gone nothing but its name says which it was.
    std::error_code failed;
    if (!fs::exists(path, failed)) path = fs::weakly_canonical(path, failed).string();
    if (path.empty())
        return Error{ErrorCode::NotFound,
                     "no file that is read here was changed by patchbay since the last undo; "
                     "another one is named: patchbay config undo FILE"};
    const auto now = ClientFile::read(path);
    if (!now) return now.error();
    const ClientRecord record(state_directory, ClientRecord::kOurs, now->path(), {});
    const auto change = record.read();
    if (!change) return change.error();
    if (!*change)
        return Error{ErrorCode::NotFound,
                     path + (now->there() ? ": patchbay has not changed it, or that was taken back"
                                          : ": there is no such file")};
    const auto& last = **change;
    ScopeChange done{path, now->text(), last.before, false,  last.made,
                     {},   last.value,  last.by,     last.at};
    // Whoever did by hand what the error says is done with it.
    const bool is_back = now->there() && !last.made && now->text() == last.before;
    if (!is_back && (!now->there() || last.after != core::sha256_hex(now->text())))
        return why_not_undone(done, now->there(), record.backup());
    done.also = also_changed(environment, state_directory, now->path(), last.run);
    if (trial == Trial::Yes) return done;
    std::vector<std::string> made;
    auto back =
        last.made ? now->remove() : now->replace(last.before, ClientFile::Readers::User, made);
    if (!back) return back.error();
    if (last.made) remove_folders(last.folders);
    record.forget();
    return done;
}

}  // namespace patchbay::app
