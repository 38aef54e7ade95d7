// JSON as a person has to see it who approves of what others wrote.
//
// Threads: [any], pure. Errors: none; `value` is valid UTF-8.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <string_view>

namespace patchbay::app {

// With every character outside of printable ASCII as \uXXXX: a control character, a direction mark or a letter that looks
// like another one cannot hide.
std::string escaped(const boost::json::value& value);

// The text of that member as far as people are shown it; empty: it has none.
std::string printable_in(const boost::json::object& object, std::string_view key,
                         std::size_t most_bytes = 500);

// To be read, and behind it what letters it is made of where they are not all plain ones.
std::string visible(const boost::json::value& value);

}  // namespace patchbay::app
