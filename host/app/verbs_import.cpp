// patchbay import: what people have in the files of other clients, taken over.
#include "app/entry_check.hpp"
#include "app/entry_secrets.hpp"
#include "app/foreign_servers.hpp"
#include "app/output.hpp"
#include "app/scope_file.hpp"
#include "app/server_edit.hpp"
#include "app/server_words.hpp"
#include "app/session.hpp"
#include "app/typed_entry.hpp"
#include "app/verb.hpp"
#include "app/wanted_entry.hpp"
#include "config/ids.hpp"
#include "config/resolve.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "core/time_source.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace json = boost::json;
using config::Scope;

namespace {

struct ImportOptions {
    std::vector<std::string> ids;
    std::string from, file, as, scope = "user", secrets = "keep";
    bool dry_run = false, replace = false;

    bool names(const std::string& id) const {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    }
    Scope into() const { return config::scope_named(scope).value_or(Scope::User); }
};

// What has become of one.
struct Outcome {
    const ForeignFile* file;
    const ForeignServer* server;
    std::string state, why;  // "added", "would be added", "replaced", "there already", "left"
};

std::string path_of(const std::string& file, const config::Environment& environment) {
    return (std::filesystem::path(environment.working_directory) / file).lexically_normal();
}

Result<std::vector<ForeignFile>> read_all(const ImportOptions& options,
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

class Import {
public:
    Import(const GlobalOptions& global, const ImportOptions& options)
        : global_(global),
          options_(options),
          environment_(environment_of(global)),
          host_(host_options(global)) {}

    Outcome take(const ForeignFile& from, const ForeignServer& server) {
        Outcome outcome{&from, &server, "left", server.left};
        if (server.needs_folder)
            outcome.why += "; --scope project or local takes it for the one that we are in";
        if (outcome.why.empty() && from.of_checkout && !options_.names(server.id))
            outcome.why =
                "it comes with the checkout, which is somebody else's word; whoever "
                "names it takes it: patchbay import " +
                server.id;
        if (!outcome.why.empty()) return outcome;
        if (auto state = put(server))
            outcome.state = *state;
        else
            outcome.why = state.error().message;
        return outcome;
    }

    const std::set<std::string>& files() const { return files_; }  // that it has written
    // Once per file that was written, or would be.
    void warn_of_clear_text() const {
        for (const auto& [file, secrets] : clear_)
            warn_of_secrets(secrets, file, options_.into(), global_);
    }

private:
    Result<std::string> put(const ForeignServer& server) {
        const auto state = default_state_directory(environment_);
        if (!turn_) {
            auto taken = take_turn(state);
            if (!taken) return taken.error();
            turn_ = std::move(*taken);
        }
        const auto file =
            ScopeFile::choose(options_.into(), server.id, {}, environment_, state, turn_);
        if (!file) return file.error();
        auto entry = server.entry;
        const auto taken = put_away(server.id, entry);
        // In a trial nothing that was taken before is in the file.
        const auto planned = planned_.find(server.id);
        const json::object* there = planned != planned_.end() ? &planned->second
                                    : file->entry()           ? file->entry()->if_object()
                                                              : nullptr;
        if (there && *there == entry) return std::string("there already");
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
    std::vector<TakenSecret> put_away(const std::string& id, json::object& entry) const {
        if (options_.secrets != "store") return {};
        const auto& secrets = host_.named_secrets();
        auto taken = take_secrets(entry, id, [&](const std::string& name, const auto& value) {
            if (!secrets.check(name)) return true;
            const auto kept = secrets.read(name);
            return kept && *kept == value;
        });
        std::erase_if(taken, [&](const auto& each) { return bool(secrets.check(each.name)); });
        return taken;
    }

    Result<void> keep(const std::vector<TakenSecret>& taken) const {
        if (options_.dry_run) return {};
        for (const auto& each : taken) {
            const auto kept =
                host_.named_secrets().write(each.name, each.value, core::machine_time().date());
            if (!kept) return kept.error();
            if (!kept->warning.empty() && !global_.quiet) say("warning: " + kept->warning);
        }
        return {};
    }

    void forget(const std::vector<TakenSecret>& taken) const {
        if (!options_.dry_run)
            for (const auto& each : taken)
                static_cast<void>(host_.named_secrets().erase(each.name));
    }

    Result<void> write(const ScopeFile& file, std::string text, const std::string& id,
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

    const GlobalOptions& global_;
    const ImportOptions& options_;
    const config::Environment environment_;
    Host host_;
    std::map<std::string, json::object> planned_;  // of this run, by id
    std::map<std::string, ClearSecrets> clear_;    // by file
    std::optional<ScopeChange> last_;
    Turn turn_;  // one for all servers: they are one change
    std::set<std::string> files_;
};

json::array json_of(const std::vector<Outcome>& outcomes) {
    json::array list;
    for (const auto& each : outcomes) {
        json::object line{{"id", each.server->id},
                          {"state", each.state},
                          {"client", each.file->client->id},
                          {"file", each.file->path},
                          {"server", config::masked(each.server->entry)}};
        if (!each.why.empty()) line["why"] = each.why;
        if (!each.server->warnings.empty())
            line["warnings"] = json::value_from(each.server->warnings);
        list.push_back(std::move(line));
    }
    return list;
}

std::string origin_of(const ForeignFile& file) {
    return std::string(file.client->title) + ", " + file.path;
}

void print(const std::vector<Outcome>& outcomes, const GlobalOptions& global) {
    if (global.json) return print_json(json::serialize(json_of(outcomes)));
    std::vector<std::vector<Cell>> rows{{{"ID"}, {"STATE"}, {"SERVER"}, {"FROM"}}};
    for (const auto& each : outcomes)
        rows.push_back({{core::printable(each.server->id, 80)},
                        {each.state, each.state == "left" ? "yellow" : ""},
                        {core::printable(config::endpoint_of(each.server->entry), 100)},
                        {origin_of(*each.file)}});
    print_table(rows);
}

template <class Files>
void tell_files(const Files& files, const GlobalOptions& global) {
    if (global.json || global.quiet) return;
    for (const auto& file : files) say("written: " + file);
}

void tell_notes(const std::vector<Outcome>& outcomes, const GlobalOptions& global) {
    for (const auto& each : outcomes) {
        const auto name = "server \"" + core::printable(each.server->id, 80) + "\" of " +
                          each.file->client->title + ": ";
        if (!each.why.empty()) say("note: " + name + each.why);
        const auto again = "server \"" + each.server->id + "\": ";  // as the reader of files begins
        for (const auto& warning : each.server->warnings)
            if (!global.quiet && each.state != "left")
                say("warning: " + name +
                    (warning.starts_with(again) ? warning.substr(again.size()) : warning));
    }
}

// By another id than its client has for it.
Result<void> rename(std::vector<ForeignFile>& files, ImportOptions& options) {
    if (options.as.empty()) return {};
    if (options.ids.size() != 1)
        return Error{ErrorCode::Invalid,
                     "--as: what one server is called here; expected the one ID that its client "
                     "has for it"};
    if (!config::valid_id(options.as))
        return Error{ErrorCode::Invalid, "--as: \"" + core::printable(options.as, 80) +
                                             "\" is no id; it has letters, digits, \"-\" and "
                                             "\"_\", 64 at most, and no \"__\""};
    std::set<std::string> clients;
    for (auto& file : files)
        for (auto& server : file.servers)
            if (server.id == options.ids.front()) {
                clients.insert(file.client->id);
                server.id = options.as;
            } else if (server.id == options.as) {
                server.id.clear();  // that one is not asked for
            }
    if (clients.size() > 1)
        return Error{
            ErrorCode::Invalid,
            "--as: " +
                core::join(std::vector<std::string>(clients.begin(), clients.end()), " and ") +
                " have a server \"" + core::printable(options.ids.front(), 80) +
                "\"; --from says whose is meant"};
    if (!clients.empty()) options.ids = {options.as};
    return {};
}

int import_verb(const GlobalOptions& global, ImportOptions options) {
    auto files = read_all(options, environment_of(global));
    if (!files) return report_file(files.error(), global);
    if (auto renamed = rename(*files, options); !renamed) return report(renamed.error(), global);
    std::vector<std::string> ids;
    for (const auto& file : *files)
        for (const auto& server : file.servers) ids.push_back(server.id);
    for (const auto& id : options.ids)
        if (std::find(ids.begin(), ids.end(), id) == ids.end())
            return report(
                {ErrorCode::NotFound,
                 (options.file.empty() ? std::string("no file of another client has")
                                       : options.file + " does not have") +
                     " a server \"" + core::printable(id, 80) + "\"" + core::did_you_mean(id, ids)},
                global);
    Import import(global, options);
    std::vector<Outcome> outcomes;
    for (const auto& file : *files)
        for (const auto& server : file.servers)
            if (options.ids.empty() || options.names(server.id))
                outcomes.push_back(import.take(file, server));
    if (outcomes.empty() && !options.file.empty() && !global.json) {
        const auto& client = *find_client(options.from);
        say("nothing to import: " + options.file + " has no servers where " + client.title +
            " has them, in \"" + client.tables.front().back() + "\"");
        return kOk;
    }
    if (outcomes.empty() && !global.json) {
        say("nothing to import: no file of a client that is known has servers; patchbay connect "
            "lists them");
        return kOk;
    }
    print(outcomes, global);
    tell_notes(outcomes, global);
    tell_files(import.files(), global);
    import.warn_of_clear_text();
    const bool wrote = std::any_of(outcomes.begin(), outcomes.end(),
                                   [](const auto& each) { return each.state == "added"; });
    if (wrote && options.into() == Scope::Local) keep_out_of_git(global);
    // Who names one wants that one.
    const bool lacks =
        !options.ids.empty() && std::any_of(outcomes.begin(), outcomes.end(),
                                            [](const auto& each) { return each.state == "left"; });
    return lacks ? int(kFailure) : int(kOk);
}

// ---- offered by init

struct Found {
    const ForeignFile* file;
    const ForeignServer* server;
};

// Those that can be taken, of one id the first. What a checkout has for other clients only a person can choose.
std::vector<Found> found_in(const std::vector<ForeignFile>& files, bool of_checkouts) {
    std::vector<Found> all;
    std::set<std::string> ids;
    for (const auto& file : files)
        for (const auto& server : file.servers)
            if (server.left.empty() && (of_checkouts || !file.of_checkout) &&
                ids.insert(server.id).second)
                all.push_back({&file, &server});
    return all;
}

// "1 3" or "1,3", and "n" as if nothing had been said; nothing: it makes no sense.
std::optional<std::vector<std::size_t>> numbers_in(std::string line, std::size_t most) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::vector<std::size_t> numbers;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        if (core::lower(word) == "n" || core::lower(word) == "no")
            return std::vector<std::size_t>();
        std::size_t number = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size() || number < 1 ||
            number > most)
            return {};
        numbers.push_back(number - 1);
    }
    return numbers;
}

std::vector<Found> chosen_of(const std::vector<Found>& found) {
    say("servers that other clients have:");
    for (std::size_t i = 0; i < found.size(); ++i)
        say("  " + std::to_string(i + 1) + "  " + core::printable(found[i].server->id, 80) + "  " +
            core::printable(config::endpoint_of(found[i].server->entry), 100) + "  (" +
            origin_of(*found[i].file) +
            (found[i].file->of_checkout ? "; it comes with the checkout)" : ")"));
    for (;;) {
        std::fputs("take over which? numbers, as 1 3; Enter: none: ", stderr);
        std::string line;
        if (!std::getline(std::cin, line)) return {};
        const auto numbers = numbers_in(line, found.size());
        if (!numbers) {
            say("expected numbers from 1 to " + std::to_string(found.size()));
            continue;
        }
        std::vector<Found> chosen;
        for (const auto each : *numbers) chosen.push_back(found[each]);
        return chosen;
    }
}

}  // namespace

int offer_import(const GlobalOptions& global, Offer offer, json::array& taken) {
    if (offer == Offer::Nothing) return kOk;
    // What a person has for all projects is theirs, and no matter of whoever else works on this one.
    ImportOptions options, own;
    options.scope = "project";
    own.scope = "local";
    options.secrets = own.secrets = "store";
    const auto files = read_all(options, environment_of(global));
    if (!files) return report_file(files.error(), global);
    auto found = found_in(*files, offer == Offer::Ask);
    if (offer == Offer::Ask && !found.empty()) found = chosen_of(found);
    for (const auto& each : found) {
        options.ids.push_back(each.server->id);
        own.ids.push_back(each.server->id);
    }
    std::vector<Outcome> outcomes;
    std::vector<std::string> written;
    // One after the other: whoever changes files has the turn until it ends.
    const auto take = [&](const ImportOptions& into, bool of_checkout) {
        Import import(global, into);
        for (const auto& each : found)
            if (each.file->of_checkout == of_checkout)
                outcomes.push_back(import.take(*each.file, *each.server));
        written.insert(written.end(), import.files().begin(), import.files().end());
        import.warn_of_clear_text();
    };
    take(options, true);
    take(own, false);
    if (!outcomes.empty() && !global.json) print(outcomes, global);
    tell_notes(outcomes, global);
    tell_files(written, global);
    taken = json_of(outcomes);
    return kOk;
}

void add_import_verb(CLI::App& app, Choice& choice) {
    const auto options = std::make_shared<ImportOptions>();
    auto& import = add_verb(
        app, "import", "Take over the servers that other clients have in their own files",
        "  patchbay import --dry-run\n  patchbay import --from cursor\n  patchbay import files "
        "--from claude --scope project\nEach is written by our keys, as `patchbay mcp add` does "
        "it, "
        "and theirs stay as they are. What a client has\nby the same id and otherwise is left; one "
        "that starts Patchbay is none. Back with: patchbay config undo");
    import.add_option("ID", options->ids, "These alone");
    import.add_option("--from", options->from, "Of this client; else of each that is known")
        ->type_name("CLIENT");
    import.add_option("--file", options->file, "This file, in the words of that client")
        ->type_name("FILE");
    import.add_option("--as", options->as, "What the one that is named is called here")
        ->type_name("NEWID");
    import.add_option("--scope", options->scope, "Into whose file: local, project or user")
        ->check(CLI::IsMember({"local", "project", "user"}))
        ->capture_default_str();
    import
        .add_option(
            "--secrets", options->secrets,
            "Those in clear text: keep them so, or store them (`patchbay secret`) and write "
            "their names")
        ->check(CLI::IsMember({"keep", "store"}))
        ->capture_default_str();
    import.add_flag("--dry-run", options->dry_run, "Show it and write nothing");
    import.add_flag("--replace", options->replace,
                    "In place of what that scope has by the same id");
    choice.on(import, [options](const auto& global) { return import_verb(global, *options); });
}

}  // namespace patchbay::app
