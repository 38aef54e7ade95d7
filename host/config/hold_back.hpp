// What a checkout's overlay may not loosen of a server that somebody else defines.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

// Takes back what loosens, and says what that was: what an overlay forbids counts all the same.
// Of an untrusted server only what a rule names can be called, so there a new name allows.
// `held`: the keys, and "tools.NAME", of which nothing is left.
std::vector<std::string> hold_back(const Server& before, Server& after, bool naming_allows,
                                   std::set<std::string>& held);

// How much that word of `pins` lets a server list otherwise than it was approved; more is freer. What stands nowhere is
// blocked where somebody stands behind it, so that only "block" is stricter.
int freedom_of_pins(std::string_view pins);

}  // namespace patchbay::config
