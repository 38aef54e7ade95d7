// Switches in tables that nobody knows (`[u] enabled = false`): of the servers that each names.
//
// Threads: [any], pure. Errors: diagnostics of the fragment that has the switch.
// Source:  config/README.md, "A broken file".
#pragma once

#include "config/fragment.hpp"

#include <vector>

namespace patchbay::config {

// A stray switch that names a server, nearly too, by its id or as it is written, takes that server
// down: as an overlay that cannot be understood. Of all else it is only told.
void settle_stray_switches(std::vector<Fragment>& fragments);

}  // namespace patchbay::config
