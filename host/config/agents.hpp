// The tables of [agents]: each read by itself, and judged by the servers that there are.
//
// Threads: [any], pure. Errors: diagnostics; what may have been meant to hide something is Agent::fault too.
// Source:  config/README.md; decisions/0035-what-a-client-is-shown.md.
#pragma once

#include "config/fragment.hpp"
#include "core/result.hpp"
#include "core/text.hpp"

#include <map>
#include <string>
#include <vector>

namespace patchbay::config {

// `hints`: what may be spent on nearest names. Diagnostics go to `told`.
Agent read_agent(const Member& table, const Source& source, core::Effort& hints,
                 std::vector<Diagnostic>& told);

// `agents.NAME` among the servers of one becomes what that one has; one that leads round, or to nobody, is a fault of
// its agent. A name as a file has it (`names`) becomes the id.
void settle_picks(std::map<std::string, Agent>& agents,
                  const std::map<std::string, Config::Named>& names, core::Effort& hints,
                  std::vector<Diagnostic>& told);

// Disabled ones too. Invalid: why it cannot be used; NotFound with the nearest.
Result<const Agent*> agent_named(const Config& config, const std::string& name);

// Those of its servers that nobody defines here, beside what tell_strange_servers() has told: a person may name those of
// all their checkouts, so that this is for whoever asks about the agent itself.
std::vector<Diagnostic> missing_servers(const Config& config, const Agent& agent);

// A server that is not there is shown to nobody, which is safe and seldom meant. Of one that is nearly another.
void tell_strange_servers(const Agent& agent, const std::vector<std::string>& defined,
                          core::Effort& hints, std::vector<Diagnostic>& told);

}  // namespace patchbay::config
