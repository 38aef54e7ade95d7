// Letters of ASCII, whatever the locale: header names, schemes, token types.
//
// Threads: [value].
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace patchbay::ascii {

constexpr char lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte | 0x20) : byte;
}

inline std::string lower(std::string_view text) {
    std::string lowered(text);
    for (auto& byte : lowered) byte = lower(byte);
    return lowered;
}

// But for capitals.
inline bool same(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char one, char other) { return lower(one) == lower(other); });
}

}  // namespace patchbay::ascii
