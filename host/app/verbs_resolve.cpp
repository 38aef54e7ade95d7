// patchbay resolve and run-agent: what an agent is given where it runs, shown, written for a client, and around a command.
#include "app/client_file.hpp"
#include "app/given_file.hpp"
#include "app/given_place.hpp"
#include "app/meeting_point.hpp"
#include "app/output.hpp"
#include "app/run_command.hpp"
#include "app/session.hpp"
#include "app/trouble_teller.hpp"
#include "app/verb.hpp"
#include "config/edit/edit.hpp"
#include "config/resolve.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr const char* kVariable = "PATCHBAY_MCP_CONFIG";
constexpr const char* kPlaceholder = "{config}";

struct ResolveOptions : config::Whereabouts {
    std::string format, file;
    std::vector<std::string> command;
};

// What was read, and what an agent is given of it.
struct Resolved {
    config::Environment environment;
    config::Given given;
    std::vector<config::Diagnostic> told;  // of the configuration, by now
};

// Nothing: why was reported, with `code`.
std::optional<Resolved> resolved(Host& host, const ResolveOptions& options,
                                 const GlobalOptions& global, int& code) {
    if (!host.config().stop.empty()) {
        code = report_stop(host.config(), global);
        return {};
    }
    if (const auto fine = config::check_session(options.session); !fine) {
        code = report(fine.error(), global);
        return {};
    }
    auto given = config::resolve(host.config(), options);
    if (!given) {
        // What was typed is fine then, and what a file says of it is not.
        code = report(given.error(), global);
        if (given.error().code == ErrorCode::Invalid) code = kConfigError;
        return {};
    }
    TroubleTeller(host.servers(), global.quiet).tell_all();
    auto environment = environment_of(global);
    environment.stored_secrets = {
        [&host](const std::string& name) { return host.named_secrets().read(name); },
        [&host](const std::string& name) { return host.named_secrets().check(name); }};
    return Resolved{std::move(environment), std::move(*given), host.config().diagnostics};
}

void tell(const std::vector<config::Diagnostic>& warnings, const Resolved& from,
          const GlobalOptions& global) {
    if (global.quiet) return;
    for (const auto& each : warnings) {
        const auto text = config::to_string(each);
        const bool again = std::any_of(from.told.begin(), from.told.end(), [&](const auto& other) {
            return config::to_string(other) == text;
        });
        if (!again) say(text);
    }
}

// `x: env.TOKEN`
std::vector<std::string> lines_of(const GivenEntries& entries) {
    std::vector<std::string> lines;
    for (const auto& [id, places] : entries.expanded)
        for (const auto& place : places) lines.push_back(id + ": " + core::printable(place, 100));
    return lines;
}

void tell_expanded(const GivenEntries& entries, const GlobalOptions& global) {
    if (global.quiet || entries.expanded.empty()) return;
    say("note: the file has values, secrets perhaps, in place of references that its reader would "
        "not read: " +
        core::printable(core::join(lines_of(entries), ", "), 1000));
}

std::string names_in(const json::object* server, const char* key) {
    std::vector<std::string> names;
    if (const auto* list = core::array_in(server, key))
        for (const auto& each : *list)
            names.emplace_back(core::printable(core::text_of(each).value_or(""), 80));
    return core::join(names, ", ");
}

void print(const json::object& told) {
    std::vector<std::vector<Cell>> rows{
        {{"NAME"}, {"TRANSPORT"}, {"MODE"}, {"ENDPOINT"}, {"ENV"}, {"HEADERS"}}};
    const auto* servers = core::array_in(&told, "servers");
    for (const auto& each : servers ? *servers : json::array()) {
        const auto* one = each.if_object();
        const auto text = [&](const char* key) {
            return core::printable(core::text_in(one, key).value_or(""), 200);
        };
        rows.push_back({{text("name")},
                        {text("transport")},
                        {text("mode")},
                        {text("endpoint")},
                        {names_in(one, "env")},
                        {names_in(one, "headers")}});
    }
    print_table(rows);
}

std::string normal_path(const std::string& file, const config::Environment& environment) {
    return (fs::path(environment.working_directory) / file).lexically_normal();
}

int resolve_verb(const GlobalOptions& global, const ResolveOptions& options) {
    const auto client = format_named(options.format.empty() ? "patchbay" : options.format);
    if (!client) return report(client.error(), global);
    Host host(host_options(global));
    int code = kOk;
    const auto found = resolved(host, options, global, code);
    if (!found) return code;
    auto told = config::to_json(found->given);
    tell(found->given.warnings, *found, global);
    // What a client's file holds is nothing for a terminal.
    if (options.file.empty() && !options.format.empty())
        return report(
            {ErrorCode::Invalid,
             "--format says how a file is written, and --materialize FILE which; expected both"},
            global);
    if (options.file.empty()) {
        if (global.json)
            print_json(json::serialize(told));
        else
            print(told);
        return kOk;
    }
    const auto entries = entries_for(*client, found->given, found->environment);
    tell(entries.warnings, *found, global);
    const auto text = file_text(*client, entries);
    if (!text) return report(text.error(), global);
    if (options.file == "-") {
        tell_expanded(entries, global);
        print_foreign(*text);
        return kOk;
    }
    const auto file = normal_path(options.file, found->environment);
    std::error_code failed;
    if (const auto folder = fs::path(file).parent_path(); !fs::is_directory(folder, failed))
        return report({ErrorCode::NotFound,
                       file + ": there is no folder " + folder.string() + "; make it first"},
                      global);
    if (fs::is_directory(file, failed))
        return report({ErrorCode::Invalid, file + " is a folder; expected a file in one"}, global);
    if (auto written = write_given(file, *text, default_state_directory(found->environment));
        !written)
        return report(written.error(), global);
    tell_expanded(entries, global);
    if (!global.json) {
        if (!global.quiet)
            say(std::to_string(entries.entries.size()) +
                (entries.entries.size() == 1 ? " server is in " : " servers are in ") + file);
        return kOk;
    }
    told["file"] = file;
    told["format"] = *client ? (*client)->id : "patchbay";
    told["expanded"] = json::value_from(lines_of(entries));
    if (auto* warnings = told["warnings"].if_array())
        for (const auto& each : entries.warnings) warnings->push_back(config::to_json(each));
    print_json(json::serialize(told));
    return kOk;
}

// The client that a command is, by the name of its program.
std::string format_of(const std::string& program) {
    const auto name = program.substr(program.rfind('/') + 1);
    for (const auto& client : known_clients())
        if (client.words.run && name == client.words.run) return client.id;
    return "patchbay";
}

std::string name_of_file(const KnownClient* client) {
    const auto format = client ? client->format : config::Format::Json;
    return format == config::Format::Toml   ? "mcp.toml"
           : format == config::Format::Yaml ? "mcp.yaml"
                                            : "mcp.json";
}

// For a client that reads one folder alone: all that its user's has, but for the servers of its file.
Result<std::string> folder_for(const KnownClient& client, const GivenEntries& entries,
                               const RunFolder& run, const config::Environment& environment) {
    const auto own = file_of(client, environment);
    const auto folder = run.path() + "/" + client.id;
    if (::mkdir(folder.c_str(), 0700) != 0) return Error{ErrorCode::Io, "cannot make " + folder};
    const std::string file = client.files.front();
    std::error_code failure;
    fs::directory_iterator each(fs::path(own).parent_path(), failure);
    for (; !failure && each != fs::directory_iterator(); each.increment(failure)) {
        const auto name = each->path().filename().string();
        std::error_code unlinked;
        if (name != file) fs::create_symlink(each->path(), folder + "/" + name, unlinked);
        if (unlinked)
            return Error{ErrorCode::Io,
                         "cannot link " + folder + "/" + name + ": " + unlinked.message()};
    }
    const auto read = ClientFile::read(own);
    if (!read) return read.error();
    Result<std::string> text = read->text();
    const auto root = config::edit::read(*text, client.format);
    if (!root) return within(own, root.error());
    const auto& table = table_of(client, *root);
    if (const auto* there = config::edit::find(*root, table); there && there->is_object())
        for (const auto& server : there->get_object()) {
            auto path = table;
            path.emplace_back(server.key());
            if (text) text = config::edit::remove(*text, client.format, path);
        }
    for (const auto& [id, entry] : entries.entries) {
        auto path = table;
        path.push_back(id);
        if (text) text = config::edit::set(*text, client.format, path, entry);
    }
    if (!text) return within(own, text.error());
    return run.write(std::string(client.id) + "/" + file, *text);
}

// With the path in place of its name; where no word has that, with those that the client has for it.
std::vector<std::string> words_of(const std::vector<std::string>& command,
                                  const KnownClient* client, const std::string& path) {
    auto words = command;
    const bool placed = std::any_of(words.begin(), words.end(), [](const auto& word) {
        return word.find(kPlaceholder) != std::string::npos;
    });
    if (!placed && client && client->words.run && format_of(words.front()) == client->id)
        words.insert(words.begin() + 1, client->words.run_words.begin(),
                     client->words.run_words.end());
    const std::string placeholder(kPlaceholder);
    for (auto& word : words)
        for (auto at = word.find(placeholder); at != word.npos;
             at = word.find(placeholder, at + path.size()))
            word.replace(at, placeholder.size(), path);
    return words;
}

int run_agent_verb(const GlobalOptions& global, ResolveOptions options) {
    const auto client =
        format_named(options.format.empty() ? format_of(options.command.front()) : options.format);
    if (!client) return report(client.error(), global);
    if (options.session.empty()) options.session = "run-" + std::to_string(::getpid());
    std::map<std::string, std::string> variables;
    std::vector<std::string> words;
    // Before anything has threads: it leaves a process behind that waits for our end.
    const auto base = runtime_folder(environment_of(global)) + "/agents";
    auto folder = RunFolder::make(base, "agent");
    if (!folder) return report(folder.error(), global);
    {
        Host host(host_options(global));
        int code = kOk;
        const auto found = resolved(host, options, global, code);
        if (!found) return code;
        // Whoever has turned it off means that nobody runs as it.
        if (const auto& agent = found->given.agent; agent && !agent->enabled)
            return report(
                {ErrorCode::Denied, "agent \"" + core::printable(agent->name, 80) +
                                        "\" is disabled (" + config::to_string(agent->place) +
                                        "), so nothing is run; set enabled = true"},
                global);
        const auto entries = entries_for(*client, found->given, found->environment);
        auto warnings = found->given.warnings;
        warnings.insert(warnings.end(), entries.warnings.begin(), entries.warnings.end());
        tell(warnings, *found, global);
        if (entries.entries.empty() && !global.quiet)
            say("warning: agent \"" + core::printable(options.agent, 80) +
                "\" has no server here; the command runs without any");
        const auto text = file_text(*client, entries);
        if (!text) return report(text.error(), global);
        auto path = folder->write(name_of_file(*client), *text);
        if (!path) return report(path.error(), global);
        if (*client && (*client)->words.run_variable) {
            auto own = *path;
            if ((*client)->words.run_in_folder) {
                const auto whole = folder_for(**client, entries, *folder, found->environment);
                if (!whole) return report(whole.error(), global);
                own = fs::path(*whole).parent_path();
            }
            variables[(*client)->words.run_variable] = own;
        }
        variables[kVariable] = *path;
        variables["PATCHBAY_AGENT"] = options.agent;
        variables["PATCHBAY_SESSION"] = options.session;
        words = words_of(options.command, *client, *path);
    }
    const auto ended = run_command(words, variables);
    return ended ? *ended : report(ended.error(), global);
}

void take_where(CLI::App& verb, ResolveOptions& options) {
    verb.add_option("--executor", options.executor,
                    "Where it runs: local_pc, local_docker, remote_docker, remote_ssh, k8s, or one "
                    "of [executors]")
        ->type_name("EXECUTOR")
        ->capture_default_str();
    verb.add_option("--session", options.session, "Which session it is for, by a name")
        ->type_name("NAME");
}

}  // namespace

void add_resolve_verbs(CLI::App& app, Choice& choice) {
    const auto shown = std::make_shared<ResolveOptions>();
    auto& resolve = add_verb(
        app, "resolve",
        "Show what servers an agent is given where it runs, or write them for a client",
        "  patchbay resolve --agent reviewer\n  patchbay resolve --agent reviewer --executor k8s "
        "--json\n  patchbay resolve --agent reviewer --materialize servers.json --format "
        "claude\nAn agent is one of [agents], an executor one "
        "of [executors] or a type that is known. What does not reach\nfrom there is left out, URLs "
        "are as they are called there, and programs have its variables; each warning has\nits file "
        "and line. A client of such a file speaks with the servers itself: rules hold where it "
        "goes "
        "through\n`patchbay serve --agent`. A reference stays one where the client can read it, "
        "else its "
        "value is written.\nWhat is left out is told on stderr and no error: the exit code is 0, "
        "and 4 "
        "where agent or executor is wrong in its file.");
    resolve.add_option("--agent", shown->agent, "One of [agents]; else all servers but theirs")
        ->type_name("AGENT");
    take_where(resolve, *shown);
    resolve
        .add_option(
            "--materialize", shown->file,
            "Write the servers to this file (0600), which is new or was written so before; -: to "
            "stdout")
        ->type_name("FILE");
    resolve
        .add_option("--format", shown->format,
                    "In the words of this client: patchbay (default), claude, codex, cursor, ...")
        ->type_name("CLIENT");
    choice.on(resolve, [shown](const auto& global) { return resolve_verb(global, *shown); });

    const auto wanted = std::make_shared<ResolveOptions>();
    auto& run = add_verb(
        app, "run-agent",
        "Run a command with the servers of an agent in a file that is gone after it",
        "  patchbay run-agent reviewer -- claude -p 'review this'\n  patchbay run-agent reviewer "
        "-- "
        "codex exec 'review this'\n  patchbay run-agent reviewer --format cursor -- my-agent --mcp "
        "{config}\nThe file is in a private folder; its path is in PATCHBAY_MCP_CONFIG, and in "
        "place "
        "of {config}. claude, codex,\ncopilot, gemini, opencode and qwen are told of it as their "
        "documentation says: claude has these servers alone,\ncodex a folder like its own with "
        "these servers, the others these beside their own. Signals go on to the command,\nand its "
        "exit code is ours; 128 and the signal that ended it. As an agent that is disabled nothing "
        "runs (7).");
    run.add_option("AGENT", wanted->agent, "One of [agents]")->required();
    take_where(run, *wanted);
    run.add_option("--format", wanted->format,
                   "In the words of this client; else of the one that the command is, or patchbay")
        ->type_name("CLIENT");
    run.add_option("COMMAND", wanted->command, "Behind --: the command and its words")->required();
    choice.on(run, [wanted](const auto& global) { return run_agent_verb(global, *wanted); });
}

}  // namespace patchbay::app
