#include "app/client_entry.hpp"
#include "app/client_file.hpp"
#include "app/output.hpp"
#include "app/scope_file.hpp"
#include "app/serve_words.hpp"
#include "app/server_edit.hpp"
#include "app/session.hpp"
#include "app/shown_difference.hpp"
#include "app/verb.hpp"
#include "app/wanted_entry.hpp"
#include "config/edit/render.hpp"
#include "config/secret_names.hpp"
#include "config/secret_values.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <sys/stat.h>

namespace patchbay::app {
namespace edit = config::edit;
namespace json = boost::json;

namespace {

constexpr std::size_t kClientNameBytes = 64;
// Whose words most clients share that Patchbay does not know.
constexpr const char* kLikeMost = "cursor";

struct ConnectOptions : WantedEntry {
    std::string client, file;
    bool replace = false, dry_run = false, print = false, undo = false;
};

Result<void> check_name(const std::string& name) {
    const bool fine = !name.empty() && name.size() <= kClientNameBytes &&
                      std::all_of(name.begin(), name.end(), [](char letter) {
                          return config::is_of_a_name(letter) && letter != '.';
                      });
    if (fine) return {};
    return invalid("--name: \"" + core::printable(name, 80) +
                   "\" is no name that every client takes; expected 1 to " +
                   std::to_string(kClientNameBytes) + " letters, digits, - and _");
}

const KnownClient* client_named(const std::string& id, Error& error) {
    if (const auto* client = find_client(id)) return client;
    std::vector<std::string> known;
    for (const auto& each : known_clients()) known.emplace_back(each.id);
    error = invalid(core::behind_hint("patchbay knows no client \"" + core::printable(id, 80) +
                                          "\"" + core::did_you_mean(id, known),
                                      "known: " + core::join(known, ", ")));
    return nullptr;
}

Result<std::string> file_for(const KnownClient& client, const ConnectOptions& options,
                             const config::Environment& environment) {
    if (!options.file.empty())
        return options.file.starts_with('/') ? options.file
                                             : environment.working_directory + "/" + options.file;
    if (options.project) {
        auto file = project_file_of(client, project_folder(environment));
        if (file.empty())
            return invalid(std::string(client.title) +
                           " has no file for one project; without --project it is all of them");
        return file;
    }
    auto file = file_of(client, environment);
    if (file.empty())
        return Error{ErrorCode::NotFound,
                     "there is no home folder to look in; name the file with --file"};
    return file;
}

// The entry as it stands in a file that holds nothing else.
std::string entry_text(const KnownClient& client, const std::string& name,
                       const json::object& entry) {
    auto path = client.tables.front();
    path.push_back(name);
    const auto text = edit::set({}, client.format, path, entry);
    auto whole = text ? *text : std::string();
    if (whole.ends_with('\n')) whole.pop_back();
    return whole;
}

void warn_of_the_clear(const ConnectOptions& options) {
    if (!options.token_env.empty() && options.goes_in_the_clear())
        say("warning: the token goes to " + options.url + " in the clear; https would hide it");
}

void warn_of_dropped(const KnownClient& client, const ConnectOptions& options,
                     const config::Environment& environment) {
    if (!options.project || !options.url.empty()) return;
    const auto names = dropped_variables(client, environment);
    if (names.empty()) return;
    say(std::string("warning: ") + client.title + " hands " + core::join(names, ", ") +
        " on to nothing that it starts, and the file of a project is no place for yours: "
        "Patchbay looks where it does without them; connected without --project it is told of "
        "them");
}

int print_entry(const KnownClient& client, const ConnectOptions& options, const std::string& file,
                const json::object& entry, const GlobalOptions& global) {
    const auto text = entry_text(client, options.name, entry);
    const bool of_one = !options.client.empty();
    if (!global.json) {
        print_line(text);
        say(of_one ? "for " + std::string(client.title) + ": " + file
                   : "as most clients read it; `patchbay connect CLIENT --print` has the words of "
                     "one, and `patchbay connect` lists them");
        return kOk;
    }
    json::object told{{"entry", options.name}, {"value", entry}, {"text", text}};
    if (of_one) told["client"] = client.id, told["file"] = file;
    print_json(json::serialize(told));
    return kOk;
}

const char* word_of(EntryChange::State state) {
    switch (state) {
        case EntryChange::State::Connected:
            return "connected";
        case EntryChange::State::Unchanged:
            return "unchanged";
        case EntryChange::State::Disconnected:
            return "disconnected";
    }
    return "";
}

json::object to_json(const KnownClient& client, const ConnectOptions& options,
                     const EntryChange& done) {
    json::object told{{"client", client.id},        {"file", done.file},
                      {"entry", options.name},      {"state", word_of(done.state)},
                      {"dry_run", options.dry_run}, {"made", done.made},
                      {"removed", done.removed}};
    if (!done.backup.empty()) told["backup"] = done.backup;
    if (options.dry_run)
        told["diff"] = shown_difference(done.before, done.after, done.file, client.format);
    return told;
}

// The command that takes this entry out of this file.
std::string undo_of(const KnownClient& client, const ConnectOptions& options) {
    auto command = "patchbay connect " + std::string(client.id);
    if (!options.file.empty())
        command += " --file " + core::shell_word(options.file);
    else if (options.project)
        command += " --project";
    if (options.name != ConnectOptions().name) command += " --name " + options.name;
    return command + " --undo";
}

// How the client shows who it is, where the gateway asks.
void tell_token(const KnownClient& client, const ConnectOptions& options) {
    if (options.url.empty()) return;
    if (!options.token_env.empty()) {
        warn_of_the_clear(options);
        return say("it sends the token that " + options.token_env +
                   " has where it is started; patchbay token add NAME makes one");
    }
    say(std::string("where the gateway asks for a token: ") +
        (client.reference ? "--token-env VARIABLE has the client send the one of that variable"
                          : "the header \"Authorization: Bearer TOKEN\" goes into this entry by "
                            "hand, as " +
                                std::string(client.source) + " says"));
}

void tell(const KnownClient& client, const ConnectOptions& options, const EntryChange& done) {
    const auto entry = "\"" + options.name + "\"";
    switch (done.state) {
        case EntryChange::State::Unchanged:
            say(std::string(client.title) + " has patchbay already: " + entry + " in " + done.file);
            break;
        case EntryChange::State::Connected:
            say("connected: " + entry + " is in " + done.file +
                (done.made ? ", which is new" : ""));
            tell_token(client, options);
            say("start " + std::string(client.title) +
                " anew to have it; back with: " + undo_of(client, options));
            break;
        case EntryChange::State::Disconnected:
            say("disconnected: " + (done.removed ? done.file + ", which was made for it, is removed"
                                                 : entry + " is out of " + done.file));
            break;
    }
    if (!done.backup.empty() && !done.made) say("the text before is kept: " + done.backup);
}

int finish(const KnownClient& client, const ConnectOptions& options, const EntryChange& done,
           const GlobalOptions& global) {
    if (!done.others.empty() && !global.quiet)
        say("warning: " + done.file + " starts patchbay by another entry too: " +
            core::printable(core::join(done.others, ", "), 200));
    if (global.json) {
        print_json(json::serialize(to_json(client, options, done)));
        return kOk;
    }
    if (!options.dry_run) {
        tell(client, options, done);
        return kOk;
    }
    const auto text = shown_difference(done.before, done.after, done.file, client.format);
    if (!text.empty()) print_foreign(text);
    say(text.empty()   ? "nothing would change in " + done.file
        : done.removed ? "nothing is removed; it would be " + done.file
                       : "nothing is written; this would be, to " + done.file);
    return kOk;
}

// One row for each client, whatever its file holds.
struct ClientRow {
    const KnownClient* client;
    std::string file;
    std::string state;  // connected, not connected, no file, broken
    std::vector<std::string> entries;
    std::string problem;
};

ClientRow row_of(const KnownClient& client, const ConnectOptions& options,
                 const config::Environment& environment) {
    ClientRow row{&client, {}, "no file", {}, {}};
    row.file = options.project ? project_file_of(client, project_folder(environment))
                               : file_of(client, environment);
    if (row.file.empty()) return row;
    const ClientEntry entry({&client, row.file, options.name}, {}, self_path());
    const auto present = entry.present();
    // Of any name: a person may have written it by hand, or by another --name.
    if (present) {
        row.entries = *present;
        row.state = present->empty() ? "not connected" : "connected";
    } else if (present.error().code != ErrorCode::NotFound) {
        row.state = "broken";
        row.problem = present.error().message;
    }
    return row;
}

json::object to_json(const ClientRow& row) {
    json::object told{{"client", row.client->id},
                      {"title", row.client->title},
                      {"file", row.file},
                      {"state", row.state},
                      {"entries", json::array(row.entries.begin(), row.entries.end())},
                      {"http", row.client->url != nullptr},
                      {"transports", json::value_from(transports_of(*row.client))},
                      {"project", !row.client->project_files.empty()},
                      {"documentation", row.client->source}};
    if (!row.problem.empty()) told["problem"] = row.problem;
    return told;
}

int list_clients(const ConnectOptions& options, const config::Environment& environment,
                 const GlobalOptions& global) {
    json::array told;
    std::vector<std::vector<Cell>> rows{{{"CLIENT"}, {"STATE"}, {"ENTRY"}, {"FILE"}}};
    for (const auto& client : known_clients()) {
        if (options.project && client.project_files.empty()) continue;
        const auto row = row_of(client, options, environment);
        told.push_back(to_json(row));
        const auto* colour = row.state == "connected" ? "green"
                             : row.state == "broken"  ? "red"
                                                      : "gray";
        rows.push_back(
            {{client.id}, {row.state, colour}, {core::join(row.entries, ", ")}, {row.file}});
        if (!row.problem.empty() && !global.json) say("warning: " + row.problem);
    }
    if (global.json)
        print_json(json::serialize(told));
    else
        print_table(rows);
    return kOk;
}

Result<void> check_together(const ConnectOptions& options) {
    if (!options.client.empty() && !options.serve.empty() && find_client(options.serve.front()))
        return invalid("one client at a time: patchbay connect " + options.client +
                       ", and then patchbay connect " + options.serve.front());
    if (options.client.empty()) {
        const bool of_a_file =
            options.undo || options.dry_run || !options.file.empty() || options.replace;
        const bool says_what = !options.url.empty() || !options.serve.empty();
        if (of_a_file || (options.print ? options.project : says_what))
            return invalid("connect needs to be told which client; `patchbay connect` lists them");
    }
    if (options.undo && (!options.url.empty() || !options.serve.empty()))
        return invalid("--undo takes the entry out whatever it says; it needs --name at most");
    return {};
}

// Somebody may configure it later, or in a project: so it is written.
void warn_of_strangers(const GlobalOptions& global, const std::vector<std::string>& serve) {
    auto named = names_in_serve(serve);
    if (named.agents.empty() && named.servers.empty()) return;
    const Host host(host_options(global));
    const auto& config = host.config();
    std::vector<std::string> servers, agents;
    for (const auto& each : config.servers) servers.push_back(each.id);
    for (const auto& each : config.untrusted) servers.push_back(each.id);
    for (const auto& each : config.agents) agents.push_back(each.name);
    const auto warn = [](const char* what, const std::vector<std::string>& meant,
                         const std::vector<std::string>& known) {
        for (const auto& name : meant)
            if (std::find(known.begin(), known.end(), name) == known.end())
                say("warning: no " + std::string(what) + " \"" + core::printable(name, 80) +
                    "\" is configured here" + core::did_you_mean(name, known) +
                    "; the client will be told so until there is one");
    };
    warn("server", named.servers, servers);
    warn("agent", named.agents, agents);
}

int connect_verb(const GlobalOptions& global, const ConnectOptions& options) {
    if (auto fine = check_together(options); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    if (options.client.empty() && !options.print) return list_clients(options, environment, global);
    Error error;
    const auto* client = client_named(options.client.empty() ? kLikeMost : options.client, error);
    if (!client) return report(error, global);
    if (auto fine = check_name(options.name); !fine) return report(fine.error(), global);
    const auto file = file_for(*client, options, environment);
    if (!file) return report(file.error(), global);
    if (options.project && options.file.empty())
        if (auto inside = check_inside(*file, project_folder(environment)); !inside)
            return report(inside.error(), global);
    // A person's own file may hold tokens of others; one of a project is read by whoever shares it.
    const auto readers = options.project ? ClientFile::Readers::AsUsual : ClientFile::Readers::User;
    const ClientEntry place({client, *file, options.name, readers},
                            default_state_directory(environment), self_path());
    const auto trial = options.dry_run ? Trial::Yes : Trial::No;
    if (options.undo) {
        const auto done = place.disconnect(trial);
        return done ? finish(*client, options, *done, global) : report_file(done.error(), global);
    }
    const auto entry = entry_for(*client, options, environment);
    if (!entry) return report(entry.error(), global);
    if (!options.serve.empty() && !global.quiet) warn_of_strangers(global, options.serve);
    if (!global.quiet) warn_of_dropped(*client, options, environment);
    if (options.print) {
        if (!global.quiet) warn_of_the_clear(options);
        return print_entry(*client, options, *file, *entry, global);
    }
    const auto done =
        place.connect(*entry, options.replace ? Foreign::Replace : Foreign::Keep, trial);
    return done ? finish(*client, options, *done, global) : report_file(done.error(), global);
}

}  // namespace

void add_connect_verb(CLI::App& app, Choice& choice) {
    const auto wanted = std::make_shared<ConnectOptions>();
    auto& connect = add_verb(
        app, "connect", "Put Patchbay into the configuration of an agent, and take it out again",
        "  patchbay connect                          the clients that are known, and which have "
        "it\n"
        "  patchbay connect claude                   one entry in ~/.claude.json, nothing else "
        "changed\n"
        "  patchbay connect cursor --project         in .cursor/mcp.json of this project\n"
        "  patchbay connect codex --dry-run          what would change\n"
        "  patchbay connect zed --print              the entry alone, to be pasted\n"
        "  patchbay connect --print                  the same as most clients read it\n"
        "  patchbay connect vscode --http http://127.0.0.1:8808/mcp\n"
        "  patchbay connect gemini --name docs -- --only docs\n"
        "  patchbay connect claude --undo            what was there before");
    connect.add_option("CLIENT", wanted->client, "Which; without it all are listed");
    connect.add_flag("--project", wanted->project, "The file of this project, not that of all");
    connect.add_option("--file", wanted->file, "This file, in the words of the client")
        ->type_name("FILE");
    connect.add_option("--name", wanted->name, "The name of the entry")->capture_default_str();
    auto* http =
        connect
            .add_option("--http", wanted->url,
                        "Reach a `patchbay serve --http` that runs, by its URL: of this machine or "
                        "another one, https://HOST/mcp, and /mcp/AGENT for what an agent is shown")
            ->type_name("URL");
    connect
        .add_option("--token-env", wanted->token_env,
                    "With the token that this variable has where the client is started, for a "
                    "gateway that asks who comes; no token is written into the file")
        ->type_name("VARIABLE")
        ->needs(http);
    connect.add_flag("--replace", wanted->replace,
                     "In place of an entry of that name that is somebody else's");
    auto* dry = connect.add_flag("--dry-run", wanted->dry_run, "Show what would change");
    auto* print = connect.add_flag("--print", wanted->print, "Print the entry alone");
    auto* undo = connect.add_flag("--undo", wanted->undo, "Take the entry out again");
    print->excludes(dry)->excludes(undo);
    connect.add_option("OPTIONS", wanted->serve, "Behind --: options of `patchbay serve`");
    choice.on(connect, [wanted](const auto& global) {
        // Where no client is named, the first word behind -- takes its place.
        if (wanted->client.starts_with('-')) {
            wanted->serve.insert(wanted->serve.begin(), wanted->client);
            wanted->client.clear();
        }
        return connect_verb(global, *wanted);
    });
}

}  // namespace patchbay::app
