#include "core/text.hpp"

#include <algorithm>

namespace patchbay::core {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Optimal string alignment: insert, delete, replace, swap of neighbours cost one each.
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                current[j] = std::min(current[j], before[j - 2] + 1);
            }
        }
        before.swap(previous);
        previous.swap(current);
    }
    return previous[b.size()];
}

// Length of the valid code point at the front of `text`, 0 when it is not one; `value` is set.
std::size_t code_point(std::string_view text, char32_t& value) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        value = first;
        return 1;
    }
    const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                               : (first & 0xF0) == 0xE0         ? 3
                               : first >= 0xF0 && first <= 0xF4 ? 4
                                                                : 0;
    if (length == 0 || text.size() < length) return 0;
    value = first & (0xFF >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
        value = value << 6 | (byte(i) & 0x3F);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    return overlong || surrogate || value > 0x10FFFF ? 0 : length;
}

// Moves the cursor, hides text or turns its direction on a terminal.
bool is_unsafe(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C || c == 0xFEFF;
}

}  // namespace

std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, std::size_t most) {
    std::vector<std::pair<std::size_t, std::string>> near;
    const std::size_t reach = std::max<std::size_t>(1, wanted.size() / 3);
    if (wanted.size() > 512) return {};
    for (const auto& candidate : candidates) {
        const auto gap = candidate.size() > wanted.size() ? candidate.size() - wanted.size()
                                                          : wanted.size() - candidate.size();
        if (gap > reach) continue;
        const auto distance = edits(wanted, candidate);
        if (distance <= reach) near.emplace_back(distance, candidate);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (auto& [distance, name] : near) {
        if (names.size() == most) break;
        names.push_back(std::move(name));
    }
    return names;
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates) {
    const auto names = nearest(wanted, candidates);
    if (names.empty()) return {};
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += "\"" + names[i] + "\"";
    }
    return text + "?";
}

std::string printable(std::string_view text, std::size_t most_bytes, bool lines) {
    std::string out;
    out.reserve(std::min(text.size(), most_bytes));
    while (!text.empty()) {
        char32_t value = 0;
        const std::size_t length = code_point(text, value);
        const bool keep =
            length > 0 && (!is_unsafe(value) || (lines && (value == '\n' || value == '\t')));
        const std::string_view piece = keep ? text.substr(0, length) : kReplacement;
        if (out.size() + piece.size() > most_bytes) break;
        out += piece;
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    return out;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes) {
    if (text.size() <= most_bytes) return text;
    std::size_t end = most_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end);
}

bool valid_utf8(std::string_view text) {
    while (!text.empty()) {
        char32_t value = 0;
        const std::size_t length = code_point(text, value);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string duration(std::chrono::milliseconds time) {
    const auto count = time.count();
    return count % 1000 == 0 && count > 0 ? std::to_string(count / 1000) + " s"
                                          : std::to_string(count) + " ms";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += separator;
        text += parts[i];
    }
    return text;
}

}  // namespace patchbay::core
