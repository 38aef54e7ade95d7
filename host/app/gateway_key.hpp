// The key that session ids of the gateway are sealed with: made once, kept for this user alone, so
// that a gateway which is started anew goes on with the sessions of the one before.
//
// Threads: [any]; blocks for the disk.
// Errors:  Denied and Io with the path: what is there is not believed, or nothing can be kept.
#pragma once

#include "core/result.hpp"

#include <string>

namespace patchbay::app {

Result<std::string> gateway_key(const std::string& state_directory);

}  // namespace patchbay::app
