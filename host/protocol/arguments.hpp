// What a person or a host answers to a schema: command-line text to typed values, named problems
// before anything is sent, and the defaults of an elicitation form.
//
// Threads: [value]. Errors: Invalid, naming the argument and what was expected.
// Source:  MCP server/tools (inputSchema), client/elicitation (requestedSchema).
#pragma once

#include "core/result.hpp"
#include "protocol/schema.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::protocol {

// `text` as the type that `input_schema` gives property `name`: numbers, booleans, null, arrays and
// objects as JSON, strings and choices as they are. Of several types a string is the last resort.
// Without a type: JSON if it is some, else the string.
Result<boost::json::value> coerce_argument(const boost::json::value& input_schema,
                                           const std::string& name, const std::string& text);

// What is wrong with `arguments`, in words for people: unknown names with the nearest, missing
// ones, wrong types. Empty: nothing, or the schema is beyond us, and the server is left to judge.
// A name that the schema does not list is wrong only where it says so (additionalProperties:
// false); elsewhere one that is near a known name is told beside what is wrong, which it may
// explain.
std::vector<std::string> check_arguments(const boost::json::value& input_schema,
                                         const boost::json::object& arguments);

// The same by that schema once it is compiled; `errors`: what it says of the arguments.
std::vector<std::string> told_for_people(const std::vector<SchemaError>& errors,
                                         const boost::json::value& input_schema,
                                         const boost::json::object& arguments);

// What check_arguments() leaves to the server: a schema that cannot be used, patterns that cannot
// be checked. Sentences for people; empty: it checks all.
std::vector<std::string> unchecked_in(const boost::json::value& input_schema);

// Arguments that the schema neither names nor forbids, which a misspelt one may be; they are sent. In
// sentences; empty where the schema may name them elsewhere, or says itself that others may come.
std::vector<std::string> undeclared_in(const boost::json::object& arguments,
                                       const boost::json::value& input_schema);

// The defaults of a requestedSchema; a required property without one gets its first choice (as many
// as must be, of several), false, or its smallest number, and is Invalid when it is free text. So
// is an answer that the schema itself would refuse.
Result<boost::json::object> defaults_for(const boost::json::value& requested_schema);

}  // namespace patchbay::protocol
