// Levels of the log, as a command line names them.
//
// Threads: [value].
#pragma once

namespace patchbay::app {

inline constexpr const char* kLogLevels[] = {"trace", "debug", "info", "warn", "error", "off"};

}  // namespace patchbay::app
