// Runs a command in our place: with our terminal and descriptors, the signals that we get passed on, and its end as ours.
//
// Threads: the calling one; while it runs nobody else may take signals.
// Errors:  NotFound where there is no such program, Io where it cannot be started.
#pragma once

#include "core/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace patchbay::app {

// Its exit code; 128 and the number of the signal that ended it. `variables` are set beside ours. It ends with SIGTERM
// where we are killed.
Result<int> run_command(const std::vector<std::string>& words,
                        const std::map<std::string, std::string>& variables);

}  // namespace patchbay::app
