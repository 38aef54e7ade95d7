// Secrets in clear text in files that git tracks: whoever has the checkout has them too.
//
// Threads: the calling one; blocks for the disk.
#pragma once

#include "config/config.hpp"

namespace patchbay::app {

// A warning for each, of servers that count and of those that wait for an approval.
void tell_tracked_secrets(config::Config& config);

}  // namespace patchbay::app
