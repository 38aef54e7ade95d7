#include "app/call_arguments.hpp"

#include "core/text.hpp"
#include "protocol/arguments.hpp"

#include <boost/json/basic_parser_impl.hpp>

#include <fstream>
#include <iostream>
#include <unordered_set>

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

// Hears one parse and notes the first key that its object has already.
struct KeyWatch {
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
    using string_view = json::string_view;
    using error_code = json::error_code;

    std::vector<std::unordered_set<std::string>> open;
    std::string key, repeated;
    bool found = false;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return open.emplace_back(), true; }
    bool on_object_end(std::size_t, error_code&) { return open.pop_back(), true; }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t, error_code&) { return true; }
    bool on_key_part(string_view part, std::size_t, error_code&) {
        key.append(part.data(), part.size());
        return true;
    }
    bool on_key(string_view part, std::size_t, error_code&) {
        key.append(part.data(), part.size());
        if (!open.back().insert(key).second && !std::exchange(found, true)) repeated = key;
        key.clear();
        return true;
    }
    bool on_string_part(string_view, std::size_t, error_code&) { return true; }
    bool on_string(string_view, std::size_t, error_code&) { return true; }
    bool on_number_part(string_view, error_code&) { return true; }
    bool on_int64(std::int64_t, string_view, error_code&) { return true; }
    bool on_uint64(std::uint64_t, string_view, error_code&) { return true; }
    bool on_double(double, string_view, error_code&) { return true; }
    bool on_bool(bool, error_code&) { return true; }
    bool on_null(error_code&) { return true; }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }
};

}  // namespace

Result<json::value> parse_json(std::string_view text, const std::string& name, std::size_t depth) {
    json::parse_options options;
    options.max_depth = depth;
    json::error_code failed;
    json::stream_parser parser({}, options);
    const auto used = parser.write_some(text.data(), text.size(), failed);
    const bool more = !failed && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos;
    if (!failed && !more) parser.finish(failed);
    if (failed || more) {
        return Error{ErrorCode::Invalid, name + " is not valid JSON at byte " +
                                             std::to_string(used + 1) + ": " +
                                             (more ? "more than one value" : failed.message())};
    }
    json::basic_parser<KeyWatch> keys(options);
    keys.write_some(false, text.data(), text.size(), failed);
    if (keys.handler().found) {
        return Error{ErrorCode::Invalid, name + " has the key \"" +
                                             core::printable(keys.handler().repeated, 80) +
                                             "\" twice in one object"};
    }
    return parser.release();
}

Result<json::object> read_arguments(const std::string& given) {
    if (given.empty()) return json::object();
    std::string text = given, name = "--args";
    if (given == "-") {
        auto read = read_all(std::cin, name = "stdin");
        if (!read) return read.error();
        text = std::move(*read);
    } else if (given.front() == '@') {
        name = given.substr(1);
        std::ifstream file(name, std::ios::binary);
        if (!file) return Error{ErrorCode::Invalid, "--args: cannot read " + name};
        auto read = read_all(file, name);
        if (!read) return read.error();
        text = std::move(*read);
    }
    auto value = parse_json(text, name);
    if (!value) return value.error();
    if (!value->is_object())
        return Error{ErrorCode::Invalid,
                     name + " must be a JSON object like {\"path\": \"README.md\"}"};
    return std::move(value->get_object());
}

Result<std::pair<std::string, std::string>> key_and_value(const std::string& pair) {
    const auto at = pair.find('=');
    if (at == std::string::npos || at == 0)
        return Error{ErrorCode::Invalid, "\"" + core::printable(pair, 80) + "\" is not key=value"};
    return std::pair(pair.substr(0, at), pair.substr(at + 1));
}

Result<json::object> with_pairs(json::object arguments, const std::vector<std::string>& pairs,
                                const json::value& schema) {
    for (const auto& pair : pairs) {
        auto cut = key_and_value(pair);
        if (!cut) return cut.error();
        auto& [key, text] = *cut;
        const bool as_json = key.size() > 1 && key.back() == ':';
        if (as_json) key.pop_back();
        auto value = as_json ? parse_json(text, "argument \"" + key + "\": the value after :=")
                             : protocol::coerce_argument(schema, key, text);
        if (!value) return value.error();
        arguments[key] = std::move(*value);
    }
    const auto troubles = protocol::check_arguments(schema, arguments);
    if (!troubles.empty()) return Error{ErrorCode::Invalid, core::join(troubles, "\n       ")};
    return arguments;
}

}  // namespace patchbay::app
