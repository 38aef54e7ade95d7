// Directories for what is nobody else's business.
//
// Threads: [any].
#pragma once

#include <string>

namespace patchbay::core {

// Makes `path` and what is missing above it, each with mode 0700 (XDG base directories ask for
// that). What is there already stays as it is. False, with errno: it could not be made.
bool make_private_directory(const std::string& path);

}  // namespace patchbay::core
