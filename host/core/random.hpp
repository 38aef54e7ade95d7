// Bytes that nobody guesses.
//
// Threads: [any]. Errors: none; without them nothing goes on (std::system_error).
#pragma once

#include <cstddef>
#include <string>

namespace patchbay::core {

std::string random_hex(std::size_t bytes);  // two digits each

}  // namespace patchbay::core
