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

// Empty: no header is one that the server's transport keeps to itself. Its schema says which:
// `x-patchbay-reserved` of the property `headers`.
std::string trouble_with_headers(const Server& server, const boost::json::value& schema);

// A token that a program, which gets no header, would never see: the key, and what to write. Empty:
// none.
std::pair<std::string, std::string> lost_token(const Server& server, const Config& config);

}  // namespace patchbay::config
