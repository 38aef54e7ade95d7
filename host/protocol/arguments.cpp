#include "protocol/arguments.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/schema.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

namespace patchbay::protocol {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostUndeclared = 10;  // told of one call

std::string text_of(json::string_view text) {
    return {text.data(), text.size()};
}

const json::value* member_of(const json::value& value, json::string_view key) {
    const auto* object = value.if_object();
    return object ? object->if_contains(key) : nullptr;
}

const json::array* list_of(const json::value& value, json::string_view key) {
    const auto* found = member_of(value, key);
    return found ? found->if_array() : nullptr;
}

const json::object* properties_of(const json::value& schema) {
    const auto* properties = member_of(schema, "properties");
    return properties ? properties->if_object() : nullptr;
}

// What one property may be, as far as its schema says so plainly: through anyOf, oneOf, allOf and
// references within `root`. Foreign schemas: the number of places looked at is bounded.
bool is_type(std::string_view name) {
    constexpr std::string_view kTypes[] = {"string", "integer", "number", "boolean",
                                           "null",   "array",   "object"};
    return std::find(std::begin(kTypes), std::end(kTypes), name) != std::end(kTypes);
}

class Reading {
public:
    explicit Reading(const json::value& root) : root_(root) {}

    std::vector<std::string> types;           // in the order of the schema
    std::vector<const json::value*> choices;  // of enum and const

    void read(const json::value& schema) {
        constexpr int kMostPlaces = 256;
        if (++places_ > kMostPlaces) return;
        if (const auto* type = member_of(schema, "type")) {
            if (type->is_string()) add(*type);
            if (const auto* several = type->if_array())
                std::for_each(several->begin(), several->end(),
                              [&](const auto& each) { add(each); });
        }
        if (const auto* given = list_of(schema, "enum")) {
            for (const auto& each : *given) choices.push_back(&each);
        }
        if (const auto* given = member_of(schema, "const")) choices.push_back(given);
        if (const auto* reference = member_of(schema, "$ref");
            reference && reference->is_string()) {
            follow(reference->get_string());
        }
        for (const char* key : {"anyOf", "oneOf", "allOf"}) {
            const auto* list = list_of(schema, key);
            if (!list) continue;
            for (const auto& each : *list) read(each);
        }
    }

private:
    // A word that is no type is the schema's fault, and refuses no argument.
    void add(const json::value& type) {
        if (!type.is_string() || !is_type(type.get_string())) return;
        auto name = text_of(type.get_string());
        if (std::find(types.begin(), types.end(), name) == types.end())
            types.push_back(std::move(name));
    }

    void follow(json::string_view reference) {
        if (reference.substr(0, 2) != "#/") return;
        json::error_code failed;
        const auto* target = root_.find_pointer(reference.substr(1), failed);
        if (target) read(*target);
    }

    const json::value& root_;
    int places_ = 0;
};

bool is_whole(double number) {
    return std::isfinite(number) && std::floor(number) == number;
}

bool fits(const json::value& value, std::string_view type) {
    if (type == "integer")
        return value.is_int64() || value.is_uint64() ||
               (value.is_double() && is_whole(value.get_double()));
    if (type == "number") return value.is_number();
    if (type == "boolean") return value.is_bool();
    if (type == "null") return value.is_null();
    if (type == "array") return value.is_array();
    return type == "object" && value.is_object();
}

// 2.0 for an integer goes out as 2: many a server knows no other spelling.
json::value plain(json::value value, std::string_view type) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (type != "integer" || !value.is_double() || std::abs(value.get_double()) > kExact)
        return value;
    return static_cast<std::int64_t>(value.get_double());
}

std::string with_article(const std::string& words) {
    return (words.find_first_of("aeiou") == 0 ? "an " : "a ") + words;
}

// Whether a name that "properties" lacks is refused. JSON Schema leaves them open unless told so.
bool is_closed(const json::object& schema) {
    const auto* others = schema.if_contains("additionalProperties");
    return others && others->is_bool() && !others->get_bool();
}

// Whether the schema speaks of its properties in places that are not looked into here.
bool looks_elsewhere(const json::object& schema) {
    for (const char* key : {"patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref",
                            "$dynamicRef", "dependentSchemas", "unevaluatedProperties"}) {
        if (schema.contains(key)) return true;
    }
    return false;
}

// The value a form without defaults starts with; null: only a person can know it.
json::value first_value(const json::value& property, const json::value& root) {
    Reading reading(root);
    reading.read(property);
    const std::string type = reading.types.empty() ? "" : reading.types.front();
    if (!reading.choices.empty()) return *reading.choices.front();
    if (type == "boolean") return false;
    if (type == "array") {  // several of a list of choices: the first so many as must be
        Reading items(root);
        if (const auto* schema = member_of(property, "items")) items.read(*schema);
        const auto* least = member_of(property, "minItems");
        json::array chosen;
        for (const auto* choice : items.choices) {
            if (!least || !least->is_number() ||
                static_cast<double>(chosen.size()) >= least->to_number<double>())
                break;
            chosen.push_back(*choice);
        }
        return chosen;
    }
    if (type != "integer" && type != "number") return nullptr;
    const auto bound = [&](json::string_view key) -> const json::value* {
        const auto* found = member_of(property, key);
        return found && found->is_number() ? found : nullptr;
    };
    double number = 0;
    if (const auto* least = bound("minimum")) {
        number = std::ceil(least->to_number<double>());
        if (type == "number") return *least;
    } else if (const auto* below = bound("exclusiveMinimum")) {
        number = std::floor(below->to_number<double>()) + 1;
    } else if (const auto* most = bound("maximum"); most && most->to_number<double>() < 0) {
        number = std::floor(most->to_number<double>());
    }
    return plain(number, "integer");
}

}  // namespace

Result<json::value> coerce_argument(const json::value& input_schema, const std::string& name,
                                    const std::string& text) {
    Reading reading(input_schema);
    if (const auto* properties = properties_of(input_schema)) {
        if (const auto* property = properties->if_contains(name)) reading.read(*property);
    }
    // Before it is read as JSON: a choice may be spelt like a number, as "1.10" of versions.
    const json::value verbatim(json::string(text.data(), text.size()));
    const bool is_choice = std::any_of(reading.choices.begin(), reading.choices.end(),
                                       [&](const auto* choice) { return *choice == verbatim; });
    if (is_choice) return verbatim;
    auto value = core::parse_json(text);
    bool wants_string = false;
    for (const auto& type : reading.types) {
        if (type == "string")
            wants_string = true;
        else if (value && fits(*value, type))
            return plain(std::move(*value), type);
    }
    if (wants_string || (reading.types.empty() && !value)) return verbatim;
    if (reading.types.empty()) return value;
    return Error{ErrorCode::Invalid, "argument \"" + name + "\": \"" + core::printable(text, 80) +
                                         "\" is not " +
                                         with_article(core::join(reading.types, " or "))};
}

std::vector<std::string> check_arguments(const json::value& input_schema,
                                         const json::object& arguments) {
    const auto schema = Schema::compile(input_schema);
    if (!schema) return {};  // the server knows better what it meant, see unchecked_in()
    return told_for_people(schema->validate(arguments), input_schema, arguments);
}

std::vector<std::string> told_for_people(const std::vector<SchemaError>& errors,
                                         const json::value& input_schema,
                                         const json::object& arguments) {
    std::vector<std::string> troubles;
    std::set<std::string> unknown;  // as JSON pointers
    const auto* keywords = input_schema.if_object();
    if (keywords && !errors.empty() && !looks_elsewhere(*keywords)) {
        const auto* properties = properties_of(input_schema);
        std::vector<std::string> known;
        for (const auto& each : properties ? *properties : json::object())
            known.push_back(text_of(each.key()));
        const bool closed = is_closed(*keywords);
        for (const auto& member : arguments) {
            if (properties && properties->contains(member.key())) continue;
            const auto name = text_of(member.key());
            const auto nearest = core::did_you_mean(name, known);
            // What is allowed is worth a word only where it may explain what is missing.
            if (!closed && nearest.empty()) continue;
            unknown.insert(core::pointer_token(name));
            troubles.push_back(core::behind_hint(
                "unknown argument \"" + core::printable(name, 80) + "\"" + nearest,
                known.empty() ? "it takes none" : "known: " + core::join(known, ", ")));
        }
    }
    for (const auto& error : errors) {
        if (unknown.count(error.pointer)) continue;  // told above, in better words
        constexpr std::string_view lacks = "lacks ";
        if (error.pointer.empty() && error.message.starts_with(lacks))
            troubles.push_back("missing argument " + error.message.substr(lacks.size()));
        else if (error.pointer.empty())
            troubles.push_back("the arguments: " + error.message);
        else
            troubles.push_back("argument \"" + core::printable(error.pointer.substr(1), 200) +
                               "\": " + error.message);
    }
    return troubles;
}

std::vector<std::string> unchecked_in(const json::value& input_schema) {
    const auto schema = Schema::compile(input_schema);
    if (schema) return schema->notes();
    return {"its schema cannot be used, so the arguments are sent as they are: " +
            schema.error().message};
}

std::vector<std::string> undeclared_in(const json::object& arguments, const json::value& schema) {
    const auto* properties = properties_of(schema);
    if (!properties || properties->empty()) return {};
    if (looks_elsewhere(schema.get_object()) || member_of(schema, "additionalProperties"))
        return {};
    std::vector<std::string> known, sentences;
    for (const auto& property : *properties) known.emplace_back(property.key());
    for (const auto& argument : arguments)
        if (!properties->contains(argument.key()) && sentences.size() < kMostUndeclared)
            sentences.push_back("\"" + core::printable(argument.key(), 80) +
                                "\" is sent, though its schema does not name it" +
                                core::did_you_mean(argument.key(), known));
    return sentences;
}

Result<json::object> defaults_for(const json::value& requested_schema) {
    json::object answer;
    const auto schema = Schema::compile(requested_schema);
    if (!schema) return within("requestedSchema", schema.error());
    const auto* properties = properties_of(requested_schema);
    const auto* required = list_of(requested_schema, "required");
    for (const auto& member : properties ? *properties : json::object()) {
        if (const auto* given = member_of(member.value(), "default")) {
            answer[member.key()] = *given;
            continue;
        }
        const json::value name(member.key());
        if (!required || std::find(required->begin(), required->end(), name) == required->end())
            continue;
        auto value = first_value(member.value(), requested_schema);
        if (value.is_null()) {
            return Error{ErrorCode::Invalid, "\"" + core::printable(text_of(member.key()), 80) +
                                                 "\" is required and has no default"};
        }
        answer[member.key()] = std::move(value);
    }
    const auto errors = schema->validate(answer);
    if (errors.empty()) return answer;
    const auto& first = errors.front();
    return Error{ErrorCode::Invalid,
                 "the defaults do not fit the form: " + core::printable(first.pointer, 200) +
                     (first.pointer.empty() ? "" : ": ") + first.message};
}

}  // namespace patchbay::protocol
