// patchbay/cpp/base64.hpp - base64 and base64url of RFC 4648, sections 4 and 5. Nothing of the ABI is in
// it: the host reads and writes them by the same few lines. Header only, std only.
//
// Threads: [value].
#ifndef PATCHBAY_CPP_BASE64_HPP
#define PATCHBAY_CPP_BASE64_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::sdk {

class Base64Letters {
public:
    constexpr explicit Base64Letters(const char* last_two) {
        values_.fill(-1);
        constexpr std::string_view common =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        for (const char letter : common) add(letter);
        add(last_two[0]);
        add(last_two[1]);
    }

    // Without padding.
    std::string text_of(std::string_view bytes) const {
        std::string out;
        out.reserve((bytes.size() + 2) / 3 * 4);
        std::uint32_t bits = 0;
        unsigned held = 0;  // of `bits`, not written yet
        for (const char byte : bytes) {
            bits = bits << 8 | static_cast<unsigned char>(byte);
            for (held += 8; held >= 6; held -= 6) out += letters_[bits >> (held - 6) & 63];
        }
        if (held > 0) out += letters_[bits << (6 - held) & 63];
        return out;
    }
    // Nothing for a letter that is none of these, white space and padding too, or a length that no
    // bytes have.
    std::optional<std::string> bytes_of(std::string_view text) const {
        if (text.size() % 4 == 1) return std::nullopt;
        std::string out;
        out.reserve(text.size() * 3 / 4);
        std::uint32_t bits = 0;
        unsigned held = 0;
        for (const char letter : text) {
            const int value = values_[static_cast<unsigned char>(letter)];
            if (value < 0) return std::nullopt;
            bits = bits << 6 | static_cast<std::uint32_t>(value);
            if ((held += 6) >= 8) out += static_cast<char>(bits >> (held -= 8) & 0xFF);
        }
        return out;
    }

private:
    constexpr void add(char letter) {
        values_[static_cast<unsigned char>(letter)] = static_cast<signed char>(count_);
        letters_[count_++] = letter;
    }

    std::array<char, 64> letters_{};
    std::array<signed char, 256> values_{};
    std::size_t count_ = 0;
};

inline constexpr Base64Letters kBase64{"+/"}, kBase64Url{"-_"};

inline std::string base64(std::string_view bytes) {  // padded
    auto out = kBase64.text_of(bytes);
    out.append((4 - out.size() % 4) % 4, '=');
    return out;
}
// Padding may be missing.
inline std::optional<std::string> base64_decoded(std::string_view text) {
    for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding)
        text.remove_suffix(1);
    return kBase64.bytes_of(text);
}

// Without padding, and none is taken: two spellings of one signature would be two tokens.
inline std::string base64url(std::string_view bytes) {
    return kBase64Url.text_of(bytes);
}
inline std::optional<std::string> base64url_decoded(std::string_view text) {
    return kBase64Url.bytes_of(text);
}

}  // namespace patchbay::sdk

#endif
