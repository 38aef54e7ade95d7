// SHA-256, the only hash we use, and what is made of it. The door to libcrypto.
//
// Threads: [any], no state.
#pragma once

#include "core/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace patchbay::core {

inline constexpr std::size_t kSha256Digits = 64;  // of one, in hex

std::string sha256_hex(std::string_view bytes);                             // in lower case
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);  // RFC 2104
// Takes as long wherever they differ.
bool same_secret(std::string_view a, std::string_view b);
Result<std::string> sha256_hex_of_descriptor(int fd);  // whole file from offset 0; offset unchanged

}  // namespace patchbay::core
