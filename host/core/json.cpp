#include "core/json.hpp"

#include "core/json_beside.hpp"
#include "core/text.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace patchbay::core {
namespace json = boost::json;

namespace {

// Below this many members an object of the library is searched one by one, without a table.
constexpr std::size_t kPlainMembers = 18;

constexpr std::size_t kRoomForValues = 2048;  // on the stack; beyond it the heap has them

enum class Refused { No, Crowded, Many, Repeated, Infinite };
enum class Huge { IsRefused, IsCut };  // a number beyond the largest double

// Hears one parse and builds the values; the library's own handler knows no bounds.
struct Builder {
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();
    using error_code = json::error_code;
    using string_view = json::string_view;

    // `room`: for what is read until the value around it is complete.
    Builder(unsigned char* room, std::size_t size) : values({}, room, size) {}

    json::value_stack values;
    JsonLimits limits;
    Huge huge = Huge::IsRefused;
    std::size_t crowd = 0, count = 0;
    Refused refused = Refused::No;
    // Only for unique_keys: the keys of all open objects, and where each object's begin.
    std::vector<std::string> keys;
    std::vector<std::size_t> begins;
    std::string key, repeated;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) {
        if (limits.unique_keys) begins.push_back(keys.size());
        return true;
    }
    bool on_object_end(std::size_t members, error_code& error) {
        // As if every key met every other; half of that is the worst that can be.
        if (members > kPlainMembers &&
            (members > limits.crowding / members || (crowd += members * members) > limits.crowding))
            return refuse(Refused::Crowded, error);
        if (limits.unique_keys && !settle_keys()) return refuse(Refused::Repeated, error);
        values.push_object(members);
        return counted(error);
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t items, error_code& error) {
        return values.push_array(items), counted(error);
    }
    bool on_key_part(string_view part, std::size_t, error_code&) {
        if (limits.unique_keys) key.append(part.data(), part.size());
        return values.push_chars(part), true;
    }
    bool on_key(string_view part, std::size_t, error_code&) {
        if (limits.unique_keys) {
            key.append(part.data(), part.size());
            keys.push_back(std::exchange(key, {}));
        }
        return values.push_key(part), true;
    }
    bool on_string_part(string_view part, std::size_t, error_code&) {
        return values.push_chars(part), true;
    }
    bool on_string(string_view part, std::size_t, error_code& error) {
        return values.push_string(part), counted(error);
    }
    bool on_number_part(string_view, error_code&) { return true; }
    bool on_int64(std::int64_t number, string_view, error_code& error) {
        return values.push_int64(number), counted(error);
    }
    bool on_uint64(std::uint64_t number, string_view, error_code& error) {
        return values.push_uint64(number), counted(error);
    }
    bool on_double(double number, string_view, error_code& error) {
        // The library reads 1e999 as infinity, 0e999 as no number, and writes both as no JSON.
        if (std::isnan(number)) number = 0;
        if (!std::isfinite(number)) {
            if (huge == Huge::IsRefused) return refuse(Refused::Infinite, error);
            number = std::copysign(std::numeric_limits<double>::max(), number);
        }
        return values.push_double(number), counted(error);
    }
    bool on_bool(bool flag, error_code& error) { return values.push_bool(flag), counted(error); }
    bool on_null(error_code& error) { return values.push_null(), counted(error); }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }

private:
    bool counted(error_code& error) {
        return ++count <= limits.values || refuse(Refused::Many, error);
    }
    bool refuse(Refused why, error_code& error) {
        refused = why;
        error = json::error::size_mismatch;  // any: `refused` tells
        return false;
    }

    bool settle_keys() {
        const auto own = keys.begin() + static_cast<std::ptrdiff_t>(begins.back());
        std::sort(own, keys.end());
        const auto twice = std::adjacent_find(own, keys.end());
        if (twice != keys.end()) return repeated = *twice, false;
        keys.erase(own, keys.end());
        begins.pop_back();
        return true;
    }
};

Error unreadable(const Builder& builder, const json::error_code& error, std::size_t at,
                 std::string_view text) {
    if (builder.refused == Refused::Crowded)
        return {ErrorCode::Limit,
                "has more members in its objects than can be read safely: one object may have " +
                    std::to_string(static_cast<std::size_t>(std::sqrt(builder.limits.crowding))) +
                    ", or several large ones as many together as are no more work; no setting "
                    "changes that, its sender must say it in smaller parts"};
    if (builder.refused == Refused::Many)
        return {ErrorCode::Limit, "has more than " + std::to_string(builder.limits.values) +
                                      " values; no setting changes that, its sender must say it in "
                                      "smaller parts"};
    if (builder.refused == Refused::Infinite)
        return {ErrorCode::Limit, "has a number beyond 1.8e308, the largest that can be kept"};
    if (builder.refused == Refused::Repeated)
        return {ErrorCode::Invalid,
                "has the key \"" + printable(builder.repeated, 80) + "\" twice in one object"};
    if (error == json::error::too_deep)
        return {ErrorCode::Limit, "is nested deeper than " + std::to_string(builder.limits.depth) +
                                      " levels (limit json_depth)"};
    // The parser calls that a syntax error too, at the byte or in the middle of the character.
    if (const auto valid = valid_utf8_bytes(text); valid <= at && valid < text.size())
        return {ErrorCode::Protocol, "is not valid UTF-8 at byte " + std::to_string(valid + 1)};
    return {ErrorCode::Protocol,
            "is not valid JSON at byte " + std::to_string(at + 1) + ": " +
                (error == json::error::extra_data ? "more than one value" : error.message())};
}

const json::value* value_in(const json::object* object, std::string_view key) {
    return object ? object->if_contains({key.data(), key.size()}) : nullptr;
}

Result<json::value> parse(std::string_view text, JsonLimits limits, Huge huge,
                          json::storage_ptr storage = {}) {
    json::parse_options options;
    options.max_depth = limits.depth;
    alignas(json::value) unsigned char room[kRoomForValues];
    json::basic_parser<Builder> parser(options, room, sizeof room);
    Builder& builder = parser.handler();
    builder.limits = limits;
    builder.huge = huge;
    builder.values.reset(std::move(storage));
    json::error_code error;
    // Also of a view that points nowhere: the parser wants an address.
    const std::string_view given = text.empty() ? std::string_view("") : text;
    const std::size_t used = parser.write_some(false, given.data(), given.size(), error);
    if (!error && used < given.size()) error = json::error::extra_data;
    if (error) return unreadable(builder, error, used, given);
    return builder.values.release();
}

Result<json::object> object_of(Result<json::value> value) {
    if (!value) return value.error();
    auto* object = value->if_object();
    if (!object) return Error{ErrorCode::Protocol, "is not a JSON object"};
    return std::move(*object);
}

}  // namespace

Result<json::value> parse_json(std::string_view text, JsonLimits limits,
                               json::storage_ptr storage) {
    return parse(text, limits, Huge::IsRefused, std::move(storage));
}

Result<json::object> parse_json_object(std::string_view text, JsonLimits limits) {
    return object_of(parse_json(text, limits));
}

Result<void> check_json_object(std::string_view text, JsonLimits limits) {
    constexpr std::size_t kRoom = 8u << 10;
    unsigned char room[kRoom];
    json::monotonic_resource arena(room, sizeof room);
    const auto value = parse(text, limits, Huge::IsRefused, &arena);
    if (!value) return value.error();
    return value->is_object() ? Result<void>() : Error{ErrorCode::Protocol, "is not a JSON object"};
}

Result<json::object> read_json_object(std::string_view text, JsonLimits limits,
                                      json::storage_ptr storage) {
    return object_of(parse(text, limits, Huge::IsCut, std::move(storage)));
}

const json::object* object_in(const json::object* object, std::string_view key) {
    const auto* value = value_in(object, key);
    return value ? value->if_object() : nullptr;
}

const json::array* array_in(const json::object* object, std::string_view key) {
    const auto* value = value_in(object, key);
    return value ? value->if_array() : nullptr;
}

std::vector<std::string> texts_in(const json::object& object, std::string_view key) {
    std::vector<std::string> texts;
    if (const auto* list = array_in(&object, key))
        for (const auto& each : *list)
            if (const auto text = text_of(each)) texts.emplace_back(*text);
    return texts;
}

json::array array_of(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}

std::optional<std::string_view> text_in(const json::object* object, std::string_view key) {
    const auto* value = value_in(object, key);
    return value ? text_of(*value) : std::nullopt;
}

std::string string_in(const json::object& object, std::string_view key) {
    return std::string(text_in(&object, key).value_or(""));
}

std::optional<bool> flag_in(const json::object* object, std::string_view key) {
    const auto* value = value_in(object, key);
    const auto* flag = value ? value->if_bool() : nullptr;
    return flag ? std::optional(*flag) : std::nullopt;
}

std::optional<double> number_in(const json::object* object, std::string_view key) {
    const auto* value = value_in(object, key);
    return value ? number_of(*value) : std::nullopt;
}

std::optional<std::int64_t> integer_in(const json::object* object, std::string_view key) {
    const auto* value = value_in(object, key);
    return value ? integer_of(*value) : std::nullopt;
}

json::value plain_number(double number) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (std::abs(number) <= kExact && number == std::floor(number))
        return static_cast<std::int64_t>(number);
    return number;
}

json::value sorted_by_key(const json::value& value) {
    if (const auto* array = value.if_array()) {
        json::array copy;
        for (const auto& item : *array) copy.push_back(sorted_by_key(item));
        return copy;
    }
    const auto* object = value.if_object();
    if (!object) return value;
    std::map<std::string_view, const json::value*> members;
    for (const auto& member : *object) members.emplace(member.key(), &member.value());
    json::object copy;
    for (const auto& [key, member] : members) copy[key] = sorted_by_key(*member);
    return copy;
}

std::optional<std::string_view> text_of(const json::value& value) {
    const auto* text = value.if_string();
    if (!text) return std::nullopt;
    return std::string_view(text->data(), text->size());
}

std::optional<double> number_of(const json::value& value) {
    if (const auto* number = value.if_double()) return *number;
    if (const auto* number = value.if_int64()) return static_cast<double>(*number);
    if (const auto* number = value.if_uint64()) return static_cast<double>(*number);
    return std::nullopt;
}

std::optional<std::int64_t> integer_of(const json::value& value) {
    if (const auto* number = value.if_int64()) return *number;
    const auto* number = value.if_double();
    // -2^63 is a double, and so is 2^63: the first that no longer fits.
    constexpr double kTooLarge = 9223372036854775808.0;
    if (!number || !(*number >= -kTooLarge && *number < kTooLarge)) return std::nullopt;
    if (*number != std::trunc(*number)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::string pointer_token(std::string_view key) {
    std::string out = "/";
    for (const char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

std::string key_of_pointer_token(std::string_view token) {
    std::string out;
    for (std::size_t i = 0; i < token.size(); ++i) {
        const bool escape =
            token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
        if (!escape)
            out += token[i];
        else
            out += token[++i] == '0' ? '~' : '/';
    }
    return out;
}

std::size_t json_cost(std::string_view text) {
    std::size_t values = 1;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"')
            in_string = !in_string;
        else if (in_string)
            at += c == '\\';
        else
            values += c == ',' || c == '[' || c == '{';
    }
    return std::max(text.size(), values * kValueBytes);
}

}  // namespace patchbay::core
