// What a person has to know of a resource template (RFC 6570) to fill it in: which variables it
// has, and whether a URI may have come of it.
//
// Threads: [value]. Errors: none; what is no template has no variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

// The names in its expressions, in order, without operators and modifiers: {/owner*,name:3}.
std::vector<std::string> template_variables(std::string_view uri_template);

// Whether the literal parts stand in `uri` in their order, whatever is between them. Enough for a
// hint; which values an expression can have differs by its operator.
bool may_come_of(std::string_view uri, std::string_view uri_template);

}  // namespace patchbay::protocol
