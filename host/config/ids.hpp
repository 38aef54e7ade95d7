// Names of servers as other programs write them ("My Server", "@org/x", "a__b") to ids that can
// stand in a public tool name.
//
// Threads: [any], pure.
#pragma once

#include "config/fragment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

inline constexpr std::size_t kIdBytes = 64;

// 1 to kIdBytes letters, digits, "-" and "_", without "__" and without "_" at the end: what comes
// before the first "__" of mcp__ID__TOOL is the id, and nobody else's.
bool valid_id(std::string_view id);

// What is left of a name without letter case, `-`, `_`, `.`, blanks and letters that nobody sees:
// whoever writes one of two such names means the other.
std::string bare_name(std::string_view name);

// Gives every named server an id: its name where that is one already, else what is left of the name
// with "-" for the rest, and six digits of its hash, or more, where that is not enough to tell it from
// others. The name is kept in ServerEntry::written. The same names get the same ids in every file.
//
// Enterprise, session, user, followed and plugin files come first, in this order, then those of a checkout: none
// changes an id that one before it has given. Among the files of one scope a name that is an id keeps
// it. An entry that adjusts a server and may mean several is copied for each; but for the first they
// only forbid (ServerEntry::only_forbids). A second call changes nothing.
void settle_ids(std::vector<Fragment>& fragments);

}  // namespace patchbay::config
