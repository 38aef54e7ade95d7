// What becomes of a record when somebody approves, or uses for the first time, what a server lists.
//
// Pure. Threads: [any]. Errors: Limit.
#pragma once

#include "core/result.hpp"
#include "pins/listed.hpp"
#include "pins/record.hpp"

#include <cstdint>
#include <vector>

namespace patchbay::pins {

// These were used or approved: they are pinned as they are listed, and all else of their server that nobody has seen yet
// is noted beside them as seen. What was pinned before stays where this is but a use: an approval takes its place.
Result<Record> with_items(Record record, const Listed& listed, const std::vector<Name>& names,
                          Basis basis, std::int64_t at);

// All that is listed is approved, and what is not any more is forgotten. Parts that are not known stay.
Result<Record> with_all(Record record, const Listed& listed, std::int64_t at);

}  // namespace patchbay::pins
