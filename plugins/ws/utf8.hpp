// Whether bytes are UTF-8, as text messages must be. Private to the ws plugin.
//
// Threads: [value]. Follows: RFC 3629: nothing overlong, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace patchbay::ws {

inline bool is_utf8(std::string_view text) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = at(i);
        if (first < 0x80) {
            ++i;
            continue;
        }
        const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
        if (first < 0xc2 || first > 0xf4 || text.size() - i < size) return false;
        const unsigned second = at(i + 1);
        const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (second < least || second > most) return false;
        for (std::size_t k = 2; k < size; ++k)
            if ((at(i + k) & 0xc0) != 0x80) return false;
        i += size;
    }
    return true;
}

}  // namespace patchbay::ws
