// Reading JSON beside its text, by who passes the text itself on and only wants to know something of it.
//
// A number that no double holds is read as the largest that one does, where parse_json refuses it:
// what was read is not to be written again.
//
// Threads: [any], no state. Errors: those of parse_json, but for such numbers.
#pragma once

#include "core/json.hpp"

namespace patchbay::core {

// In `storage`, which outlives it and its copies.
Result<boost::json::object> read_json_object(std::string_view text, JsonLimits limits = {},
                                             boost::json::storage_ptr storage = {});

}  // namespace patchbay::core
