// A key of this user's in the state directory: made once, kept for this user alone, so that what one process has sealed or
// signed another one can open.
//
// Threads: [any]; blocks for the disk.
// Errors:  Denied and Limit with the path: what is there is not believed. Io, Timeout: it cannot be kept, or is
//          being made for longer than `wait`.
#pragma once

#include "core/result.hpp"

#include <chrono>
#include <string>

namespace patchbay::core {

inline constexpr std::size_t kKeyBytes = 32;  // twice as many hex digits

// The one in the file `name`, which is made where there is none.
Result<std::string> kept_key(const std::string& state_directory, const std::string& name,
                             std::chrono::milliseconds wait);

}  // namespace patchbay::core
