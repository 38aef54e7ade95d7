// The one form that all ways to write a JSON value have in common: no space between its tokens, the members of each
// object in the order of their names, and no escape that is not needed. Numbers stay as they were written.
//
// Threads: [value]. Errors: none; `value` must be valid JSON, no deeper than a call stack bears.
#pragma once

#include <string>
#include <string_view>

namespace patchbay::protocol {

std::string canonical_json(std::string_view value);

}  // namespace patchbay::protocol
