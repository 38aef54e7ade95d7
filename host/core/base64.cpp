#include "core/base64.hpp"

#include <array>

namespace patchbay::core {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kValues = [] {
    std::array<signed char, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kDigits.size(); ++i)
        values[static_cast<unsigned char>(kDigits[i])] = static_cast<signed char>(i);
    return values;
}();

}  // namespace

std::string base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t n) {
            return i + n < bytes.size() ? static_cast<unsigned char>(bytes[i + n]) : 0u;
        };
        const unsigned group = byte(0) << 16 | byte(1) << 8 | byte(2);
        out += kDigits[group >> 18];
        out += kDigits[group >> 12 & 63];
        out += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
        out += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
    }
    return out;
}

Result<std::string> base64_decoded(std::string_view text) {
    const Error refused{ErrorCode::Protocol, "the data is not base64"};
    for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding)
        text.remove_suffix(1);
    if (text.size() % 4 == 1) return refused;
    std::string out;
    out.reserve(text.size() * 3 / 4);
    unsigned bits = 0, kept = 0;
    for (const char c : text) {
        const int value = kValues[static_cast<unsigned char>(c)];
        if (value < 0) return refused;
        bits = bits << 6 | static_cast<unsigned>(value);
        if ((kept += 6) >= 8) out += static_cast<char>(bits >> (kept -= 8) & 0xFF);
    }
    return out;
}

}  // namespace patchbay::core
