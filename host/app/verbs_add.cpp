// `patchbay mcp add` and `add-json`: a server written into the file of one scope.
#include "app/entry_check.hpp"
#include "app/output.hpp"
#include "app/presets.hpp"
#include "app/server_edit.hpp"
#include "app/session.hpp"
#include "app/typed_entry.hpp"
#include "config/keys.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "service/configuration.hpp"
#include "service/trust.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;
using config::Scope;

namespace {

struct AddOptions : EditOptions {
    std::string preset;
    bool named = true;  // the ID was said; else the first word is one of the preset's
};

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
    const bool elsewhere =
        std::any_of(definitions.begin(), definitions.end(), [&](const auto& each) {
            return each.connects && each.place.file != file.path() && each.place.scope <= scope;
        });
    const auto read = entry_as_read(file, entry, {scope, 0, file.path()});
    if (elsewhere || !read || config::defines_connection(read->body)) return {};
    return invalid("nothing says how to reach \"" + id +
                   "\", here or in a weaker file: expected \"command\" or \"url\"");
}

int add(const GlobalOptions& global, const EditOptions& options,
        const std::function<Result<json::object>(const ScopeFile&)>& wanted) {
    if (auto fine = check_id(options.id); !fine) return report(fine.error(), global);
    const auto environment = environment_of(global);
    const auto scope = scope_of(options);
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
        auto written = file->write(std::move(*text), options.by + " " + options.id,
                                   approval_of(host, options.id, scope));
        if (!written) return report_file(written.error(), global);
        done = std::move(*written);
    }
    warn_of_secrets({{options.id, clear_secrets(*entry)}}, file->path(), scope, global);
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
        if (written.size() > 1 && written.ends_with('/')) written.pop_back();
        // A program without a slash is looked for in PATH.
        if (key == std::string_view("command") && written.find('/') == written.npos)
            written.insert(0, "./");
        entry[key] = written;
    }
}

namespace fs = std::filesystem;

// A folder that was typed, whole. In a file that comes with a checkout one within that is written from its root, and the
// program is started there: elsewhere the checkout lies elsewhere.
class TypedFolder {
public:
    TypedFolder(const AddOptions& options, const config::Environment& environment)
        : here_(environment.working_directory),
          root_(options.scope == "user" || !options.cwd.empty() ? std::string()
                                                                : project_folder(environment)) {}

    Result<std::string> operator()(const std::string& typed) {
        if (typed.find("${") != typed.npos) return typed;
        auto path = (here_ / typed).lexically_normal();
        if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();
        std::error_code failed;
        if (!fs::is_directory(path, failed))
            return invalid("\"" + core::printable(typed, 200) + "\" is no folder that is there");
        const auto within = root_.empty() ? fs::path() : path.lexically_relative(root_);
        if (within.empty() || *within.begin() == "..") return path.string();
        cwd_ = root_.lexically_relative(here_).string();
        return within.string();
    }
    const std::string& cwd() const { return cwd_; }  // as it would be typed; empty: none is needed

private:
    const fs::path here_, root_;
    std::string cwd_;
};

std::string reference_to(const std::string& name, const Host& host,
                         const config::Environment& environment) {
    if (host.named_secrets().check(name)) return "${secret:" + name + "}";
    const auto value = environment.variable ? environment.variable(name) : std::nullopt;
    return value && !value->empty() ? "${" + name + "}" : std::string();
}

// "NAME=VALUE" of each in the entry that nobody typed.
void put_before(std::vector<std::string>& typed, const json::object& entry, const char* key) {
    const auto* table = core::object_in(&entry, key);
    if (!table) return;
    std::vector<std::string> all;
    for (const auto& member : *table) {
        const auto name = std::string(member.key()) + "=";
        const bool said = std::any_of(typed.begin(), typed.end(),
                                      [&](const auto& word) { return word.starts_with(name); });
        if (const auto value = core::text_of(member.value()); value && !said)
            all.push_back(name + std::string(*value));
    }
    typed.insert(typed.begin(), all.begin(), all.end());
}

// A preset is as if its words had been typed, ahead of those that were.
Result<void> take_preset(AddOptions& options, const GlobalOptions& global) {
    const auto preset = find_preset(options.preset);
    if (!preset) return preset.error();
    if (!options.command.empty() || !options.url.empty() || !options.transport.empty())
        return invalid(
            "--preset says how the server is reached; expected neither --url nor "
            "--command nor --transport beside it");
    if (!options.named) {
        if (!options.id.empty()) options.program.insert(options.program.begin(), options.id);
        options.id = preset->id;
    }
    const auto environment = environment_of(global);
    const Host host(host_options(global));
    TypedFolder folder(options, environment);
    const auto entry = entry_of(
        *preset,
        {.values = std::exchange(options.program, {}),
         .folder = [&](const std::string& typed) { return folder(typed); },
         .variable =
             [&](const std::string& name) { return reference_to(name, host, environment); }});
    if (!entry) return entry.error();
    const auto text = [&](const char* key) {
        const auto found = core::text_in(&*entry, key);
        return found ? std::string(*found) : std::string();
    };
    options.transport = text("transport");
    options.url = text("url");
    options.command = text("command");
    std::vector<std::string> args;
    if (const auto* list = core::array_in(&*entry, "args"))
        for (const auto& each : *list)
            if (const auto word = core::text_of(each)) args.emplace_back(*word);
    options.args.insert(options.args.begin(), args.begin(), args.end());
    put_before(options.env, *entry, "env");
    put_before(options.headers, *entry, "headers");
    if (options.cwd.empty()) options.cwd = folder.cwd();
    return {};
}

// `docs.example.com/mcp`, `localhost:3000/mcp`: no program that is there, and an address but for its scheme.
bool lacks_a_scheme(const std::string& word, const config::Environment& environment) {
    const auto host = word.substr(0, word.find_first_of("/?#"));
    const auto colon = host.find(':');
    const auto name = host.substr(0, colon);
    const auto port = colon == host.npos ? std::string() : host.substr(colon + 1);
    const bool is_host =
        !name.empty() && std::isalnum(static_cast<unsigned char>(name.front())) &&
        name.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == name.npos;
    const bool is_port = !port.empty() && port.find_first_not_of("0123456789") == port.npos;
    const bool is_address =
        is_host && (is_port || (colon == host.npos && host.size() < word.size() &&
                                name.find('.') != name.npos));
    std::error_code none;
    return is_address && !fs::exists(fs::path(environment.working_directory) / word, none);
}

// `mcp add docs https://docs.example.com/mcp`, as other programs have it.
Result<void> take_address(AddOptions& options, const config::Environment& environment) {
    if (options.program.size() == 1 && options.url.empty() && options.command.empty() &&
        lacks_a_scheme(options.program.front(), environment)) {
        const auto word = core::printable(options.program.front(), 200);
        return invalid("\"" + word + "\" is no program that is there; expected the scheme of an " +
                       "address before it, as https://" + word + ", or ./" + word +
                       " for a program");
    }
    if (options.program.empty() || options.program.front().find("://") == std::string::npos)
        return {};
    if (options.program.size() > 1 || !options.url.empty() || !options.command.empty())
        return invalid("\"" + core::printable(options.program.front(), 200) +
                       "\" is an address and no program; say --url for it, alone");
    options.url = std::move(options.program.front());
    options.program.clear();
    return {};
}

int add_words_verb(const GlobalOptions& global, AddOptions options) {
    if (!options.preset.empty()) {
        if (auto taken = take_preset(options, global); !taken) return report(taken.error(), global);
    } else if (options.id.empty()) {
        return report(invalid("expected the ID of the server, or --preset NAME; see patchbay mcp "
                              "add --help"),
                      global);
    }
    if (auto taken = take_address(options, environment_of(global)); !taken)
        return report(taken.error(), global);
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

void take_words(CLI::App& verb, EditOptions& options) {
    verb.add_option("--transport", options.transport,
                    "stdio, http, sse, ws, tcp, or one that a plugin brings; where it is left out, "
                    "a program means stdio and a URL http")
        ->type_name("TRANSPORT");
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

// Behind `--preset NAME` all words are the preset's: an ID stands before it.
bool id_comes_first(const CLI::App& verb) {
    for (const auto* option : verb.parse_order()) {
        if (option->get_positional()) return true;
        if (option->check_lname("preset")) return false;
    }
    return false;
}

}  // namespace

void add_add_verbs(CLI::App& mcp, Choice& choice) {
    const auto options = std::make_shared<AddOptions>();
    auto& add = add_verb(
        mcp, "add", "Write a server into the file of a scope; every other byte of it stays",
        "  patchbay mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data\n"
        "  patchbay mcp add docs --url https://docs.example.com/mcp --scope user\n"
        "  patchbay mcp add api --url https://x.example/mcp --header 'Authorization=Bearer "
        "${TOKEN}'\n"
        "  patchbay mcp add db --transport tcp --key host=localhost --key port=9000\n"
        "  patchbay mcp add --preset filesystem /data\n"
        "Written to the file of the scope that defines the id, else to the one that is there, "
        "else to a new\nconfig.toml. What is wrong by itself, as a key that cannot be read, is not "
        "written. A program or folder that is not here is\nwarned of and written: the file may be "
        "for another machine. Back with: patchbay config undo");
    take_place(add, *options);
    add.get_option("ID")->required(false);
    add.add_flag("--replace", options->replace, "In place of what this scope has by that id");
    add.add_option("--preset", options->preset,
                   "One of `patchbay mcp presets`, with its parameters behind it; an ID before it, "
                   "else it is called as the preset")
        ->type_name("PRESET");
    take_words(add, *options);
    choice.on(add, [options, &add](const auto& global) {
        options->named = id_comes_first(add);
        options->by = "mcp add";
        return add_words_verb(parsing_once(global), *options);
    });

    auto& add_json = add_verb(mcp, "add-json", "The same from an entry in JSON",
                              "  patchbay mcp add-json docs '{\"url\": "
                              "\"https://docs.example.com/mcp\"}'\n  patchbay mcp add-json docs - "
                              "< entry.json");
    take_place(add_json, *options);
    add_json.add_option("JSON", options->text, "The entry; -: from stdin")->required();
    add_json.add_flag("--replace", options->replace, "In place of what this scope has by that id");
    choice.on(add_json, [options](const auto& global) {
        options->by = "mcp add-json";
        return add_json_verb(parsing_once(global), *options);
    });
}

}  // namespace patchbay::app
