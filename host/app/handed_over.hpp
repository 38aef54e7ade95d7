// Sockets that systemd has opened before it started us, and hands over.
//
// Threads: one, before anything else opens a descriptor. Errors: none: what is not ours is left alone.
// Source:  sd_listen_fds(3): LISTEN_PID, LISTEN_FDS, descriptors from 3 on.
#pragma once

#include "core/descriptor.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

struct HandedOver {
    core::Descriptor socket;  // close-on-exec and non-blocking
    std::string path;         // that it listens at; empty: it is no Unix stream socket that listens
};

// Once: the variables are gone from then on, so that no server takes them for its own. Empty: there are none.
std::vector<HandedOver> take_handed_over();

}  // namespace patchbay::app
