#include "app/call_arguments.hpp"

#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/text.hpp"
#include "protocol/arguments.hpp"
#include "protocol/compose.hpp"
#include "protocol/envelope.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace patchbay::app {
namespace json = boost::json;

namespace {

Result<std::string> read_all(std::istream& input, const std::string& name) {
    std::string text;
    char chunk[64u << 10];
    while (input.read(chunk, sizeof chunk), input.gcount() > 0) {
        text.append(chunk, static_cast<std::size_t>(input.gcount()));
        if (text.size() > kArgumentBytes) return Error{ErrorCode::Limit, name + " is over 16 MiB"};
    }
    if (input.bad()) return Error{ErrorCode::Io, name + " cannot be read"};
    return text;
}

// "1,2" as the items of the list that the schema wants there.
json::array items_of(const json::value& schema, const std::string& key, std::string_view text) {
    const auto* property =
        core::object_in(core::object_in(schema.if_object(), "properties"), key.c_str());
    const auto* items = property ? property->if_contains("items") : nullptr;
    const json::value item_schema = {{"properties", {{"item", items ? *items : json::object()}}}};
    json::array list;
    for (;;) {
        const auto end = std::min(text.find(','), text.size());
        const std::string item(core::trimmed(text.substr(0, end)));
        auto typed = protocol::coerce_argument(item_schema, "item", item);
        list.push_back(typed ? std::move(*typed) : json::value(item));
        if (end == text.size()) return list;
        text.remove_prefix(end + 1);
    }
}

// How a list or an object is typed, where the schema wants one; empty: it does not.
std::string example_for(const json::value& schema, const std::string& key,
                        const std::string& text) {
    const auto list = protocol::coerce_argument(schema, key, "[]");
    const auto object = protocol::coerce_argument(schema, key, "{}");
    std::string example;
    if (list && list->is_array()) {
        const auto item = parse_json(text, {});
        example = json::serialize(item && item->is_object() ? json::array{*item}
                                                            : items_of(schema, key, text));
    } else if (object && object->is_object()) {
        example = R"({"key": "value"})";
    }
    return example.empty() ? example : "; write " + core::shell_word(key + ":=" + example);
}

// What a person typed, where it is JSON of that very value, and else the value's own text.
std::string written(const json::value& value, const std::string& typed) {
    const auto same = parse_json(typed, {});
    return same && *same == value ? typed : json::serialize(value);
}

using WrittenPairs = std::vector<std::pair<std::string, std::string>>;  // key, JSON
bool holds(const WrittenPairs& members, const std::string& key) {
    return std::any_of(members.begin(), members.end(),
                       [&](const auto& member) { return member.first == key; });
}
// `text` with the members of `changed` in place of its own.
std::string with_members(std::string_view text, const WrittenPairs& changed) {
    std::string out = "{";
    const auto append = [&](const std::string& key, std::string_view value) {
        if (out.size() > 1) out += ',';
        out.append(protocol::quoted(key)).append(":").append(value);
    };
    for (const auto& [key, value] : protocol::members_in(text))
        if (!holds(changed, key)) append(key, value);
    for (const auto& [key, value] : changed) append(key, value);
    return out += '}';
}

}  // namespace

Result<json::value> parse_json(std::string_view text, const std::string& name, std::size_t depth) {
    auto value = core::parse_json(
        text, {.depth = depth, .values = core::kAnyNumberOfValues, .unique_keys = true});
    if (!value) return Error{ErrorCode::Invalid, name + " " + value.error().message};
    return value;
}

Result<Arguments> read_arguments(const std::string& given) {
    if (given.empty()) return Arguments();
    std::string text = given, name = "--args";
    if (given == "-") {
        auto read = read_all(std::cin, name = "stdin");
        // Closed, it is as empty to the stream.
        if (read && std::ferror(stdin))
            return Error{ErrorCode::Io, "--args -: stdin cannot be read; is it closed?"};
        if (!read) return read.error();
        text = std::move(*read);
    } else if (given.front() == '@') {
        name = given.substr(1);
        if (name.empty())
            return Error{ErrorCode::Invalid,
                         "--args @ names no file; write --args @FILE, or - for stdin"};
        std::ifstream file(name, std::ios::binary);
        // A folder opens like a file, and fails to be read without a reason.
        std::error_code none;
        const int failed = !file ? errno : std::filesystem::is_directory(name, none) ? EISDIR : 0;
        if (failed != 0)
            return Error{ErrorCode::Invalid,
                         "--args: cannot read " + name + ": " + std::strerror(failed)};
        auto read = read_all(file, name);
        if (!read) return read.error();
        text = std::move(*read);
    }
    auto value = parse_json(text, name);
    if (!value) return value.error();
    if (!value->is_object())
        return Error{ErrorCode::Invalid,
                     name + " must be a JSON object like {\"path\": \"README.md\"}"};
    return Arguments{std::move(value->get_object()), std::move(text)};
}

Result<std::pair<std::string, std::string>> key_and_value(const std::string& pair) {
    const auto at = pair.find('=');
    if (at == std::string::npos || at == 0)
        return Error{ErrorCode::Invalid, "\"" + core::printable(pair, 80) + "\" is not key=value"};
    return std::pair(pair.substr(0, at), pair.substr(at + 1));
}

Error given_twice(const std::string& key) {
    return {ErrorCode::Invalid, "argument \"" + core::printable(key, 80) + "\" is given twice"};
}

Result<Arguments> with_pairs(Arguments arguments, const std::vector<std::string>& pairs,
                             const json::value& schema, Check check) {
    WrittenPairs given;
    for (const auto& pair : pairs) {
        auto cut = key_and_value(pair);
        if (!cut) return cut.error();
        auto& [key, text] = *cut;
        const bool as_json = key.size() > 1 && key.back() == ':';
        if (as_json) key.pop_back();
        if (holds(given, key)) return given_twice(key);
        auto value = as_json ? parse_json(text, "argument \"" + key + "\": the value after :=")
                             : protocol::coerce_argument(schema, key, text);
        if (!value)
            return Error{value.error().code,
                         value.error().message + (as_json ? "" : example_for(schema, key, text))};
        given.emplace_back(key, written(*value, text));
        arguments.values[key] = std::move(*value);
    }
    const auto troubles = check == Check::Yes ? protocol::check_arguments(schema, arguments.values)
                                              : std::vector<std::string>();
    if (!troubles.empty()) return Error{ErrorCode::Invalid, core::join(troubles, "\n       ")};
    if (!given.empty()) arguments.text = with_members(arguments.text, given);
    return arguments;
}

}  // namespace patchbay::app
