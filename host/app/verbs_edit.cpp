// Verbs that change one server in the file of one scope, and nothing else.
#include "app/definitions.hpp"
#include "app/distant_host.hpp"
#include "app/entry_check.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/scope_file.hpp"
#include "app/server_words.hpp"
#include "app/session.hpp"
#include "app/typed_entry.hpp"
#include "app/verb.hpp"
#include "config/ids.hpp"
#include "config/keys.hpp"
#include "config/show.hpp"
#include "config/sources.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "service/configuration.hpp"
#include "service/trust.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Scope;

namespace {

struct EditOptions : ServerWords {
    std::string id, scope = "project", file, text;
    bool replace = false;
};

Error invalid(std::string why) {
    return {ErrorCode::Invalid, std::move(why)};
}

Scope scope_named(const std::string& name) {
    return name == "local" ? Scope::Local : name == "user" ? Scope::User : Scope::Project;
}

Result<void> check_id(const std::string& id) {
    if (config::valid_id(id)) return {};
    return invalid("\"" + core::printable(id, 80) +
                   "\" is no id: expected 1 to 64 letters, digits, - and _, without __");
}

// A list of servers has no keys to change one by.
Result<void> check_list(const ScopeFile& file, const std::string& id,
                        const std::vector<Definition>& definitions) {
    if (file.entry() || !file.has_list()) return {};
    for (const auto& each : definitions)
        if (each.place.file == file.path())
            return invalid(config::to_string(each.place) + ": \"" + id +
                           "\" stands in a list, where no verb changes it; edit it there, or write "
                           "the list as tables by id");
    return {};
}

Error not_there(const ScopeFile& file, const std::string& id, const Host& host,
                const std::vector<Definition>& definitions) {
    if (auto listed = check_list(file, id, definitions); !listed) return listed.error();
    auto why = file.path() + " does not define \"" + core::printable(id, 80) + "\"";
    for (const auto& other : definitions) why += "; " + config::to_string(other.place) + " does";
    if (!definitions.empty()) return {ErrorCode::NotFound, why};
    std::vector<std::string> known;
    for (const auto& server : host.config().servers) known.push_back(server.id);
    return {ErrorCode::NotFound, why + ", nor does another file" + core::did_you_mean(id, known) +
                                     "; patchbay mcp list shows which there are"};
}

// ---- a change, judged and written

// Which definition counts by now; of none why that is.
json::object effective_json(const config::Config& config, const std::string& id) {
    const auto* server = server_of(config, id);
    if (!server) return {};
    return {{"scope", config::name_of(server->place.scope)},
            {"file", server->place.file},
            {"line", server->place.line},
            {"enabled", server->enabled}};
}

// Why what was written counts for nothing.
std::string why_not(const config::Config& config, const std::string& id, const std::string& file,
                    const config::Environment& environment) {
    const auto waits =
        std::any_of(config.untrusted.begin(), config.untrusted.end(),
                    [&](const config::Proposal& proposal) { return proposal.id == id; });
    if (waits) return "it waits for your approval: patchbay trust " + id;
    const auto loaded = config::load(environment);
    const bool read = std::any_of(loaded.candidates.begin(), loaded.candidates.end(),
                                  [&](const auto& candidate) { return candidate.path == file; });
    if (!read)
        return "it does not count here: no scope reads that file; --config " + file + " does";
    return "it does not count here: patchbay config check says why";
}

void tell_effective(const config::Config& config, const std::string& id, const std::string& state,
                    const std::string& file, const config::Environment& environment) {
    const auto* server = server_of(config, id);
    if (!server && state == "removed") {
        for (const auto& left : definitions_of(id, environment))
            say((left.connects ? "it is defined still: " : "what adjusts it is left: ") +
                config::to_string(left.place) + "; patchbay mcp remove " + id + " --scope " +
                config::name_of(left.place.scope));
        return;
    }
    if (!server) return say(why_not(config, id, file, environment));
    if (state == "unchanged") return;
    const bool wanted = state != "disabled";
    if (server->place.file != file && state != "enabled" && state != "disabled")
        say("what counts is " + config::to_string(server->place) +
            (server->enabled ? "" : ", which is disabled"));
    else if (server->enabled != wanted && state != "added" && state != "replaced")
        say("it stays " + std::string(server->enabled ? "enabled" : "disabled") +
            ": a stronger file says so, see patchbay mcp get " + id);
}

int tell(const EditOptions& options, const std::string& state, const ScopeChange& done,
         const GlobalOptions& global, const IsTyped& typed) {
    Host host(host_options(global));
    const auto approved = approve(host, options.id, typed);
    const auto now = host.read_snapshot();
    const auto& config = now->config;
    if (global.json) {
        json::object line{
            {"id", options.id}, {"state", state}, {"file", done.file}, {"made", done.made}};
        if (!done.backup.empty() && !done.made) line["backup"] = done.backup;
        auto effective = effective_json(config, options.id);
        line["effective"] = effective.empty() ? json::value() : json::value(std::move(effective));
        print_json(json::serialize(line));
    } else {
        say(state + ": " + options.id + (state == "removed" ? " from " : " in ") + done.file +
            (done.made ? ", which is new" : ""));
        tell_effective(config, options.id, state, done.file, environment_of(global));
    }
    return approved ? int(kOk) : report(approved.error(), global);
}

// ---- add, add-json

// "-": one line of stdin, so that no secret is in the list of processes.
Result<std::string> secret_of(const std::string& word) {
    if (word != "-") return word;
    std::string line;
    if (!std::getline(std::cin, line) || line.empty())
        return invalid("--oauth-client-secret -: expected the secret as a line on stdin");
    return line;
}

// One that neither connects nor adjusts would count for nothing.
Result<void> check_reachable(const ScopeFile& file, const std::string& id,
                             const json::object& entry, Scope scope,
                             const std::vector<Definition>& definitions) {
    if (auto listed = check_list(file, id, definitions); !listed) return listed;
    const bool elsewhere = std::any_of(
        definitions.begin(), definitions.end(),
        [&](const auto& each) { return each.connects && each.place.file != file.path(); });
    const auto read = entry_as_read(file, entry, {scope, 0, file.path()});
    if (elsewhere || !read || config::defines_connection(read->body)) return {};
    return invalid("nothing says how to reach \"" + id +
                   "\", here or in another file: expected \"command\" or \"url\"");
}

int add(const GlobalOptions& global, const EditOptions& options,
        const std::function<Result<json::object>(const ScopeFile&)>& wanted) {
    if (auto fine = check_id(options.id); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    const auto scope = scope_named(options.scope);
    const auto file = ScopeFile::choose(scope, options.id, options.file, environment,
                                        default_state_directory(environment));
    if (!file) return report_file(file.error(), global);
    const auto entry = wanted(*file);
    if (!entry) return report(entry.error(), global);
    const auto definitions = definitions_of(options.id, environment);
    if (auto fine = check_reachable(*file, options.id, *entry, scope, definitions); !fine)
        return report(fine.error(), global);
    const auto* there = file->entry();
    const bool same = there && *there == json::value(*entry);
    if (there && !same && !options.replace)
        return report(invalid(file->path() + " defines \"" + options.id +
                              "\" already; --replace puts this in its place"),
                      global);
    auto text = same ? Result<std::string>(std::string()) : file->with(*entry);
    if (!text) return report_file(text.error(), global);
    ScopeChange done{file->path(), {}, {}, false, false, {}};
    Host host(host_options(global));
    const auto whole = is_whole(*file, *entry);
    // One that adjusts what was approved leaves that so.
    const auto adjusted = is_switched(*file, there ? *there : json::value(), *entry,
                                      approved_digest(host, options.id));
    if (!same) {
        if (auto fine = judge(host, file->path(), *text, options.id, global); !fine)
            return report(fine.error(), global);
        auto written = file->write(std::move(*text), approval_of(host, options.id));
        if (!written) return report_file(written.error(), global);
        done = std::move(*written);
    }
    warn_of_secrets(*entry, scope, global);
    return tell(options,
                same    ? "unchanged"
                : there ? "replaced"
                        : "added",
                done, global, [&](const auto& each) { return whole(each) || adjusted(each); });
}

// A path that was typed in a shell begins where that is; in a file it stands beside the file. Of a file of all projects it is
// whole.
void place_beside(const ScopeFile& file, const std::string& scope,
                  const config::Environment& environment, json::object& entry) {
    const auto folder = std::filesystem::path(file.path()).parent_path();
    for (const auto* key : {"command", "cwd"}) {
        const auto word = core::text_in(&entry, key);
        if (!word || word->empty() || std::string_view("/~$").find(word->front()) != word->npos)
            continue;
        if (key == std::string_view("command") && word->find('/') == word->npos) continue;
        const auto meant =
            (std::filesystem::path(environment.working_directory) / *word).lexically_normal();
        auto written = scope == "user" ? meant.string() : meant.lexically_relative(folder).string();
        if (written.find('/') == written.npos) written.insert(0, "./");
        entry[key] = written;
    }
}

int add_words_verb(const GlobalOptions& global, EditOptions options) {
    auto secret = secret_of(options.oauth.client_secret);
    if (!secret) return report(secret.error(), global);
    options.oauth.client_secret = std::move(*secret);
    return add(global, options, [&](const ScopeFile& file) {
        auto entry = entry_of(options, file.of_other_programs() ? "type" : "transport");
        if (entry) place_beside(file, options.scope, environment_of(global), *entry);
        return entry;
    });
}

// The entry, or what holds it alone, as the instructions of servers print it: {"mcpServers": {"x": {...}}}.
Result<json::object> typed_json(const std::string& text) {
    const auto expected = "; expected the entry alone: {\"command\": ...} or {\"url\": ...}";
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '{' && text[first] != '/')
        return invalid(std::string("JSON: this is no table") + expected);
    auto entry = config::edit::read(text, config::Format::Json);
    if (!entry) return invalid("JSON:" + entry.error().message + expected);
    for (const auto* table : {"mcpServers", "servers", "mcp_servers"}) {
        const auto* all = core::object_in(&*entry, table);
        if (!all || entry->size() != 1) continue;
        const auto* one = all->size() == 1 ? all->begin()->value().if_object() : nullptr;
        if (one) return json::object(*one);
        return invalid(std::to_string(all->size()) + " servers stand below \"" + table + "\"" +
                       expected);
    }
    if (entry->empty()) return invalid(std::string("the entry is empty") + expected);
    return entry;
}

int add_json_verb(const GlobalOptions& global, EditOptions options) {
    if (options.text == "-") {
        std::string text((std::istreambuf_iterator<char>(std::cin)), {});
        options.text = std::move(text);
    }
    return add(global, options, [&](const ScopeFile&) { return typed_json(options.text); });
}

// ---- remove

int remove_verb(const GlobalOptions& global, const EditOptions& options) {
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_named(options.scope), options.id, options.file,
                                        environment, default_state_directory(environment));
    if (!file) return report_file(file.error(), global);
    Host host(host_options(global));
    if (!file->entry())
        return report(not_there(*file, options.id, host, definitions_of(options.id, environment)),
                      global);
    auto text = file->without();
    if (!text) return report_file(text.error(), global);
    const auto freed =
        is_switched(*file, *file->entry(), nullptr, approved_digest(host, options.id));
    auto written = file->write(std::move(*text), approval_of(host, options.id));
    if (!written) return report_file(written.error(), global);
    return tell(options, "removed", *written, global, freed);
}

// ---- enable, disable

// `changes`: by this command so far, by the file; this one is put with them.
int switch_verb(const GlobalOptions& global, const EditOptions& options, bool on,
                std::map<std::string, ScopeChange>& changes) {
    if (auto fine = check_id(options.id); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_named(options.scope), options.id, options.file,
                                        environment, default_state_directory(environment));
    if (!file) return report_file(file.error(), global);
    const auto definitions = definitions_of(options.id, environment);
    Host host(host_options(global));
    if (definitions.empty() || !check_list(*file, options.id, definitions))
        return report(not_there(*file, options.id, host, definitions), global);
    // A weaker file adjusts nothing of a stronger one's.
    if (!file->entry() && definitions.front().place.scope > scope_named(options.scope))
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
    auto note = approval_of(host, options.id);
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
    if (const auto approved = approve_again(host, done->note); !approved)
        return report(approved.error(), global);
    if (global.json)
        print_json(json::serialize(
            json::object{{"file", done->file}, {"state", done->removed ? "removed" : "restored"}}));
    else
        say(done->removed ? "removed: " + done->file + ", which was made by the change"
                          : "restored: " + done->file + " is as it was before the last change");
    return kOk;
}

void take_place(CLI::App& verb, EditOptions& options) {
    verb.add_option("ID", options.id, "The server")->required();
    verb.add_option("--scope", options.scope, "Whose file: local, project or user")
        ->check(CLI::IsMember({"local", "project", "user"}))
        ->capture_default_str();
    verb.add_option("--file", options.file, "This file, whatever the scope has")->type_name("FILE");
}

void take_words(CLI::App& verb, EditOptions& options) {
    verb.add_option("--transport", options.transport,
                    "stdio, http, sse, ws, tcp, or one that a plugin brings; where it is left out, "
                    "a program means stdio and a URL http")
        ->type_name("NAME");
    verb.add_option("--url", options.url, "Of a server that runs already");
    verb.add_option("--command", options.command, "The program of a server that is started")
        ->type_name("PROGRAM");
    take_each(verb, "--arg", options.args, "WORD", "An argument of the program (repeatable)");
    verb.add_option("--cwd", options.cwd, "The folder that it is started in")->type_name("DIR");
    take_each(verb, "--env", options.env, "NAME=VALUE", "A variable of the program (repeatable)");
    take_each(verb, "--header", options.headers, "NAME=VALUE",
              "A header of each request (repeatable)");
    verb.add_option("--enabled", options.enabled, "true or false")
        ->type_name("BOOL")
        ->check(CLI::IsMember({"true", "false"}));
    verb.add_option("--request-timeout-ms", options.request_timeout_ms,
                    "How long a request may take that is no tool call")
        ->type_name("MS")
        ->check([](const std::string& text) {
            const bool number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
            return number ? std::string() : text + ": expected milliseconds, as 30000";
        });
    take_each(
        verb, "--key", options.keys, "NAME=VALUE",
        "Another key of the entry (repeatable); a VALUE that is JSON is that: --key port=9000");
    auto& oauth = options.oauth;
    verb.add_option("--oauth-authorization-url", oauth.authorization_url)->type_name("URL");
    verb.add_option("--oauth-token-url", oauth.token_url)->type_name("URL");
    verb.add_option("--oauth-registration-url", oauth.registration_url)->type_name("URL");
    verb.add_option("--oauth-client-id", oauth.client_id)->type_name("ID");
    verb.add_option("--oauth-client-secret", oauth.client_secret, "-: a line of stdin")
        ->type_name("SECRET");
    verb.add_option("--oauth-scope", oauth.scope)->type_name("SCOPES");
    verb.add_option("PROGRAM", options.program, "Behind --: the program and its arguments");
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

void add_edit_verbs(CLI::App& mcp, Choice& choice) {
    const auto options = std::make_shared<EditOptions>();
    auto& add = add_verb(
        mcp, "add", "Write a server into the file of a scope; every other byte of it stays",
        "  patchbay mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data\n"
        "  patchbay mcp add docs --url https://docs.example.com/mcp --scope user\n"
        "  patchbay mcp add api --url https://x.example/mcp --header 'Authorization=Bearer "
        "${TOKEN}'\n"
        "  patchbay mcp add db --transport tcp --key host=localhost --key port=9000\n"
        "Written to the file of the scope that defines the id, else to the one that is there, "
        "else to a new\nconfig.toml. What would not work is not written. Back with: patchbay "
        "config undo");
    take_place(add, *options);
    add.add_flag("--replace", options->replace, "In place of what this scope has by that id");
    take_words(add, *options);
    choice.on(add, [options](const auto& global) { return add_words_verb(global, *options); });

    auto& add_json = add_verb(mcp, "add-json", "The same from an entry in JSON",
                              "  patchbay mcp add-json docs '{\"url\": "
                              "\"https://docs.example.com/mcp\"}'\n  patchbay mcp add-json docs - "
                              "< entry.json");
    take_place(add_json, *options);
    add_json.add_option("JSON", options->text, "The entry; -: from stdin")->required();
    add_json.add_flag("--replace", options->replace, "In place of what this scope has by that id");
    choice.on(add_json, [options](const auto& global) { return add_json_verb(global, *options); });

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
