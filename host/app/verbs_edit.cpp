// Verbs that change one server in the file of one scope, and nothing else.
#include "app/output.hpp"
#include "app/scope_file.hpp"
#include "app/server_words.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"
#include "config/approval.hpp"
#include "config/ids.hpp"
#include "config/keys.hpp"
#include "config/show.hpp"
#include "config/sources.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "service/configuration.hpp"
#include "service/trust.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

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

// ---- where it is said

struct Definition {
    config::Place place;
    bool connects;  // or only adjusts
};

// Of all files, the weakest first.
std::vector<Definition> definitions_of(const std::string& id,
                                       const config::Environment& environment) {
    auto sources = config::discover(environment, {});
    config::settle_ids(sources.fragments);
    std::vector<Definition> found;
    for (const auto& fragment : sources.fragments)
        for (const auto& entry : fragment.servers)
            if (entry.id == id)
                found.push_back(
                    {fragment.source.place(entry.mark), config::defines_connection(entry.body)});
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.place.scope < b.place.scope; });
    return found;
}

const config::Server* find(const config::Config& config, const std::string& id) {
    const auto found = std::find_if(config.servers.begin(), config.servers.end(),
                                    [&](const auto& server) { return server.id == id; });
    return found == config.servers.end() ? nullptr : &*found;
}

// ---- a change, judged and written

// What is wrong with the server when the file says `text`: errors refuse the change, of warnings only those
// that it brings are told.
Result<void> judge(const Host& host, const std::string& file, const std::string& text,
                   const std::string& id, const GlobalOptions& global) {
    const auto before = host.check_file(file);
    auto told = host.check_text(file, text);
    std::erase_if(told, [&](const config::Diagnostic& each) {
        if (each.server == id) return false;
        return !each.server.empty() || each.severity != config::Severity::Error ||
               std::any_of(before.begin(), before.end(), [&](const config::Diagnostic& old) {
                   return old.message == each.message && old.server == each.server;
               });
    });
    for (const auto& each : told)
        if (each.severity == config::Severity::Error)
            return invalid("nothing is written, it would not work: " + config::sentence_of(each));
    if (!global.quiet)
        for (const auto& each : told) say("warning: " + config::sentence_of(each));
    return {};
}

// What a person types here is theirs, also in a file of the checkout. What is approved is looked at itself, whoever has
// written the file meanwhile and whatever else in it means the same server: it has to be what was typed, or what was
// approved before it was turned on or off.
using IsTyped = std::function<bool(const config::Proposal& proposal)>;

// An entry by that key as the reader of that file has it; null: it has none.
json::value restated(const ScopeFile& file, const json::value& entry,
                     const config::Proposal& proposal) {
    const auto text = config::edit::set({}, config::Format::Json, file.key(), entry);
    if (!text) return nullptr;
    const auto fragment = config::read_fragment(
        *text, config::Format::Json, {proposal.place.scope, 0, file.path(), proposal.directory});
    return fragment.servers.size() == 1 ? config::to_json(fragment.servers.front().body)
                                        : json::value();
}

IsTyped is_whole(const ScopeFile& file, const json::object& entry) {
    return [&file, entry](const config::Proposal& proposal) {
        const auto& definition = proposal.definition;
        const auto* server = definition.if_contains("server");
        return server && server->is_object() && *server == restated(file, entry, proposal) &&
               !definition.contains("adjusted_by") && !definition.contains("refused");
    };
}

// `before`: null: there was no entry.
IsTyped is_switched(const ScopeFile& file, const json::value& before, const json::value& after,
                    const std::string& approved) {
    return [&file, before, after, approved](const config::Proposal& proposal) {
        if (approved.empty()) return false;
        const auto is_now = restated(file, after, proposal);
        const auto was = before.is_null() ? json::value() : restated(file, before, proposal);
        const auto& definition = proposal.definition;
        const auto is_approved = [&](json::object earlier) {
            return config::digest_of(earlier) == approved;
        };
        if (const auto* server = definition.if_contains("server"); server && *server == is_now) {
            auto earlier = definition;
            earlier["server"] = was;
            if (is_approved(std::move(earlier))) return true;
        }
        const auto* adjusting = definition.if_contains("adjusted_by");
        const auto* list = adjusting ? adjusting->if_array() : nullptr;
        for (std::size_t i = 0; list && i < list->size(); ++i) {
            if ((*list)[i] != is_now) continue;
            auto others = *list;
            if (was.is_null())
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            else
                others[i] = was;
            auto earlier = definition;
            if (others.empty())
                earlier.erase("adjusted_by");
            else
                earlier["adjusted_by"] = std::move(others);
            if (is_approved(std::move(earlier))) return true;
        }
        return false;
    };
}

Result<void> approve(Host& host, const std::string& id, const IsTyped& typed) {
    std::vector<config::Proposal> own;
    for (const auto& proposal : host.config().untrusted)
        if (proposal.id == id && typed && typed(proposal)) own.push_back(proposal);
    return own.empty() ? Result<void>() : host.trust().approve(own);
}

// So that a change which is taken back gives back the approval of what was there.
json::object approval_of(Host& host, const std::string& id) {
    if (!service::is_approved(id, host.config())) return {};
    return {{"id", id}, {"digest", host.trust().digest_of(host.project(), id)}};
}

Result<void> approve_again(const GlobalOptions& global, const json::object& note) {
    const auto id = core::text_in(&note, "id"), digest = core::text_in(&note, "digest");
    if (!id || !digest) return {};
    Host host(host_options(global));
    // Whoever has revoked it meanwhile means that.
    if (host.trust().digest_of(host.project(), std::string(*id)).empty()) return {};
    return approve(host, std::string(*id),
                   [&](const config::Proposal& proposal) { return proposal.digest == *digest; });
}

// Which definition counts by now; of none why that is.
json::object effective_json(const config::Config& config, const std::string& id) {
    const auto* server = find(config, id);
    if (!server) return {};
    return {{"scope", config::name_of(server->place.scope)},
            {"file", server->place.file},
            {"line", server->place.line},
            {"enabled", server->enabled}};
}

void tell_effective(const config::Config& config, const std::string& id, const std::string& state,
                    const std::string& file, const std::vector<Definition>& left_over) {
    const auto* server = find(config, id);
    if (!server && state == "removed") {
        for (const auto& left : left_over)
            say("what adjusts it is left: " + config::to_string(left.place) +
                "; patchbay mcp remove " + id + " --scope " + config::name_of(left.place.scope));
        return;
    }
    if (!server)
        return say(
            "it does not count here: patchbay config check says why, --config reads a file "
            "that no scope has");
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
        tell_effective(config, options.id, state, done.file,
                       definitions_of(options.id, environment_of(global)));
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

void warn_of_secrets(const json::object& entry, Scope scope, const GlobalOptions& global) {
    const auto names = clear_secrets(entry);
    if (names.empty() || global.quiet || scope != Scope::Project) return;
    say("warning: " + core::join(names, ", ") +
        " is in clear text in a file that comes with the checkout; ${NAME} takes it from a "
        "variable, --scope local or user keeps it out");
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
                done, global, is_whole(*file, *entry));
}

int add_words_verb(const GlobalOptions& global, EditOptions options) {
    auto secret = secret_of(options.oauth.client_secret);
    if (!secret) return report(secret.error(), global);
    options.oauth.client_secret = std::move(*secret);
    return add(global, options, [&](const ScopeFile& file) {
        return entry_of(options, file.of_other_programs() ? "type" : "transport");
    });
}

int add_json_verb(const GlobalOptions& global, EditOptions options) {
    if (options.text == "-") {
        std::string text((std::istreambuf_iterator<char>(std::cin)), {});
        options.text = std::move(text);
    }
    return add(global, options, [&](const ScopeFile&) -> Result<json::object> {
        auto entry = config::edit::read(options.text, config::Format::Json);
        if (!entry) return invalid("JSON:" + entry.error().message);
        if (entry->empty())
            return invalid("the entry is empty; expected {\"command\": ...} or {\"url\": ...}");
        return entry;
    });
}

// ---- remove

int remove_verb(const GlobalOptions& global, const EditOptions& options) {
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_named(options.scope), options.id, options.file,
                                        environment, default_state_directory(environment));
    if (!file) return report_file(file.error(), global);
    if (!file->entry()) {
        auto why = file->path() + " does not define \"" + core::printable(options.id, 80) + "\"";
        for (const auto& other : definitions_of(options.id, environment))
            why += "; " + config::to_string(other.place) + " does";
        return report({ErrorCode::NotFound, why}, global);
    }
    auto text = file->without();
    if (!text) return report_file(text.error(), global);
    Host host(host_options(global));
    auto written = file->write(std::move(*text), approval_of(host, options.id));
    if (!written) return report_file(written.error(), global);
    return tell(options, "removed", *written, global, {});
}

// ---- enable, disable

int switch_verb(const GlobalOptions& global, const EditOptions& options, bool on) {
    if (auto fine = check_id(options.id); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    const auto file = ScopeFile::choose(scope_named(options.scope), options.id, options.file,
                                        environment, default_state_directory(environment));
    if (!file) return report_file(file.error(), global);
    const auto definitions = definitions_of(options.id, environment);
    if (definitions.empty())
        return report({ErrorCode::NotFound, "no file defines \"" + options.id +
                                                "\"; patchbay mcp list shows which there are"},
                      global);
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
    Host host(host_options(global));
    const auto approved = service::is_approved(options.id, host.config())
                              ? host.trust().digest_of(host.project(), options.id)
                              : std::string();
    if (auto fine = judge(host, file->path(), *text, options.id, global); !fine)
        return report(fine.error(), global);
    auto written = file->write(std::move(*text), approval_of(host, options.id));
    if (!written) return report_file(written.error(), global);
    const bool same = written->before == written->after;
    return tell(options,
                same ? "unchanged"
                : on ? "enabled"
                     : "disabled",
                *written, global, is_switched(*file, before, after, approved));
}

// ---- get

int get_verb(const GlobalOptions& global, const std::string& id) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_those_of({id});
    const auto* server = find(session.host().config(), id);
    if (!server) return session.report_no_server(id);
    const auto shown = config::to_json(*server);
    auto others = definitions_of(id, environment_of(global));
    std::erase_if(others, [&](const auto& each) { return each.place == server->place; });
    if (global.json) {
        json::array told;
        for (const auto& other : others)
            told.push_back({{"scope", config::name_of(other.place.scope)},
                            {"file", other.place.file},
                            {"line", other.place.line},
                            {"adjusts", !other.connects}});
        print_json(json::serialize(json::object{{"id", id},
                                                {"scope", config::name_of(server->place.scope)},
                                                {"file", server->place.file},
                                                {"line", server->place.line},
                                                {"definition", shown},
                                                {"others", std::move(told)}}));
        return kOk;
    }
    std::vector<std::vector<Cell>> rows{{{"written in"}, {config::to_string(server->place)}}};
    for (const auto& member : shown)
        rows.push_back({{std::string(member.key())}, {json::serialize(member.value())}});
    for (const auto& other : others)
        rows.push_back(
            {{other.connects ? "also in" : "adjusted in"}, {config::to_string(other.place)}});
    print_table(rows);
    return kOk;
}

// ---- list of one scope

std::string transport_in(const config::ServerEntry& entry) {
    const auto* named = entry.body.find("transport");
    if (named) return config::canonical_transport(named->text);
    if (!config::defines_connection(entry.body)) return "";
    const auto* url = entry.body.find("url");
    return config::transport_for(entry.body.find("command") != nullptr, url ? url->text : "");
}

// ---- undo

int undo_verb(const GlobalOptions& global, const std::string& file) {
    const auto environment = environment_of(global);
    const auto done = ScopeFile::undo(file, environment, default_state_directory(environment));
    if (!done) return report_file(done.error(), global);
    if (const auto approved = approve_again(global, done->note); !approved)
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
    verb.add_option("--enabled", options.enabled, "true or false")->type_name("BOOL");
    verb.add_option("--request-timeout-ms", options.request_timeout_ms,
                    "How long a request may take that is no tool call")
        ->type_name("MS");
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

}  // namespace

int list_of_scope(const GlobalOptions& global, const std::string& scope) {
    const auto opened = Session::open(global, Session::Life::Offline);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    auto sources = config::discover(environment_of(global), {});
    config::settle_ids(sources.fragments);
    json::array list;
    std::vector<std::vector<Cell>> rows{{{"ID"}, {"TRANSPORT"}, {"COUNTS"}, {"FILE"}}};
    for (const auto& fragment : sources.fragments) {
        if (config::name_of(fragment.source.scope) != scope) continue;
        for (const auto& entry : fragment.servers) {
            const auto place = fragment.source.place(entry.mark);
            const auto transport = transport_in(entry);
            const auto* server = find(session.host().config(), entry.id);
            const bool counts = server && (server->place == place || transport.empty());
            list.push_back({{"id", entry.id},
                            {"transport", transport},
                            {"counts", counts},
                            {"scope", scope},
                            {"file", place.file},
                            {"line", place.line}});
            const std::string how = transport.empty() && counts ? "adjusts" : counts ? "yes" : "no";
            rows.push_back(
                {{entry.id}, {transport}, {how}, {place.file + ":" + std::to_string(place.line)}});
        }
    }
    if (global.json)
        print_json(json::serialize(list));
    else if (list.empty())
        say("no file of the " + scope + " scope defines a server");
    else
        print_table(rows);
    return kOk;
}

int switch_in_file(const GlobalOptions& global, const std::vector<std::string>& servers,
                   const std::string& scope, bool on) {
    int code = kOk;
    for (const auto& id : servers) {
        EditOptions options;
        options.id = id;
        options.scope = scope;
        if (const int failed = switch_verb(global, options, on); failed != kOk) code = failed;
    }
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

    auto& get =
        add_verb(mcp, "get", "One server as it counts, secrets masked, and where it is said",
                 "  patchbay mcp get docs --json");
    get.add_option("ID", options->id, "The server")->required();
    choice.on(get, [options](const auto& global) { return get_verb(global, options->id); });

    auto& remove = add_verb(mcp, "remove", "Take a server out of the file of a scope",
                            "  patchbay mcp remove docs --scope user\nWhat another scope says of "
                            "it stays, and is told. Back with: patchbay config undo");
    take_place(remove, *options);
    choice.on(remove, [options](const auto& global) { return remove_verb(global, *options); });
}

void add_undo_verb(CLI::App& config, Choice& choice) {
    const auto file = std::make_shared<std::string>();
    auto& undo = add_verb(config, "undo", "Take the last change by `patchbay mcp` of a file back",
                          "  patchbay config undo\n  patchbay config undo .mcp.json\nOne step. A "
                          "file that was changed by somebody else since stays as it is.");
    undo.add_option("FILE", *file, "Of this file; without it, of the one that was changed last");
    choice.on(undo, [file](const auto& global) { return undo_verb(global, *file); });
}

}  // namespace patchbay::app
