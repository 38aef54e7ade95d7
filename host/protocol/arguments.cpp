#include "protocol/arguments.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "protocol/schema.hpp"

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

const json::object* properties_of(const json::value& schema) {
    const auto* object = schema.if_object();
    const auto* properties = object ? object->if_contains("properties") : nullptr;
    return properties ? properties->if_object() : nullptr;
}

// The types that a property's schema names, through anyOf and oneOf, references not followed.
void types_of(const json::value& schema, std::vector<std::string>& types, int depth = 0) {
    const auto* object = schema.if_object();
    if (!object || depth > 4) return;
    if (const auto* type = object->if_contains("type")) {
        if (type->is_string()) types.emplace_back(type->get_string());
        if (type->is_array()) for (const auto& each : type->get_array()) if (each.is_string()) types.emplace_back(each.get_string());
    }
    for (const char* key : {"anyOf", "oneOf"}) {
        const auto* list = object->if_contains(key);
        if (list && list->is_array()) for (const auto& each : list->get_array()) types_of(each, types, depth + 1);
    }
}

bool fits(const json::value& value, const std::string& type) {
    if (type == "integer") return value.is_int64() || value.is_uint64() || (value.is_double() && std::floor(value.get_double()) == value.get_double());
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_bool();
    if (type == "null") return value.is_null();
    if (type == "array") return value.is_array();
    return type == "object" && value.is_object();
}

const json::value* first_choice(const json::object& property) {
    if (const auto* choices = property.if_contains("enum"); choices && choices->is_array() && !choices->get_array().empty()) return &choices->get_array().front();
    if (const auto* titled = property.if_contains("oneOf"); titled && titled->is_array() && !titled->get_array().empty()) {
        const auto* first = titled->get_array().front().if_object();
        return first ? first->if_contains("const") : nullptr;
    }
    return nullptr;
}

}  // namespace

Result<json::value> coerce_argument(const json::value& input_schema, const std::string& name,
                                    const std::string& text) {
    const auto* properties = properties_of(input_schema);
    const auto* property = properties ? properties->if_contains(name) : nullptr;
    std::vector<std::string> types;
    if (property) types_of(*property, types);
    json::error_code failed;
    auto value = json::parse(text, failed);
    bool wants_string = false;
    for (const auto& type : types) {
        if (type == "string") wants_string = true;
        else if (!failed && fits(value, type)) return value;
    }
    if (wants_string) return json::value(json::string(text));
    if (types.empty()) return failed ? json::value(json::string(text)) : value;
    const char* article = std::string_view("aio").find(types.front().front()) != std::string_view::npos ? "an " : "a ";
    return Error{ErrorCode::Invalid, "argument \"" + name + "\": \"" + core::printable(text, 80) + "\" is not " + article + core::join(types, " or ")};
}

std::vector<std::string> check_arguments(const json::value& input_schema, const json::object& arguments) {
    std::vector<std::string> troubles;
    const auto schema = Schema::compile(input_schema);
    if (!schema) return troubles;  // the server knows better what it meant
    if (const auto* properties = properties_of(input_schema); properties && !properties->empty()) {
        const auto& object = input_schema.get_object();
        const auto* others = object.if_contains("additionalProperties");
        const bool open = object.contains("patternProperties") || (others && !(others->is_bool() && !others->get_bool()));
        std::vector<std::string> known;
        for (const auto& each : *properties) known.emplace_back(each.key());
        for (const auto& member : arguments) {
            if (open || properties->contains(member.key())) continue;
            const std::string name(member.key());
            troubles.push_back("unknown argument \"" + name + "\"" + core::did_you_mean(name, known) + "; known: " + core::join(known, ", "));
        }
    }
    for (const auto& error : schema->validate(arguments)) {
        if (error.message.rfind("is not a known property", 0) == 0) continue;  // told above
        if (error.pointer.empty()) troubles.push_back("the arguments: " + error.message);
        else troubles.push_back("argument \"" + error.pointer.substr(1) + "\": " + error.message);
    }
    return troubles;
}

Result<json::object> defaults_for(const json::value& requested_schema) {
    json::object answer;
    const auto* properties = properties_of(requested_schema);
    if (!properties) return answer;
    const auto* required = requested_schema.get_object().if_contains("required");
    for (const auto& member : *properties) {
        const auto* property = member.value().if_object();
        if (!property) continue;
        if (const auto* given = property->if_contains("default")) {
            answer[member.key()] = *given;
            continue;
        }
        const bool needed = required && required->is_array() && std::any_of(required->get_array().begin(), required->get_array().end(), [&](const auto& name) { return name.is_string() && name.get_string() == member.key(); });
        if (!needed) continue;
        std::vector<std::string> types;
        types_of(member.value(), types);
        const std::string type = types.empty() ? "" : types.front();
        const auto* least = property->if_contains("minimum");
        if (const auto* choice = first_choice(*property)) answer[member.key()] = *choice;
        else if (type == "boolean") answer[member.key()] = false;
        else if (type == "integer" || type == "number") answer[member.key()] = least ? *least : json::value(0);
        else if (type == "array") answer[member.key()] = json::array();
        else return Error{ErrorCode::Invalid, "\"" + std::string(member.key()) + "\" is required and has no default"};
    }
    return answer;
}

}  // namespace patchbay::protocol
