#include "protocol/schema.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.hpp"

namespace patchbay::protocol {
namespace json = boost::json;

struct Schema::Impl {
    json::value root;
    std::map<std::string, const json::value*> places;                    // "#", "#/$defs/a", "#name", "$id"
    std::map<std::string, std::shared_ptr<const re2::RE2>> patterns;     // null: RE2 does not know it
    std::vector<std::string> notes;
};

namespace {

std::string escaped(std::string_view token) {
    std::string out;
    for (const char c : token) {
        if (c == '~') out += "~0";
        else if (c == '/') out += "~1";
        else out += c;
    }
    return out;
}

std::string percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
            std::isxdigit(static_cast<unsigned char>(text[i + 2]))) {
            out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

const char* type_of(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null: return "null";
        case json::kind::bool_: return "boolean";
        case json::kind::string: return "string";
        case json::kind::array: return "array";
        case json::kind::object: return "object";
        default: return "number";
    }
}

bool is_integer(const json::value& value) {
    if (value.is_int64() || value.is_uint64()) return true;
    return value.is_double() && std::isfinite(value.get_double()) && std::floor(value.get_double()) == value.get_double();
}

bool has_type(const json::value& value, std::string_view type) {
    return type == "integer" ? is_integer(value) : type == type_of(value);
}

// 1 and 1.0 are one number in JSON Schema; Boost.JSON tells their kinds apart.
bool same(const json::value& a, const json::value& b) {
    if (a.is_number() && b.is_number()) {
        if (!a.is_double() && !b.is_double()) return a == b;
        return a.to_number<double>() == b.to_number<double>();
    }
    if (a.kind() != b.kind()) return false;
    if (const auto* array = a.if_array()) {
        const auto& other = b.get_array();
        return array->size() == other.size() && std::equal(array->begin(), array->end(), other.begin(), same);
    }
    if (const auto* object = a.if_object()) {
        const auto& other = b.get_object();
        return object->size() == other.size() && std::all_of(object->begin(), object->end(), [&](const auto& member) {
            const auto* found = other.if_contains(member.key());
            return found && same(member.value(), *found);
        });
    }
    return a == b;
}

std::size_t code_points(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Keywords whose value holds subschemas: one, a list, or a map of them.
constexpr std::string_view kOne[] = {"not", "if", "then", "else", "items", "additionalItems", "contains",
                                     "additionalProperties", "propertyNames"};
constexpr std::string_view kList[] = {"allOf", "anyOf", "oneOf", "prefixItems", "items"};
constexpr std::string_view kMap[] = {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"};

bool is_one_of(std::string_view key, const auto& keys) {
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

struct Compiler {
    Schema::Impl& impl;
    std::vector<std::string> references;
    std::string trouble;

    static constexpr int kCompileDepth = 256;

    void visit(const json::value& schema, const std::string& pointer, int depth) {
        if (!trouble.empty()) return;
        if (depth > kCompileDepth) {
            trouble = "schema is nested too deep";
            return;
        }
        impl.places.emplace(pointer, &schema);
        if (schema.is_bool()) return;
        const auto* object = schema.if_object();
        if (!object) {
            trouble = "at " + pointer + ": a schema is an object or a boolean, not " + std::string(type_of(schema));
            return;
        }
        for (const auto& member : *object) {
            const std::string key(member.key());
            const auto& value = member.value();
            const std::string below = pointer + "/" + escaped(key);
            if (key == "$ref" && value.is_string()) references.emplace_back(value.get_string());
            else if ((key == "$anchor" || key == "$dynamicAnchor") && value.is_string()) impl.places.emplace("#" + std::string(value.get_string()), &schema);
            else if (key == "$id" && value.is_string()) impl.places.emplace(std::string(value.get_string()), &schema);
            else if (key == "pattern" && value.is_string()) pattern(std::string(value.get_string()));
            else if (is_one_of(key, kMap) && value.is_object()) {
                for (const auto& each : value.get_object()) {
                    if (key == "patternProperties") pattern(std::string(each.key()));
                    visit(each.value(), below + "/" + escaped({each.key().data(), each.key().size()}), depth + 1);
                }
            } else if (is_one_of(key, kList) && value.is_array()) {
                std::size_t i = 0;
                for (const auto& each : value.get_array()) visit(each, below + "/" + std::to_string(i++), depth + 1);
            } else if (is_one_of(key, kOne)) {
                visit(value, below, depth + 1);
            }
        }
    }

    void pattern(const std::string& text) {
        if (impl.patterns.count(text)) return;
        re2::RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(1 << 20);
        auto compiled = std::make_shared<const re2::RE2>(text, options);
        if (!compiled->ok()) {
            impl.notes.push_back("pattern " + core::printable(text, 80) + " is not checked: " + compiled->error());
            compiled = nullptr;
        }
        impl.patterns.emplace(text, std::move(compiled));
    }
};

struct Run {
    const Schema::Impl& impl;
    std::vector<SchemaError> errors;
    std::size_t steps = 0;
    int depth = 0;
    bool exhausted = false;

    void fail(const std::string& pointer, std::string message) {
        if (errors.size() < Schema::kErrors) errors.push_back({pointer, std::move(message)});
    }

    // Whether `value` satisfies `schema`, keeping no errors.
    bool quietly(const json::value& schema, const json::value& value, const std::string& pointer) {
        auto kept = std::exchange(errors, {});
        check(schema, value, pointer);
        const bool good = errors.empty();
        errors = std::move(kept);
        return good;
    }

    void check(const json::value& schema, const json::value& value, const std::string& pointer) {
        if (exhausted) return;
        if (++steps > Schema::kSteps || depth >= Schema::kDepth * 2) {
            exhausted = true;
            return;
        }
        if (schema.is_bool()) {
            if (!schema.get_bool()) fail(pointer, "nothing is allowed here");
            return;
        }
        ++depth;
        const auto& keywords = schema.get_object();
        if (const auto* reference = keywords.if_contains("$ref"); reference && reference->is_string()) {
            check(*target(std::string(reference->get_string())), value, pointer);
        }
        assertions(keywords, value, pointer);
        if (value.is_number()) numbers(keywords, value, pointer);
        if (const auto* text = value.if_string()) strings(keywords, {text->data(), text->size()}, pointer);
        if (const auto* array = value.if_array()) arrays(keywords, *array, pointer);
        if (const auto* object = value.if_object()) objects(keywords, *object, pointer);
        combinations(keywords, value, pointer);
        --depth;
    }

    const json::value* target(const std::string& reference) const {
        return impl.places.at(percent_decoded(reference));
    }

    void assertions(const json::object& keywords, const json::value& value, const std::string& pointer) {
        if (const auto* type = keywords.if_contains("type")) {
            std::vector<std::string> wanted;
            if (type->is_string()) wanted.emplace_back(type->get_string());
            if (type->is_array()) for (const auto& each : type->get_array()) if (each.is_string()) wanted.emplace_back(each.get_string());
            if (std::none_of(wanted.begin(), wanted.end(), [&](const auto& each) { return has_type(value, each); })) {
                fail(pointer, "expected " + core::join(wanted, " or ") + ", got " + type_of(value));
            }
        }
        if (const auto* only = keywords.if_contains("const"); only && !same(*only, value)) {
            fail(pointer, "expected " + core::printable(json::serialize(*only), 80));
        }
        if (const auto* choices = keywords.if_contains("enum"); choices && choices->is_array()) {
            const auto& list = choices->get_array();
            if (std::none_of(list.begin(), list.end(), [&](const auto& each) { return same(each, value); })) {
                fail(pointer, "expected one of " + core::printable(json::serialize(list), 200));
            }
        }
    }

    void numbers(const json::object& keywords, const json::value& value, const std::string& pointer) {
        const double number = value.to_number<double>();
        const auto bound = [&](const char* key, auto good, const char* words) {
            const auto* limit = keywords.if_contains(key);
            if (limit && limit->is_number() && !good(limit->to_number<double>())) {
                fail(pointer, std::string("must be ") + words + " " + json::serialize(*limit));
            }
        };
        bound("minimum", [&](double limit) { return number >= limit; }, "at least");
        bound("maximum", [&](double limit) { return number <= limit; }, "at most");
        bound("exclusiveMinimum", [&](double limit) { return number > limit; }, "more than");
        bound("exclusiveMaximum", [&](double limit) { return number < limit; }, "less than");
        bound("multipleOf", [&](double unit) {
            if (unit <= 0) return true;
            const double times = number / unit;
            return !std::isfinite(times) || std::abs(times - std::round(times)) < 1e-9;
        }, "a multiple of");
    }

    // A count keyword; `at_least` says which side it bounds.
    void count(const json::object& keywords, const char* key, std::size_t actual, bool at_least, const char* what, const std::string& pointer) {
        const auto* limit = keywords.if_contains(key);
        if (!limit || !limit->is_number()) return;
        const double number = limit->to_number<double>();
        if (at_least ? double(actual) < number : double(actual) > number) {
            fail(pointer, std::string("must have ") + (at_least ? "at least " : "at most ") + json::serialize(*limit) + " " + what);
        }
    }

    void strings(const json::object& keywords, std::string_view text, const std::string& pointer) {
        count(keywords, "minLength", code_points(text), true, "characters", pointer);
        count(keywords, "maxLength", code_points(text), false, "characters", pointer);
        if (const auto* pattern = keywords.if_contains("pattern"); pattern && pattern->is_string() && !matches_pattern(std::string(pattern->get_string()), text)) {
            fail(pointer, "must match " + core::printable({pattern->get_string().data(), pattern->get_string().size()}, 80));
        }
    }

    bool matches_pattern(const std::string& pattern, std::string_view text) const {
        const auto& compiled = impl.patterns.at(pattern);
        return !compiled || re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled);
    }

    void arrays(const json::object& keywords, const json::array& array, const std::string& pointer) {
        count(keywords, "minItems", array.size(), true, "items", pointer);
        count(keywords, "maxItems", array.size(), false, "items", pointer);
        std::size_t fixed = 0;
        const auto* items = keywords.if_contains("items");
        const auto* prefix = keywords.if_contains("prefixItems");
        const json::value* rest = items;
        if (items && items->is_array()) {  // draft-07
            prefix = items;
            rest = keywords.if_contains("additionalItems");
        }
        if (prefix && prefix->is_array()) {
            for (; fixed < array.size() && fixed < prefix->get_array().size(); ++fixed) {
                check(prefix->get_array()[fixed], array[fixed], pointer + "/" + std::to_string(fixed));
            }
        }
        if (rest) {
            for (std::size_t i = fixed; i < array.size(); ++i) check(*rest, array[i], pointer + "/" + std::to_string(i));
        }
        if (const auto* wanted = keywords.if_contains("contains")) {
            const auto found = static_cast<std::size_t>(std::count_if(array.begin(), array.end(), [&](const auto& each) { return quietly(*wanted, each, pointer); }));
            if (!keywords.contains("minContains") && found == 0) fail(pointer, "has no item of the kind it must contain");
            count(keywords, "minContains", found, true, "items of the kind it must contain", pointer);
            count(keywords, "maxContains", found, false, "items of the kind it must contain", pointer);
        }
        if (const auto* unique = keywords.if_contains("uniqueItems"); unique && unique->is_bool() && unique->get_bool()) {
            for (std::size_t i = 0; i < array.size() && !exhausted; ++i) {
                for (std::size_t j = i + 1; j < array.size() && !exhausted; ++j) {
                    if (++steps > Schema::kSteps) exhausted = true;
                    if (same(array[i], array[j])) return fail(pointer, "has the same item twice");
                }
            }
        }
    }

    void objects(const json::object& keywords, const json::object& object, const std::string& pointer) {
        count(keywords, "minProperties", object.size(), true, "properties", pointer);
        count(keywords, "maxProperties", object.size(), false, "properties", pointer);
        require(keywords.if_contains("required"), object, pointer, {});
        const auto* properties = keywords.if_contains("properties");
        const auto* patterns = keywords.if_contains("patternProperties");
        const auto* others = keywords.if_contains("additionalProperties");
        const auto* names = keywords.if_contains("propertyNames");
        for (const auto& member : object) {
            const std::string_view key(member.key().data(), member.key().size());
            const std::string below = pointer + "/" + escaped(key);
            bool known = false;
            if (names) check(*names, json::value(member.key()), below);
            if (properties && properties->is_object()) {
                if (const auto* schema = properties->get_object().if_contains(key)) {
                    known = true;
                    check(*schema, member.value(), below);
                }
            }
            if (patterns && patterns->is_object()) {
                for (const auto& each : patterns->get_object()) {
                    if (!matches_pattern(std::string(each.key()), key)) continue;
                    known = true;
                    check(each.value(), member.value(), below);
                }
            }
            if (known || !others) continue;
            if (others->is_bool() && !others->get_bool()) fail(below, "is not a known property" + nearest_property(properties, key));
            else check(*others, member.value(), below);
        }
        dependencies(keywords, object, pointer);
    }

    static std::string nearest_property(const json::value* properties, std::string_view key) {
        std::vector<std::string> known;
        if (properties && properties->is_object()) {
            for (const auto& each : properties->get_object()) known.emplace_back(each.key());
        }
        return core::did_you_mean(key, known);
    }

    void require(const json::value* names, const json::object& object, const std::string& pointer, const std::string& because) {
        if (!names || !names->is_array()) return;
        for (const auto& name : names->get_array()) {
            if (name.is_string() && !object.contains(name.get_string())) {
                fail(pointer, "lacks \"" + core::printable({name.get_string().data(), name.get_string().size()}, 80) + "\"" + because);
            }
        }
    }

    void dependencies(const json::object& keywords, const json::object& object, const std::string& pointer) {
        for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"}) {
            const auto* all = keywords.if_contains(key);
            if (!all || !all->is_object()) continue;
            for (const auto& each : all->get_object()) {
                if (!object.contains(each.key())) continue;
                if (each.value().is_array()) require(&each.value(), object, pointer, ", which \"" + core::printable({each.key().data(), each.key().size()}, 80) + "\" needs");
                else if (each.value().is_object() || each.value().is_bool()) check(each.value(), object, pointer);
            }
        }
    }

    void combinations(const json::object& keywords, const json::value& value, const std::string& pointer) {
        const auto list = [&](const char* key) -> const json::array* {
            const auto* found = keywords.if_contains(key);
            return found ? found->if_array() : nullptr;
        };
        if (const auto* all = list("allOf")) for (const auto& each : *all) check(each, value, pointer);
        if (const auto* any = list("anyOf"); any && std::none_of(any->begin(), any->end(), [&](const auto& each) { return quietly(each, value, pointer); })) {
            fail(pointer, "fits none of " + std::to_string(any->size()) + " alternatives (anyOf)");
        }
        if (const auto* one = list("oneOf")) {
            const auto fitting = std::count_if(one->begin(), one->end(), [&](const auto& each) { return quietly(each, value, pointer); });
            if (fitting != 1) fail(pointer, "fits " + std::to_string(fitting) + " of " + std::to_string(one->size()) + " alternatives, not exactly one (oneOf)");
        }
        if (const auto* negated = keywords.if_contains("not"); negated && quietly(*negated, value, pointer)) fail(pointer, "is what it must not be (not)");
        if (const auto* condition = keywords.if_contains("if")) {
            const auto* branch = keywords.if_contains(quietly(*condition, value, pointer) ? "then" : "else");
            if (branch) check(*branch, value, pointer);
        }
    }
};

}  // namespace

Result<Schema> Schema::compile(const json::value& schema) {
    auto impl = std::make_shared<Impl>();
    impl->root = schema;
    if (const auto* object = impl->root.if_object()) {
        if (const auto* dialect = object->if_contains("$schema"); dialect && dialect->is_string()) {
            const std::string_view name(dialect->get_string().data(), dialect->get_string().size());
            if (name.find("/draft/2020-12/") == std::string_view::npos && name.find("/draft/2019-09/") == std::string_view::npos && name.find("/draft-07/") == std::string_view::npos && name.find("/draft-06/") == std::string_view::npos) {
                return Error{ErrorCode::Unsupported, "schema dialect " + core::printable(name, 100) + " is not supported; 2020-12 and draft-07 are"};
            }
        }
    }
    Compiler compiler{*impl, {}, {}};
    compiler.visit(impl->root, "#", 0);
    if (!compiler.trouble.empty()) return Error{ErrorCode::Invalid, compiler.trouble};
    for (const auto& reference : compiler.references) {
        if (impl->places.count(percent_decoded(reference))) continue;
        return Error{ErrorCode::Unsupported, "$ref \"" + core::printable(reference, 100) + "\" does not point into this schema; references are never fetched"};
    }
    return Schema(std::move(impl));
}

std::vector<SchemaError> Schema::validate(const json::value& instance) const {
    Run run{*impl_, {}};
    run.check(impl_->root, instance, "");
    if (run.exhausted) run.errors.push_back({"", "the schema is too complex to check (limits depth and steps)"});
    return std::move(run.errors);
}

const std::vector<std::string>& Schema::notes() const { return impl_->notes; }

}  // namespace patchbay::protocol
