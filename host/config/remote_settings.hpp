// What can be said of a server's address, headers and token without asking the network: what its
// transport would refuse, and what would reach nothing.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"

#include <string>
#include <utility>

namespace patchbay::config {

// Empty: `url` can be what the server's transport connects to, or waits for `${...}`. Repeats nothing
// of the address, which may hold a password.
std::string trouble_with_url(const Server& server);

// Empty: no header is one that the usual transports set themselves.
std::string trouble_with_headers(const Server& server);

// A token that a program, which gets no header, would never see: the key, and what to write. Empty:
// none.
std::pair<std::string, std::string> lost_token(const Server& server, const Config& config);

}  // namespace patchbay::config
