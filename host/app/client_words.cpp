#include "app/client_words.hpp"

#include "core/json.hpp"
#include "core/text.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::app {
namespace json = boost::json;

namespace {

// Nobody but the client can start it.
Error part_of_client(std::string why) {
    return {ErrorCode::Unsupported, std::move(why)};
}

Error wrong(std::string why) {
    return {ErrorCode::Invalid, std::move(why)};
}

void move_key(json::object& entry, std::string_view theirs, std::string_view ours) {
    auto* value = entry.if_contains(theirs);
    if (!value) return;
    auto kept = std::move(*value);
    entry.stable_erase(theirs);
    entry[ours] = std::move(kept);
}

json::object without(json::object entry, std::initializer_list<std::string_view> keys) {
    for (const auto key : keys) entry.stable_erase(key);
    return entry;
}

std::string type_of(const json::object& entry) {
    return std::string(core::text_in(&entry, "type").value_or(""));
}

bool is_of_variable(char letter) {
    return (letter >= '0' && letter <= '9') || letter == '_' ||
           (core::lower(letter) >= 'a' && core::lower(letter) <= 'z');
}

// Of a program that is one list with its arguments.
Result<void> split_command(json::object& entry) {
    const auto* words = core::array_in(&entry, "command");
    if (!words) return {};
    const auto list = *words;
    if (list.empty()) return wrong("its command is empty");
    json::array args(list.begin() + 1, list.end());
    if (const auto* more = core::array_in(&entry, "args"))
        args.insert(args.end(), more->begin(), more->end());
    entry["command"] = list.front();
    if (!args.empty()) entry["args"] = std::move(args);
    return {};
}

// `begin` is how a client begins a reference to a variable: "{env:" of `{env:NAME}`; `end` how it ends one,
// none: with the name.
void change_references(json::value& value, std::string_view begin, std::string_view end) {
    if (auto* table = value.if_object())
        for (auto& member : *table) change_references(member.value(), begin, end);
    if (auto* list = value.if_array())
        for (auto& each : *list) change_references(each, begin, end);
    auto* text = value.if_string();
    if (!text) return;
    std::string ours;
    std::string_view rest(*text);
    for (auto at = rest.find(begin); at != rest.npos; at = rest.find(begin)) {
        const auto name = rest.substr(at + begin.size());
        auto size = std::size_t{0};
        while (size < name.size() && is_of_variable(name[size])) ++size;
        const bool whole = size > 0 && name.substr(size).starts_with(end);
        ours.append(rest.substr(0, at));
        ours.append(whole ? "${" + std::string(name.substr(0, size)) + "}" : std::string(begin));
        rest = whole ? name.substr(size + end.size()) : name;
    }
    *text = ours.append(rest);
}

json::object with_references(json::object entry, std::string_view begin, std::string_view end) {
    json::value all(std::move(entry));
    change_references(all, begin, end);
    return std::move(all.get_object());
}

}  // namespace

Result<json::object> from_cline(json::object entry) {
    if (!entry.contains("type")) move_key(entry, "transportType", "type");
    move_key(entry, "timeout", "tool_timeout_sec");
    return without(std::move(entry), {"transportType", "remoteConfigured"});
}

Result<json::object> from_copilot(json::object entry) {
    if (type_of(entry) == "local") entry["type"] = "stdio";
    return entry;
}

Result<json::object> from_gemini(json::object entry) {
    return with_references(std::move(entry), "$", "");
}

Result<json::object> from_goose(json::object entry) {
    const auto type = type_of(entry);
    if (type != "stdio" && type != "sse" && type != "streamable_http")
        return part_of_client("it is a part of goose (type \"" + core::printable(type, 40) + "\")");
    move_key(entry, "cmd", "command");
    move_key(entry, "uri", "url");
    move_key(entry, "envs", "env");
    move_key(entry, "timeout", "tool_timeout_sec");
    if (const auto* found = core::array_in(&entry, "env_keys"); found && type == "stdio") {
        const auto keys = *found;  // a new member would move it
        auto& env = entry["env"];
        if (!env.is_object()) env.emplace_object();
        for (const auto& key : keys)
            if (const auto name = core::text_of(key))
                env.get_object()[*name] = "${" + std::string(*name) + "}";
    }
    if (type == "streamable_http") entry["type"] = "http";
    return without(std::move(entry), {"name", "env_keys", "bundled", "description", "display_name",
                                      "available_tools"});
}

Result<json::object> from_mcporter(json::object entry) {
    if (!entry.contains("url")) move_key(entry, "baseUrl", "url");
    if (auto split = split_command(entry); !split) return split.error();
    return with_references(
        without(std::move(entry), {"baseUrl", "description", "auth", "tokenCacheDir", "clientName",
                                   "oauthRedirectUrl", "lifecycle", "logging"}),
        "$env:", "");
}

Result<json::object> from_opencode(json::object entry) {
    const auto type = type_of(entry);
    if (type != "local" && type != "remote")
        return wrong("type \"" + core::printable(type, 40) + "\" is neither local nor remote");
    if (auto split = split_command(entry); !split) return split.error();
    move_key(entry, "environment", "env");
    return with_references(without(std::move(entry), {"type", "timeout", "oauth"}), "{env:", "}");
}

Result<json::object> from_zed(json::object entry) {
    if (const auto* command = core::object_in(&entry, "command")) {
        auto nested = *command;
        move_key(nested, "path", "command");
        entry.stable_erase("command");
        for (auto& member : nested) entry[member.key()] = std::move(member.value());
    }
    if (!entry.contains("command") && !entry.contains("url"))
        return part_of_client("an extension of Zed brings its program");
    return without(std::move(entry), {"source", "settings", "remote", "timeout"});
}

}  // namespace patchbay::app
