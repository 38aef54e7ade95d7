// What of a rule that has a fault makes sense: whoever keeps to what was in force before, as a file has a fault, lets
// count what that file forbids in words that can be read.
//
// Threads: [any], pure. Errors: none; what makes no sense is told by who reads it.
#pragma once

#include "config/compile.hpp"
#include "config/config.hpp"
#include "config/keys.hpp"

#include <string>

namespace patchbay::config {

// Of a server that a fault leaves out.
Config::Faulty readable_rules(const std::string& id, const Settled& settled);

// Of a key of [permissions] that cannot be taken as a whole.
void take_readable(const TableKey& key, const Node& value, Permissions& into);

}  // namespace patchbay::config
