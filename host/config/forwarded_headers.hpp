// forward_headers: which headers of a client's HTTP request go on to a server with that request.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"
#include "config/node.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

inline constexpr std::size_t kMostForwardedHeaders = 16;

// As Take of keys.hpp: names in lower case, each once.
std::string take_forwarded_headers(std::vector<std::string>& target, const Node& value);

// Takes out what can have no effect: all of them where the server's transport is not HTTP, and those
// that its own `headers` set. What is wrong with it, to be told; empty: nothing.
std::string without_vain_headers(Server& server);

}  // namespace patchbay::config
