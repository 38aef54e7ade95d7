// From argv to the verb that was written, which its own file declares (verb.hpp), and what is said of
// words that make no sense.
//
// Threads: the calling one.
#pragma once

namespace patchbay::app {

// Returns the exit code; see ExitCode in verbs.hpp.
int run_command_line(int argc, char** argv);

// The last thing of all: what was printed must have arrived, a full disk is no success. Says so on
// stderr, but not that nobody reads any more; returns `code`, or kFailure for a kOk that is none.
int delivered(int code);

}  // namespace patchbay::app
