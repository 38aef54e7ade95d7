#include "encoding.hpp"

#include <algorithm>
#include <cctype>

namespace patchbay::oauth {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool unreserved(unsigned char byte) {
    return std::isalnum(byte) || byte == '-' || byte == '.' || byte == '_' || byte == '~';
}

int hex_digit(char digit) {
    const auto at = kHex.find(static_cast<char>(std::toupper(static_cast<unsigned char>(digit))));
    return at == kHex.npos ? -1 : static_cast<int>(at);
}

std::string form_decoded(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool escape = text[at] == '%' && at + 2 < text.size() &&
                            hex_digit(text[at + 1]) >= 0 && hex_digit(text[at + 2]) >= 0;
        if (escape) {
            out += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
            at += 2;
        } else {
            out += text[at] == '+' ? ' ' : text[at];
        }
    }
    return out;
}

}  // namespace

std::string form_encode(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (unreserved(byte)) {
            out += letter;
        } else {
            out += '%';
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out;
}

std::string form_encode(const Form& form) {
    std::string out;
    for (const auto& [name, value] : form) {
        if (!out.empty()) out += '&';
        out += form_encode(name) + "=" + form_encode(value);
    }
    return out;
}

Form form_decode(std::string_view text) {
    Form form;
    while (!text.empty()) {
        const auto pair = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), pair.size() + 1));
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        const auto value = equals == pair.npos ? std::string_view() : pair.substr(equals + 1);
        form.emplace_back(form_decoded(pair.substr(0, equals)), form_decoded(value));
    }
    return form;
}

std::optional<std::string> only(const Form& form, std::string_view name) {
    std::optional<std::string> found;
    for (const auto& [key, value] : form) {
        if (key != name) continue;
        if (found) return std::nullopt;
        found = value;
    }
    return found;
}

std::string printable(std::string_view text) {
    constexpr std::size_t most = 200;
    std::string out;
    for (const char letter : text) {
        if (out.size() >= most) return out + "...";
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && byte < 0x7F) {
            out += letter;
        } else {
            out += "\\x";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out;
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!word.empty() && std::find(out.begin(), out.end(), word) == out.end())
            out.emplace_back(word);
    }
    return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    std::string out;
    for (const auto& part : parts) {
        if (!out.empty()) out += between;
        out += part;
    }
    return out;
}

}  // namespace patchbay::oauth
