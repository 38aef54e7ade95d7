// The tables of [agents]: each read by itself, and judged by the servers that there are.
//
// Threads: [any], pure. Errors: diagnostics; what may have been meant to hide something is Agent::fault too.
// Source:  config/README.md; decisions/0035-what-a-client-is-shown.md.
#pragma once

#include "config/fragment.hpp"
#include "core/text.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

// `hints`: what may be spent on nearest names. Diagnostics go to `told`.
Agent read_agent(const Member& table, const Source& source, core::Effort& hints,
                 std::vector<Diagnostic>& told);

// A server that is not there is shown to nobody, which is safe and seldom meant.
void tell_strange_servers(const Agent& agent, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told);

}  // namespace patchbay::config
