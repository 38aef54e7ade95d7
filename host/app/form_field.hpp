// One field of an elicitation form: how it is put to a person, and the value that their line means.
//
// Threads: [value]. Errors: Invalid, in words for that person.
// Source:  MCP client/elicitation (requestedSchema).
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>

namespace patchbay::app {

// "age (Your age; integer, at least 1, required) [30]:": name, title, description, type, limits,
// choices and default, as far as the form gives them.
std::string shown_field(const boost::json::object& form, const std::string& name);

// "1 to 10", "at most 80 characters, pattern ^[a-z]+$": the limits of a property of a JSON Schema; empty: it has none.
std::string shown_limits(const boost::json::object& property);

// What the line means; none: it is empty and the field may be left out. Yes and no have several
// spellings, a list is JSON or has commas, formats are looked at roughly.
Result<boost::json::value> field_value(const boost::json::object& form, const std::string& name,
                                       const std::string& line);

bool is_required(const boost::json::object& form, const std::string& name);

}  // namespace patchbay::app
