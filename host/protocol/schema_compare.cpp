#include "protocol/schema_compare.hpp"

#include "core/text.hpp"
#include "protocol/schema_node.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>

namespace patchbay::protocol::schema {
namespace json = boost::json;

unsigned types_of(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return kNull;
        case json::kind::bool_:
            return kBoolean;
        case json::kind::string:
            return kString;
        case json::kind::array:
            return kArray;
        case json::kind::object:
            return kObject;
        case json::kind::double_: {
            const double number = value.get_double();
            return std::isfinite(number) && std::floor(number) == number ? kInteger | kNumber
                                                                         : kNumber;
        }
        default:
            return kInteger | kNumber;
    }
}

std::string words_for(unsigned types) {
    static constexpr const char* kNames[] = {"null",   "boolean", "integer", "number",
                                             "string", "array",   "object"};
    if (types & kNumber) types &= ~unsigned{kInteger};  // said by "number"
    std::vector<std::string> words;
    for (unsigned i = 0; i < std::size(kNames); ++i) {
        if (types & (1u << i)) words.emplace_back(kNames[i]);
    }
    return core::join(words, " or ");
}

long double number_of(const json::value& value) {
    if (const auto* number = value.if_int64()) return static_cast<long double>(*number);
    if (const auto* number = value.if_uint64()) return static_cast<long double>(*number);
    return value.get_double();
}

bool is_multiple(const json::value& value, const json::value& unit) {
    const long double number = number_of(value), step = number_of(unit);
    if (!std::isfinite(number)) return false;
    if (std::fmod(number, step) == 0) return true;
    if (!value.is_double() && !unit.is_double()) return false;
    // 0.3 is three times 0.1 to whoever wrote the schema, though not in binary; and every whole
    // number is a multiple of 0.00000001.
    const auto is_whole = [](long double quotient) {
        const auto tolerance = std::abs(quotient) * 4 * std::numeric_limits<double>::epsilon();
        return tolerance < 0.5L && std::abs(quotient - std::round(quotient)) <= tolerance;
    };
    return is_whole(number / step) || (std::fmod(number, 1.0L) == 0 && is_whole(1 / step));
}

bool same(const json::value& a, const json::value& b, std::size_t& steps) {
    ++steps;
    if (a.is_number() && b.is_number()) return number_of(a) == number_of(b);
    if (a.kind() != b.kind()) return false;
    if (const auto* array = a.if_array()) {
        const auto& other = b.get_array();
        return array->size() == other.size() &&
               std::equal(array->begin(), array->end(), other.begin(),
                          [&](const auto& x, const auto& y) { return same(x, y, steps); });
    }
    if (const auto* object = a.if_object()) {
        const auto& other = b.get_object();
        return object->size() == other.size() &&
               std::all_of(object->begin(), object->end(), [&](const auto& member) {
                   const auto* found = other.if_contains(member.key());
                   return found && same(member.value(), *found, steps);
               });
    }
    return a == b;
}

std::size_t hash_of(const json::value& value, std::size_t& steps) {
    ++steps;
    if (value.is_number()) return std::hash<long double>{}(number_of(value));
    constexpr std::size_t kFactor = 0x9E3779B97F4A7C15u;
    std::size_t hash = static_cast<std::size_t>(value.kind()) * kFactor;
    if (const auto* text = value.if_string()) {
        hash += std::hash<std::string_view>{}(view_of(*text));
    } else if (const auto* array = value.if_array()) {
        for (const auto& each : *array) hash = hash * kFactor + hash_of(each, steps);
    } else if (const auto* object = value.if_object()) {
        // A sum: the order of members does not matter.
        for (const auto& member : *object) {
            hash += std::hash<std::string_view>{}(view_of(member.key())) ^
                    (hash_of(member.value(), steps) * kFactor);
        }
    } else if (value.is_bool()) {
        hash += value.get_bool() ? 1 : 0;
    }
    return hash;
}

}  // namespace patchbay::protocol::schema
