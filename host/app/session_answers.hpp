// What was answered for as long as a session lasts, of the host that runs: it is in its memory alone.
//
// Threads: one. Errors: a host that cannot be asked is told of, and counts as one that has none.
#pragma once

#include "app/session.hpp"
#include "service/decision_file.hpp"

#include <vector>

namespace patchbay::app {

// None: nobody runs one.
std::vector<service::Decision> session_answers(Session& session);

}  // namespace patchbay::app
