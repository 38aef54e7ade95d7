// What of the HTTP head that a client's request came with goes on with that request, and with no other.
//
// Threads: [value].
#pragma once

#include "connection/reply.hpp"

#include <string>

namespace patchbay::gateway {

struct CarriedHead {
    connection::ClientHeaders headers;  // that a server's configuration names; null: none
    std::string trace;                  // raw members of `_meta`; empty: none
};

}  // namespace patchbay::gateway
