// Secret references: where a value is kept elsewhere and fetched at connect time.
//
// Threads: [any]; secret_from_command blocks its caller, at most kCommandTime.
// Errors:  Result, never with a byte of the secret in it.
#pragma once

#include "core/result.hpp"

#include <chrono>
#include <string>

namespace patchbay::config {

inline constexpr std::size_t kSecretBytes = 64u << 10;
inline constexpr std::chrono::seconds kCommandTime{10};

// The file without its last newline.
Result<std::string> secret_from_file(const std::string& path);

// First line of what the command prints. `command` is split at spaces and run without a shell.
Result<std::string> secret_from_command(const std::string& command,
                                        std::chrono::milliseconds deadline = kCommandTime);

}  // namespace patchbay::config
