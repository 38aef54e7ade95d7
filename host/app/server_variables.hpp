// Which variables of ours a server is given, or stand in its definition as `${NAME}`.
//
// Threads: [any], pure.
#pragma once

#include "registry/server_spec.hpp"

#include <set>
#include <string>

namespace patchbay::app {

// Whether they are set or not.
std::set<std::string> variables_of(const registry::ServerSpec& spec);

}  // namespace patchbay::app
