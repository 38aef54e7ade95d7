// The key that session ids and request states of the gateway are sealed with: made once, kept for this user alone, so
// that a gateway which is started anew goes on with the sessions of the one before.
//
// Threads: [any]; blocks for the disk.
// Errors:  Denied and Limit with the path: what is there is not believed. A disk that takes nothing is
//          none: the log says so, and the key is this process's alone.
#pragma once

#include "core/result.hpp"

#include <string>

namespace patchbay::app {

struct GatewayKey {
    std::string text;
    bool kept = false;  // another process will find it
};
Result<GatewayKey> gateway_key(const std::string& state_directory);

}  // namespace patchbay::app
