// How many descriptors a host that serves many may have open.
//
// Threads: the calling one, before there are others.
#pragma once

namespace patchbay::app {

// The kernel's table of them is made as large as it will have to be while there is one thread. Where threads share it,
// each of its growths waits until every processor has passed by, tens of milliseconds in all while many servers start.
void make_room_for_descriptors();

// As many as we may have, up to a number that is enough: the usual 1,024 are fewer than there may be
// clients.
void allow_descriptors();

}  // namespace patchbay::app
