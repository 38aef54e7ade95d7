// What a server says of a tool, as one number: another one whenever any of it is another, the same however it is written.
//
// Threads: [value]. Errors: none.
#pragma once

#include "protocol/tool.hpp"

#include <string>

namespace patchbay::protocol {

// SHA-256 in hex over the canonical form (canonical_json.hpp) of its whole definition, its name among it.
std::string tool_digest(const Tool& tool);

}  // namespace patchbay::protocol
