#include "protocol/http_headers.hpp"

#include "core/base64.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_json.hpp"
#include "protocol/task_extension.hpp"

#include <algorithm>
#include <cmath>

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

constexpr const char* kMark = "x-mcp-header";
constexpr double kSafeInteger = 9007199254740991.0;  // 2^53 - 1

// Values of these keywords are data, where a key of the mark's name means nothing.
bool holds_data(std::string_view keyword) {
    return keyword == "default" || keyword == "const" || keyword == "enum" ||
           keyword == "example" || keyword == "examples";
}

// Values of these are maps from names to schemas: the names are no keywords.
bool holds_named_schemas(std::string_view keyword) {
    return keyword == "properties" || keyword == "patternProperties" || keyword == "$defs" ||
           keyword == "definitions" || keyword == "dependentSchemas" || keyword == "dependencies";
}

// `type` names string, integer or boolean; next to one of them "null" may stand, which has no
// header.
bool is_primitive(const json::object& schema) {
    const auto named = [](const json::value& type, bool or_null) {
        return type == "string" || type == "integer" || type == "boolean" ||
               (or_null && type == "null");
    };
    const auto* type = schema.if_contains("type");
    if (!type) return false;
    if (!type->is_array()) return named(*type, false);
    const auto& list = type->get_array();
    return std::any_of(list.begin(), list.end(), [&](const auto& t) { return named(t, false); }) &&
           std::all_of(list.begin(), list.end(), [&](const auto& t) { return named(t, true); });
}

class Marks {
public:
    std::vector<HeaderParameter> found;
    std::string trouble;  // empty: none

    // `reachable`: from the root by `properties` keys alone.
    void walk(const json::object& schema, bool reachable) {
        if (!trouble.empty()) return;
        if (const auto* mark = schema.if_contains(kMark)) take(schema, *mark, reachable);
        for (const auto& member : schema) {
            const std::string_view keyword(member.key().data(), member.key().size());
            if (keyword == kMark || holds_data(keyword)) continue;
            if (holds_named_schemas(keyword)) {
                if (const auto* named = member.value().if_object())
                    walk_named(*named, reachable && keyword == "properties");
            } else if (const auto* one = member.value().if_object()) {
                walk(*one, false);
            } else if (const auto* several = member.value().if_array()) {
                for (const auto& item : *several)
                    if (const auto* each = item.if_object()) walk(*each, false);
            }
        }
    }

private:
    void walk_named(const json::object& schemas, bool reachable) {
        for (const auto& member : schemas) {
            const auto* schema = member.value().if_object();
            if (!schema) continue;
            path_.emplace_back(member.key());
            walk(*schema, reachable);
            path_.pop_back();
        }
    }

    void take(const json::object& schema, const json::value& mark, bool reachable) {
        const auto fail = [&](const std::string& why) {
            const auto where = path_.empty() ? std::string("its root") : core::join(path_, ".");
            trouble = "x-mcp-header at " + core::printable(where, 200) + " " + why;
        };
        if (!reachable || path_.empty())
            return fail("is not on a property that `properties` keys alone lead to");
        if (!mark.is_string()) return fail("is not a string");
        const std::string_view name(mark.get_string().data(), mark.get_string().size());
        if (name.empty()) return fail("is empty");
        if (!core::is_token(name))
            return fail("is \"" + core::printable(name, 64) + "\", which is no header name");
        if (!is_primitive(schema)) return fail("is on a type other than string, integer, boolean");
        const std::string header = "Mcp-Param-" + std::string(name);
        for (const auto& other : found) {
            if (core::lower(other.header) == core::lower(header))
                return fail("repeats the name \"" + core::printable(name, 64) + "\"");
        }
        found.push_back({header, path_});
    }

    std::vector<std::string> path_;
};

// The text a value has before it is made safe; null has none.
Result<std::string> text_of(const json::value& value, const HeaderParameter& parameter) {
    if (value.is_string()) return std::string(value.get_string());
    if (value.is_bool()) return std::string(value.get_bool() ? "true" : "false");
    const auto refuse = [&](const char* why) {
        return Error{ErrorCode::Invalid,
                     "argument \"" + core::printable(core::join(parameter.path, "."), 200) +
                         "\" goes to the header " + parameter.header + " and " + why};
    };
    if (!value.is_number()) return refuse("is neither a string, an integer nor a boolean");
    const double number = value.to_number<double>();
    if (number != std::trunc(number)) return refuse("is not an integer");
    if (std::abs(number) > kSafeInteger) return refuse("is beyond 2^53-1");
    return std::to_string(static_cast<std::int64_t>(number));
}

}  // namespace

Result<std::vector<HeaderParameter>> header_parameters(const json::value& input_schema) {
    Marks marks;
    if (const auto* schema = input_schema.if_object()) marks.walk(*schema, true);
    if (!marks.trouble.empty()) return Error{ErrorCode::Invalid, std::move(marks.trouble)};
    return std::move(marks.found);
}

std::string header_text(std::string_view value) {
    constexpr std::string_view kBegin = "=?base64?", kEnd = "?=";
    // A tab may stand in a header, yet it is a control character: servers expect it encoded.
    const bool plain =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
    const bool padded = !value.empty() && (value.front() == ' ' || value.back() == ' ');
    const bool marked = value.substr(0, kBegin.size()) == kBegin && value.size() >= kEnd.size() &&
                        value.substr(value.size() - kEnd.size()) == kEnd;
    if (plain && !padded && !marked) return std::string(value);
    return std::string(kBegin) + core::base64(value) + std::string(kEnd);
}

std::vector<MessageHeader> standard_headers(std::string_view method, std::string_view members) {
    std::vector<MessageHeader> headers{{"Mcp-Method", std::string(method)}};
    const char* key = method == "tools/call" || method == "prompts/get" ? "name"
                      : method == "resources/read"                      ? "uri"
                      : names_a_task(method)                            ? "taskId"
                                                                        : nullptr;
    if (!key) return headers;
    if (const auto name = text_of_raw(raw_member(members, key)))
        headers.push_back({"Mcp-Name", header_text(*name)});
    return headers;
}

Result<std::vector<MessageHeader>> mirrored_arguments(
    const std::vector<HeaderParameter>& parameters, std::string_view arguments, std::size_t depth) {
    std::vector<MessageHeader> headers;
    if (parameters.empty() || arguments.empty()) return headers;
    const auto root =
        core::parse_json(arguments, {.depth = depth, .values = core::kAnyNumberOfValues});
    if (!root) return within("the arguments", {ErrorCode::Invalid, root.error().message});
    for (const auto& parameter : parameters) {
        const json::value* at = &*root;
        for (const auto& step : parameter.path) {
            const auto* object = at->if_object();
            at = object ? object->if_contains(step) : nullptr;
            if (!at) break;
        }
        if (!at || at->is_null()) continue;
        auto text = text_of(*at, parameter);
        if (!text) return text.error();
        headers.push_back({parameter.header, header_text(*text)});
    }
    return headers;
}

}  // namespace patchbay::protocol
