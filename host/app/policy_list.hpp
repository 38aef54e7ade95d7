// `policy list`: what counts for each tool that is known and by which rule, and what was answered when a rule asked.
//
// Threads: one. Errors: told; the exit code.
#pragma once

#include "app/policy_targets.hpp"
#include "app/verb.hpp"

namespace patchbay::app {

int list_policy(const GlobalOptions& global, const PolicyWords& words);

}  // namespace patchbay::app
