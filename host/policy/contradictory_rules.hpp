// Rules that allow what others forbid, so that they never count: whoever wrote one would look for the mistake elsewhere.
// Found by asking the policy itself about what each of them names.
//
// Threads: [any], pure. Errors: none; each such rule is one warning with both places.
// Limits:  kMostContradictions are told of.
// Source:  config/README.md, "What a call needs".
#pragma once

#include "config/config.hpp"

#include <cstddef>
#include <vector>

namespace patchbay::policy {

inline constexpr std::size_t kMostContradictions = 20;

// Of levels of servers that are on, of their enabled_tools and of [permissions] allow.
std::vector<config::Diagnostic> contradictory_rules(const config::Config& config);

}  // namespace patchbay::policy
