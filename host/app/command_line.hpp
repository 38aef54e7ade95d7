// From argv to a verb: the only source that knows CLI11. Verbs are plain functions over option
// structs (verbs.hpp), so that they can be called and tested without a command line.
#pragma once

namespace patchbay::app {

// Returns the exit code; see ExitCode in verbs.hpp.
int run_command_line(int argc, char** argv);

// The last thing of all: what was printed must have arrived, a full disk is no success. Says so on
// stderr, but not that nobody reads any more; returns `code`, or kFailure for a kOk that is none.
int delivered(int code);

}  // namespace patchbay::app
