// JSON text written straight into strings: the answers of this server are spliced, not serialised
// from trees, so that a benchmark measures its client and not this program.
//
// Threads: [value]. Errors: none.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace example {

// Appends a JSON string literal with its quotes. `text` is UTF-8 already (it came from a parser).
void append_quoted(std::string& out, std::string_view text);
std::string quoted(std::string_view text);

// The id of a request, as it is written: a number or a string. Anything else: empty.
std::string raw_id(const boost::json::value* id);

// The member of an object that has this type; null when there is none.
const boost::json::object* object_in(const boost::json::object& object, std::string_view key);
const boost::json::string* string_in(const boost::json::object& object, std::string_view key);
// A member of any number type, or `otherwise`.
double number_in(const boost::json::object& object, std::string_view key, double otherwise);

}  // namespace example
