// Rules that match no tool of the servers that one caller has come to, as far as these have listed theirs: what
// a host of its own would say to it.
//
// Threads: [loop]. Errors: none.
#pragma once

#include "service/servers.hpp"

#include <vector>

namespace patchbay::app {

std::vector<config::Diagnostic> rule_warnings(const service::Servers& servers,
                                              const connection::Caller& caller);
// Of these servers alone.
std::vector<config::Diagnostic> rule_warnings(const service::Servers& servers,
                                              const std::vector<std::string>& ids);

}  // namespace patchbay::app
