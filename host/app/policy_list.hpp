// `policy list`: what counts for each tool that is known and by which rule, and what was answered when a rule asked.
//
// Threads: one. Errors: told; the exit code.
#pragma once

#include "app/policy_targets.hpp"
#include "app/verb.hpp"
#include "service/decision_file.hpp"

#include <vector>

namespace patchbay::app {

class Session;

// What a host that runs holds in its memory; none: nobody runs one. That it cannot be asked is told.
std::vector<service::Decision> session_answers(Session& session);

int list_policy(const GlobalOptions& global, const PolicyWords& words);

}  // namespace patchbay::app
