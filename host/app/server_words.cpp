#include "app/server_words.hpp"

#include "app/server_edit.hpp"
#include "config/secret_names.hpp"
#include "config/secret_values.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string_view>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// "K=V"; of headers also "K: V", as curl has them.
Result<json::object> pairs(const char* option, const std::vector<std::string>& words,
                           std::string_view separators) {
    json::object table;
    for (const auto& word : words) {
        const auto end = word.find_first_of(separators);
        if (end == std::string::npos || end == 0)
            return invalid(std::string(option) + ": expected NAME=VALUE");
        auto value = std::string_view(word).substr(end + 1);
        if (word[end] == ':')
            value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        const auto name = word.substr(0, end);
        if (table.contains(name))
            return invalid(std::string(option) + " " + core::printable(name, 80) +
                           " is given twice");
        table[name] = value;
    }
    return table;
}

json::object oauth_of(const ServerWords::Oauth& oauth) {
    json::object table;
    const auto say = [&](const char* key, const std::string& value) {
        if (!value.empty()) table[key] = value;
    };
    say("authorization_url", oauth.authorization_url);
    say("token_url", oauth.token_url);
    say("registration_url", oauth.registration_url);
    say("client_id", oauth.client_id);
    say("client_secret", oauth.client_secret);
    say("scope", oauth.scope);
    return table;
}

// Options that contradict each other: one of them would be lost without a word, as a URL has no variables and a program
// no headers.
Result<void> check(const ServerWords& words) {
    const bool program = !words.command.empty() || !words.program.empty();
    if (!words.command.empty() && !words.program.empty())
        return invalid("--command and words behind -- are two programs; say one");
    if (program && !words.url.empty()) return invalid("a server has a URL or a program, not both");
    const bool by_template =
        std::any_of(words.keys.begin(), words.keys.end(),
                    [](const auto& word) { return word.starts_with("template="); });
    if (!program && words.url.empty() && words.transport.empty() && !by_template)
        return invalid(
            "nothing says how to reach it: --url URL, or the program behind --: patchbay mcp add "
            "files -- npx -y @modelcontextprotocol/server-filesystem /data");
    if (program && !words.headers.empty())
        return invalid("--header is for a URL, and a program is given; say --env");
    if (!words.url.empty() && !(words.env.empty() && words.cwd.empty()))
        return invalid(std::string(words.env.empty() ? "--cwd" : "--env") +
                       " is for a program, and a URL is given" +
                       (words.env.empty() ? "" : "; say --header"));
    if (!program && !words.args.empty())
        return invalid("--arg is for a program, and none is given; say --command");
    return {};
}

}  // namespace

Result<json::object> entry_of(const ServerWords& words, const char* type_key) {
    if (auto fine = check(words); !fine) return fine.error();
    const auto headers = pairs("--header", words.headers, "=:");
    if (!headers) return headers.error();
    const auto env = pairs("--env", words.env, "=");
    if (!env) return env.error();
    json::object entry;
    if (!words.transport.empty()) entry[type_key] = words.transport;
    // `--command` and what stands behind `--` are one program, as check() has seen to it.
    auto program = words.program;
    if (!words.command.empty()) program.insert(program.begin(), words.command);
    program.insert(program.end(), words.args.begin(), words.args.end());
    if (!program.empty()) {
        entry["command"] = program.front();
        if (program.size() > 1) entry["args"] = json::array(program.begin() + 1, program.end());
    }
    if (!words.url.empty()) entry["url"] = words.url;
    if (!words.cwd.empty()) entry["cwd"] = words.cwd;
    if (!env->empty()) entry["env"] = *env;
    if (!headers->empty()) entry["headers"] = *headers;
    if (auto oauth = oauth_of(words.oauth); !oauth.empty()) entry["oauth"] = std::move(oauth);
    if (words.enabled) entry["enabled"] = *words.enabled;
    if (words.request_timeout_ms) entry["request_timeout_ms"] = *words.request_timeout_ms;
    const auto keys = pairs("--key", words.keys, "=");
    if (!keys) return keys.error();
    for (const auto& member : *keys) {
        if (entry.contains(member.key()))
            return invalid("--key " + core::printable(member.key(), 80) +
                           " is said by another option already");
        const std::string_view word = *core::text_of(member.value());
        // Null would mean that the key is not there, and nobody says a key for that.
        auto value = core::parse_json(word);
        entry[member.key()] = !value || value->is_null() ? json::value(word) : std::move(*value);
    }
    return entry;
}

// Names alone: what is told of secrets goes to terminals and logs.
std::vector<std::string> clear_secrets(const json::object& entry) {
    std::vector<std::string> names;
    for (const auto* key : {"env", "headers", "oauth"}) {
        const auto* table = core::object_in(&entry, key);
        if (!table) continue;
        for (const auto& member : *table) {
            const auto text = core::text_of(member.value());
            const std::string_view name = member.key();
            if (text && text->find("${") == std::string_view::npos &&
                config::is_secret(name, *text))
                names.push_back(std::string(key) + "." + core::printable(name, 80));
        }
    }
    if (const auto* args = core::array_in(&entry, "args")) {
        const auto parts = config::secret_parts(*args);
        if (std::any_of(parts.begin(), parts.end(), [](const auto& each) { return !each.empty(); }))
            names.emplace_back("args");
    }
    return names;
}

}  // namespace patchbay::app
