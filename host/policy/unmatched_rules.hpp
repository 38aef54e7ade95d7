// Rules that concern nothing: a misspelt name in a deny list forbids nothing, and nobody notices.
//
// Threads: [value]. Errors: none; each such rule is one warning with its place.
#pragma once

#include "config/config.hpp"

#include <map>
#include <string>
#include <vector>

namespace patchbay::policy {

// Raw names of all tools of each server whose list is known and whole.
using KnownTools = std::map<std::string, std::vector<std::string>>;

// Whether what agents are shown is looked at too: it is no matter of whoever comes as none.
enum class OfAgents { Yes, No };

// With nobody known: those that no server's list could make meaningful. Of [permissions], of servers and
// of what agents are shown.
std::vector<config::Diagnostic> unmatched_rules(const config::Config& config,
                                                const KnownTools& known,
                                                OfAgents of_agents = OfAgents::Yes);
// Whether there is any such rule at all: most configurations have none.
bool has_rules(const config::Config& config);
// Of what agents and bundles show and hide, alone.
std::vector<config::Diagnostic> unmatched_in_views(const config::Config& config,
                                                   const KnownTools& known);
// Of what that bundle shows and hides.
std::vector<config::Diagnostic> unmatched_in_bundle(const config::Config& config,
                                                    const KnownTools& known,
                                                    const config::Bundle& bundle);
// The same of patterns by which a client is shown tools, said by `option`.
std::vector<config::Diagnostic> unmatched_patterns(const config::Config& config,
                                                   const KnownTools& known,
                                                   const std::string& option,
                                                   const std::vector<std::string>& patterns);

}  // namespace patchbay::policy
