#include "app/given_file.hpp"

#include "app/client_record.hpp"
#include "config/edit/edit.hpp"
#include "config/references.hpp"
#include "config/show.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace patchbay::app {
namespace edit = config::edit;
namespace json = boost::json;
using config::is_variable;
using config::pieces_of;

namespace {

using Variables = EntryWords::Variables;

bool holds_reference(std::string_view text) {
    return text.find("${") != text.npos;
}

// What a client takes for the beginning of a variable.
std::string opening_of(const KnownClient& client) {
    if (client.words.opening) return client.words.opening;
    if (!client.reference || client.words.variables == Variables::ByName) return {};
    const std::string_view reference(client.reference);
    return std::string(reference.substr(0, reference.find('*')));
}

// In the client's words, where it reads every reference in it; else nothing.
std::optional<std::string> spelled(const KnownClient& client, std::string_view text) {
    std::string out;
    const std::string_view reference(client.reference);
    const auto star = reference.find('*');
    for (const auto& piece : pieces_of(text)) {
        const auto name = std::string_view(piece.text).substr(0, piece.text.find(":-"));
        const bool plain = name.size() == piece.text.size();
        if (!piece.reference) {
            out += piece.text;
        } else if (is_variable(name) && (plain || client.words.defaults)) {
            out.append(reference.substr(0, star)).append(piece.text);
            out.append(reference.substr(star + 1));
        } else {
            return {};
        }
    }
    return out;
}

// The variable that the whole of a text behind `before` is; empty: it is something else.
std::string only_variable(std::string_view text, std::string_view before = {}) {
    if (!text.starts_with(before)) return {};
    const auto pieces = pieces_of(text.substr(before.size()));
    return pieces.size() == 1 && pieces[0].reference && is_variable(pieces[0].text) ? pieces[0].text
                                                                                    : std::string();
}

// Without the server and its place, which are told already.
std::string reason_of(const Error& error, const config::Server& server) {
    const auto before = config::to_string(server.place) + ": server \"" + server.id + "\": ";
    return error.message.starts_with(before) ? error.message.substr(before.size()) : error.message;
}

// Those that both the agent and the entry name; nothing: all. `exact`: none of them is a pattern.
struct NamedTools {
    std::optional<std::vector<std::string>> names;
    bool exact = true;
};
NamedTools tools_of(const config::GivenServer& given) {
    const auto& own = given.server.enabled_tools;
    const auto leave_denied_out = [&given](std::vector<std::string> names) {
        std::erase_if(names, [&](const auto& each) {
            return std::any_of(given.denied.begin(), given.denied.end(), [&](std::string_view no) {
                const bool open = no.ends_with('*');
                if (open) no.remove_suffix(1);
                return open ? std::string_view(each).starts_with(no) : each == no;
            });
        });
        return names;
    };
    if (!given.tools) {
        if (!own) return {};
        return {leave_denied_out(*own)};
    }
    const auto& wanted = *given.tools;
    auto both = leave_denied_out(wanted);
    if (own)
        std::erase_if(both, [&](const auto& each) {
            return std::find(own->begin(), own->end(), each) == own->end();
        });
    return {std::move(both), std::none_of(wanted.begin(), wanted.end(),
                                          [](const auto& each) { return each.ends_with('*'); })};
}

// An empty list may mean all of them to its reader.
bool has_no_tool(const config::GivenServer& given) {
    const auto [names, exact] = tools_of(given);
    return names && exact && names->empty();
}
constexpr const char* kNoToolLeft = "the rules leave no tool of it that it may use";

// One server, for one client.
class Entry {
public:
    Entry(const KnownClient& client, const config::GivenServer& given,
          const config::Environment& environment, GivenEntries& out)
        : client_(client),
          words_(client.words),
          given_(given),
          server_(given.server),
          environment_(environment),
          out_(out) {}

    void write() {
        const auto* build = builder();
        if (!build && server_.transport != "stdio")
            return leave_out(std::string(client_.title) + " does not speak " + server_.transport +
                             ", as far as " + client_.source + " says");
        if (has_no_tool(given_)) return leave_out(kNoToolLeft);
        settings_ = server_.settings;
        add_bearer();
        pass_variables();
        if (!settle()) return;
        auto entry = build ? (*build)({server_.id, {}, {}}, text("url"))
                           : client_.program({server_.id, text("command"), arguments()});
        put(entry);
        tell_what_is_lost();
        out_.entries.emplace(server_.id, std::move(entry));
    }

private:
    using Builder = json::object (*)(const Launch&, const std::string&);

    const Builder* builder() const {
        if (server_.transport == "http" && client_.url) return &client_.url;
        if (server_.transport == "sse" && words_.sse) return &words_.sse;
        return nullptr;
    }

    void warn(config::RuleId rule, const std::string& text) {
        out_.warnings.push_back({rule, config::Severity::Warning, server_.place,
                                 "server \"" + server_.id + "\"" + text, server_.id});
    }
    void leave_out(const std::string& why) {
        warn(config::RuleId::LeftOut, " is left out: " + why);
    }

    std::string text(const char* key) const {
        return std::string(core::text_in(&settings_, key).value_or(""));
    }
    std::vector<std::string> arguments() const {
        std::vector<std::string> words;
        if (const auto* args = core::array_in(&settings_, "args"))
            for (const auto& each : *args)
                words.push_back(each.is_string() ? std::string(each.get_string())
                                                 : json::serialize(each));
        return words;
    }

    // What our own HTTP sends for it.
    void add_bearer() {
        if (server_.bearer_token_env_var.empty()) return;
        auto& headers = settings_["headers"];
        if (!headers.is_object()) headers.emplace_object();
        if (!headers.get_object().contains("Authorization"))
            headers.get_object()["Authorization"] =
                "Bearer ${" + server_.bearer_token_env_var + "}";
    }

    // Those that are here. A client may hand on less than its whole environment.
    void pass_variables() {
        const auto* passed = core::array_in(&settings_, "pass_env");
        for (const auto& each : passed ? *passed : json::array()) {
            const std::string name(core::text_of(each).value_or(""));
            if (!environment_.variable || !environment_.variable(name) || !server_.expand) continue;
            auto& env = settings_["env"];
            if (!env.is_object()) env.emplace_object();
            if (!env.get_object().contains(name)) env.get_object()[name] = "${" + name + "}";
        }
        settings_.erase("pass_env");
    }

    // Each text with references that the client reads, or the value; false: there is none, and that is told.
    bool settle() {
        auto asked = server_;
        asked.settings = json::object();
        for (const auto* key : {"command", "args", "cwd", "env", "url", "headers"})
            if (const auto* value = settings_.if_contains(key))
                asked.settings[key] = unread(*value, key);
        // The program and its folder are whole paths, whatever the file is beside which they stand.
        const auto values = config::expand(asked, environment_);
        if (!values) {
            leave_out(reason_of(values.error(), server_));
            return false;
        }
        for (const auto& member : *values)
            settings_[member.key()] = chosen(settings_[member.key()], member.value(),
                                             std::string(member.key()), member.key());
        return true;
    }

    bool stays(const json::value& value, std::string_view key, std::string_view name) const {
        const auto text = core::text_of(value);
        if (!text || key == "command" || key == "cwd") return false;
        if (!server_.expand || !holds_reference(*text)) return true;
        if (words_.variables == Variables::ByName) return by_name(*text, key, name);
        if (!client_.reference || (words_.variables == Variables::Headers && key != "headers"))
            return false;
        return spelled(client_, *text).has_value();
    }

    static bool by_name(std::string_view text, std::string_view key, std::string_view name) {
        if (key == "env") return only_variable(text) == name;
        return key == "headers" &&
               (!only_variable(text).empty() ||
                (name == "Authorization" && !only_variable(text, "Bearer ").empty()));
    }

    // The same without what stays as it is.
    json::value unread(const json::value& value, std::string_view key,
                       std::string_view name = {}) const {
        if (const auto* list = value.if_array()) {
            json::array out;
            for (const auto& each : *list) out.push_back(unread(each, key));
            return out;
        }
        if (const auto* table = value.if_object()) {
            json::object out;
            for (const auto& member : *table)
                out[member.key()] = unread(member.value(), key, member.key());
            return out;
        }
        return stays(value, key, name) ? json::value("") : value;
    }

    json::value chosen(const json::value& written, const json::value& value, const std::string& at,
                       std::string_view key, std::string_view name = {}) {
        if (const auto* list = written.if_array()) {
            json::array out;
            for (std::size_t i = 0; i < list->size(); ++i)
                out.push_back(
                    chosen((*list)[i], value.at(i), at + "[" + std::to_string(i) + "]", key));
            return out;
        }
        if (const auto* table = written.if_object()) {
            json::object out;
            for (const auto& member : *table)
                out[member.key()] = chosen(member.value(), value.at(member.key()),
                                           at + "." + std::string(member.key()), key, member.key());
            return out;
        }
        const auto text = core::text_of(written);
        if (!text) return value;
        const bool reference = server_.expand && holds_reference(*text);
        if (!stays(written, key, name)) {
            if (reference) out_.expanded[server_.id].push_back(at);
            warn_of_opening(core::text_of(value).value_or(""), at);
            return value;
        }
        if (!reference) {
            warn_of_opening(*text, at);
            return written;
        }
        if (words_.variables == Variables::ByName) return written;
        for (const auto& piece : pieces_of(*text))
            if (!piece.reference) warn_of_opening(piece.text, at);
        return json::value(*spelled(client_, *text));
    }

    void warn_of_opening(std::string_view text, const std::string& at) {
        const auto opening = opening_of(client_);
        if (!opening.empty() && text.find(opening) != text.npos)
            warn(config::RuleId::NotCarriedOver, ": " + core::printable(at, 100) + " has \"" +
                                                     opening + "\", which " + client_.title +
                                                     " reads as the beginning of a variable");
    }

    void put(json::object& entry) {
        const auto table = [&](const char* key) {
            const auto* found = core::object_in(&settings_, key);
            return found ? *found : json::object();
        };
        if (server_.transport == "stdio") {
            auto env = table("env");
            if (words_.variables == Variables::ByName) take_names(entry, env, "env_vars");
            if (!env.empty()) entry[words_.env] = std::move(env);
            if (const auto cwd = text("cwd"); words_.cwd && !cwd.empty()) entry[words_.cwd] = cwd;
        } else if (words_.headers) {
            auto headers = table("headers");
            if (words_.variables == Variables::ByName) take_headers(entry, headers);
            if (!headers.empty()) entry[words_.headers] = std::move(headers);
            if (words_.variables == Variables::Headers) name_variables(entry);
        }
        put_tools(entry);
    }

    // Codex hands on what it is named, and looks up what a header is to be.
    static void take_names(json::object& entry, json::object& env, const char* key) {
        json::array names;
        json::object left;
        for (const auto& member : env) {
            const auto value = core::text_of(member.value()).value_or("");
            if (only_variable(value) == member.key())
                names.emplace_back(member.key());
            else
                left[member.key()] = member.value();
        }
        if (!names.empty()) entry[key] = std::move(names);
        env = std::move(left);
    }
    static void take_headers(json::object& entry, json::object& headers) {
        json::object named, left;
        for (const auto& member : headers) {
            const auto value = core::text_of(member.value()).value_or("");
            const auto bearer =
                member.key() == "Authorization" ? only_variable(value, "Bearer ") : std::string();
            if (!bearer.empty())
                entry["bearer_token_env_var"] = bearer;
            else if (const auto variable = only_variable(value); !variable.empty())
                named[member.key()] = variable;
            else
                left[member.key()] = member.value();
        }
        if (!named.empty()) entry["env_http_headers"] = std::move(named);
        headers = std::move(left);
    }

    // goose has a list of what its headers may refer to.
    void name_variables(json::object& entry) const {
        json::array names;
        const auto* headers = core::object_in(&server_.settings, "headers");
        for (const auto& member : headers ? *headers : json::object())
            if (server_.expand)
                for (const auto& piece : pieces_of(core::text_of(member.value()).value_or("")))
                    if (piece.reference && is_variable(piece.text)) names.emplace_back(piece.text);
        if (!server_.bearer_token_env_var.empty()) names.emplace_back(server_.bearer_token_env_var);
        if (!names.empty()) entry["env_keys"] = std::move(names);
    }

    // What both allow, where that is a list of names.
    void put_tools(json::object& entry) {
        const auto [tools, exact] = tools_of(given_);
        if (!tools) return;
        if (words_.tools && exact)
            entry[words_.tools] = json::array(tools->begin(), tools->end());
        else
            warn(config::RuleId::NotCarriedOver,
                 std::string(": ") + client_.title + " is not told which of its tools to use" +
                     (exact ? "" : ", as a pattern is no name") +
                     ", and has all of them; `patchbay serve --agent` keeps to it");
    }

    void tell_what_is_lost() {
        const auto own = [&](const char* what) {
            warn(config::RuleId::NotCarriedOver,
                 std::string(": ") + what + " is Patchbay's, and " + client_.title +
                     " signs in as it does itself; `patchbay serve` has it");
        };
        if (!server_.auth.empty()) own("auth");
        if (!server_.oauth.empty()) own("oauth");
        std::vector<std::string> lost;
        for (const auto& member : settings_) {
            const std::string key(member.key());
            const bool written = key == "command" || key == "args" || key == "env" ||
                                 key == "url" || key == "headers" || (key == "cwd" && words_.cwd);
            if (!written) lost.push_back(core::printable(key, 80));
        }
        if (!lost.empty())
            warn(config::RuleId::NotCarriedOver,
                 std::string(": ") + client_.title + " has no word for " + core::join(lost, ", "));
    }

    const KnownClient& client_;
    const EntryWords& words_;
    const config::GivenServer& given_;
    const config::Server& server_;
    const config::Environment& environment_;
    GivenEntries& out_;
    json::object settings_;
};

// What is beside the file where it was written is not beside this one.
void make_files_whole(json::value& value, const std::string& folder) {
    if (auto* list = value.if_array())
        for (auto& each : *list) make_files_whole(each, folder);
    if (auto* table = value.if_object())
        for (auto& member : *table) make_files_whole(member.value(), folder);
    auto* text = value.if_string();
    constexpr std::string_view file = "${file:";
    for (auto at = text ? text->find(file) : json::string::npos; at != json::string::npos;
         at = text->find(file, at + 1)) {
        const auto path = std::string_view(*text).substr(at + file.size());
        const bool escaped = at > 0 && (*text)[at - 1] == '$';
        if (escaped || path.starts_with('/') || path.starts_with("~/")) continue;
        text->insert(at + file.size(), folder + "/");
    }
}

// In ours a reference is one still, and nothing is lost.
void write_ours(const config::GivenServer& given, const config::Environment& environment,
                GivenEntries& out) {
    const auto& server = given.server;
    if (has_no_tool(given)) {
        out.warnings.push_back({config::RuleId::LeftOut, config::Severity::Warning, server.place,
                                "server \"" + server.id + "\" is left out: " + kNoToolLeft,
                                server.id});
        return;
    }
    auto written = server;
    auto anchored = server;
    anchored.settings = json::object();
    for (const auto* key : {"command", "cwd"})
        if (const auto* value = server.settings.if_contains(key)) anchored.settings[key] = *value;
    const auto whole = config::expand(anchored, environment);
    if (!whole) {
        out.warnings.push_back(
            {config::RuleId::LeftOut, config::Severity::Warning, server.place,
             "server \"" + server.id + "\" is left out: " + reason_of(whole.error(), server),
             server.id});
        return;
    }
    for (const auto& member : *whole) {
        const auto text = core::text_of(server.settings.at(member.key()));
        if (text && server.expand && holds_reference(*text))
            out.expanded[server.id].emplace_back(member.key());
        written.settings[member.key()] = member.value();
    }
    if (server.place.file.starts_with('/') && server.expand) {
        json::value all(std::move(written.settings));
        make_files_whole(all, server.place.file.substr(0, server.place.file.rfind('/')));
        written.settings = std::move(all.get_object());
    }
    if (given.tools) {
        auto [both, exact] = tools_of(given);
        if (exact)
            written.enabled_tools = std::move(both);
        else
            out.warnings.push_back(
                {config::RuleId::NotCarriedOver, config::Severity::Warning, server.place,
                 "server \"" + server.id +
                     "\": which of its tools are shown is a pattern, which an "
                     "entry has no word for; `patchbay serve --agent` keeps to it",
                 server.id});
    }
    out.entries.emplace(server.id, config::definition_of(written));
}

}  // namespace

GivenEntries entries_for(const KnownClient* client, const config::Given& given,
                         const config::Environment& environment) {
    GivenEntries out;
    for (const auto& one : given.servers) {
        if (client)
            Entry(*client, one, environment, out).write();
        else
            write_ours(one, environment, out);
    }
    return out;
}

Result<std::string> file_text(const KnownClient* client, const GivenEntries& given) {
    const auto format = client ? client->format : config::Format::Json;
    const auto path = client ? client->tables.front() : edit::Path{"servers"};
    Result<std::string> text = edit::set({}, format, path, json::object());
    for (const auto& [id, entry] : given.entries) {
        if (!text) return text;
        auto at = path;
        at.push_back(id);
        text = edit::set(*text, format, at, entry);
    }
    return text;
}

Result<const KnownClient*> format_named(const std::string& name) {
    if (name == ClientRecord::kOurs) return static_cast<const KnownClient*>(nullptr);
    if (const auto* client = find_client(name)) return client;
    std::vector<std::string> known{ClientRecord::kOurs};
    for (const auto& each : known_clients()) known.emplace_back(each.id);
    return Error{ErrorCode::Invalid, "--format: \"" + core::printable(name, 80) + "\" is none" +
                                         core::did_you_mean(name, known) + "; expected one of " +
                                         core::join(known, ", ")};
}

}  // namespace patchbay::app
