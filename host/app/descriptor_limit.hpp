// How many descriptors a host that serves many may have open.
//
// Threads: the calling one, before there are others.
#pragma once

namespace patchbay::app {

// As many as we may have, up to a number that is enough: the usual 1,024 are fewer than there may be
// clients.
void allow_descriptors();

}  // namespace patchbay::app
