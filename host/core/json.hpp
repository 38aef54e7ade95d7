// The one door for JSON text: everything the host reads as a tree of values comes through here.
//
// Its bounds are ours and named in limits.hpp, not the library's defaults: nesting, how many values
// there are, which as a tree take a multiple of their text, and the work that objects of many members
// may cause. The library's table of members can be filled so that
// every key meets all others, and then reading takes the square of their number. A number that no
// double holds is refused too: what was read can be written again.
//
// The getters neither throw nor assume: what another program wrote may have any shape. Member
// functions of Boost.JSON that throw (`as_object()`, `value_to`) are not used in the host;
// scripts/check_layers sees to it.
//
// Threads: [any], no state.
// Errors:  Protocol for bad syntax, Limit with the limit's name, Invalid for a repeated key. The
//          message is a predicate, "is not valid JSON at byte 7: ...", for the caller's subject.
#pragma once

#include "core/limits.hpp"
#include "core/result.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::core {

struct JsonLimits {
    std::size_t depth = Limits{}.json_depth;
    std::size_t values = kMostJsonValues;
    std::size_t crowding = kMostJsonCrowding;
    bool unique_keys = false;  // else the last of equal keys counts
};

// In `storage`, which outlives it and its copies.
Result<boost::json::value> parse_json(std::string_view text, JsonLimits limits = {},
                                      boost::json::storage_ptr storage = {});
// The same for text that has to be an object.
Result<boost::json::object> parse_json_object(std::string_view text, JsonLimits limits = {});
// Whether that would have one, for who needs none yet: half the price.
Result<void> check_json_object(std::string_view text, JsonLimits limits = {});

// For text that this user wrote, which may be as dense as it likes.
inline constexpr std::size_t kAnyNumberOfValues = std::numeric_limits<std::size_t>::max();

// What text costs that is read: its bytes, or kValueBytes for each value in it where that is more. A
// tree of many small values takes a multiple of their text.
inline constexpr std::size_t kValueBytes = 64;
std::size_t json_cost(std::string_view text);

// Null or nullopt: absent, or of another kind. `object` may be null itself.
const boost::json::object* object_in(const boost::json::object* object, std::string_view key);
const boost::json::array* array_in(const boost::json::object* object, std::string_view key);
std::optional<std::string_view> text_in(const boost::json::object* object, std::string_view key);
std::string string_in(const boost::json::object& object, std::string_view key);  // empty: none
std::optional<bool> flag_in(const boost::json::object* object, std::string_view key);
std::optional<double> number_in(const boost::json::object* object, std::string_view key);
// Numbers without a fraction that an int64 can hold, however they were written: 1, 1.0, 1e3.
std::optional<std::int64_t> integer_in(const boost::json::object* object, std::string_view key);

std::vector<std::string> texts_in(const boost::json::object& object,
                                  std::string_view key);  // what is none is left out
boost::json::array array_of(const std::vector<std::string>& texts);

// As people write it where it is whole: Boost.JSON writes every double as 1E0.
boost::json::value plain_number(double number);

// The same value, whatever order its members were written in: for digests of what has no order.
boost::json::value sorted_by_key(const boost::json::value& value);

std::optional<std::string_view> text_of(const boost::json::value& value);
std::optional<double> number_of(const boost::json::value& value);
std::optional<std::int64_t> integer_of(const boost::json::value& value);

// A key as a token of a JSON pointer, with the slash before it, and back without one (RFC 6901).
std::string pointer_token(std::string_view key);
std::string key_of_pointer_token(std::string_view token);

}  // namespace patchbay::core
