// What a configuration comes to, as one digest: two processes with the same one start the same servers in the
// same way, judge calls by the same rules and say the same about both. In it are also the places where
// things are written, what is wrong, which files commands lead to, and what the variables hold that servers are given or
// that stand in `${...}`. How much is logged is not.
//
// Threads: [any]; looks for files. Errors: none.
#pragma once

#include "config/load.hpp"
#include "registry/snapshot.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

std::string configuration_digest(const registry::Snapshot& snapshot,
                                 const config::Environment& environment);

// Which variables of those who start a host go on to servers, or stand in `${...}`, without what every service has;
// only those that are set here.
std::vector<std::string> variables_given(const registry::Snapshot& snapshot);

// Whether a server, or a root that it is offered, is another one in another working folder.
bool minds_the_folder(const registry::Snapshot& snapshot);

}  // namespace patchbay::app
