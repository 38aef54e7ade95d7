#include "core/text.hpp"

#include "core/secrets.hpp"
#include "core/spelling.hpp"

#include <algorithm>

namespace patchbay::core {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kLineBreak =
    "\xE2\x86\xB5";  // U+21B5: what was several lines is seen to be

// Of names that are too long for a Spelling.
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

// Moves the cursor, turns the direction of text, or is not seen at all, so that a reader and a model
// read different things: controls, marks of direction, separators of lines and paragraphs, spaces
// without width, fillers, tags and the supplement of variation selectors.
bool is_unsafe(char32_t c) {
    struct Range {
        char32_t from, to;
    };
    constexpr Range kUnsafe[] = {
        {0x00, 0x1F},       {0x7F, 0x9F},      {0xAD, 0xAD},     {0x034F, 0x034F}, {0x061C, 0x061C},
        {0x115F, 0x1160},   {0x17B4, 0x17B5},  {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E},
        {0x2060, 0x206F},   {0x3164, 0x3164},  {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF9, 0xFFFB},
        {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
    return std::any_of(std::begin(kUnsafe), std::end(kUnsafe),
                       [c](const Range& range) { return c >= range.from && c <= range.to; });
}

// Zero-width joiner and non-joiner say how the letters of some scripts are joined, and which emoji are
// one: between two of these they are seen. Elsewhere they are not.
bool is_joined(char32_t c) {
    return (c >= 0x0620 && c <= 0x08FF) || (c >= 0x0900 && c <= 0x0DFF) ||
           (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17B3) ||
           (c >= 0x2190 && c <= 0x2BFF) || c == 0xFE0F || (c >= 0x1F000 && c <= 0x1FAFF);
}

// Length of a joiner at the front of `text` with what it joins to `before`, whose code point is set;
// 0: there is none that is seen.
std::size_t joiner(char32_t before, std::string_view text, char32_t& joined) {
    char32_t mark = 0;
    const std::size_t length = code_point(text, mark);
    if ((mark != 0x200C && mark != 0x200D) || !is_joined(before)) return 0;
    text.remove_prefix(length);
    const std::size_t next = text.empty() ? 0 : code_point(text, joined);
    return next > 0 && is_joined(joined) ? length + next : 0;
}

constexpr char kDigits[] = "0123456789abcdef";

void append_escape(std::string& out, unsigned unit) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[unit >> shift & 15];
}

// Bytes up to the last `__` that both begin with: what mcp__git__log and mcp__git__add share makes them no nearer.
std::size_t shared_parts(std::string_view a, std::string_view b) {
    const auto both = std::min(a.size(), b.size());
    const auto end = std::mismatch(a.begin(), a.begin() + both, b.begin()).first;
    const auto mark = a.substr(0, static_cast<std::size_t>(end - a.begin())).rfind("__");
    return mark == a.npos ? 0 : mark + 2;
}

}  // namespace

std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, Effort& effort,
                                 std::size_t most) {
    std::vector<std::pair<std::size_t, std::string>> near;
    const bool is_short = wanted.size() <= Spelling::kMostBytes;
    if (wanted.size() > 512) return {};
    const Spelling spelling(wanted);
    const auto small = lower(wanted);
    for (const auto& candidate : candidates) {
        const auto reach =
            std::max<std::size_t>(1, (wanted.size() - shared_parts(wanted, candidate)) / 3);
        const auto gap = candidate.size() > wanted.size() ? candidate.size() - wanted.size()
                                                          : wanted.size() - candidate.size();
        const std::size_t rows = is_short ? 1 : wanted.size() + 1;
        if (!effort.spend(gap > reach ? 1 : rows * (candidate.size() + 1))) break;
        if (gap > reach) continue;
        const auto distance =
            is_short ? spelling.distance(candidate) : std::optional(edits(small, lower(candidate)));
        if (distance && *distance <= reach) near.emplace_back(*distance, candidate);
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

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates,
                         Effort& effort) {
    const auto names = nearest(wanted, candidates, effort);
    if (names.empty()) return {};
    std::string text = "; did you mean ";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
        text += "\"" + names[i] + "\"";
    }
    return text + "?";
}

std::vector<std::string> nearest(std::string_view wanted,
                                 const std::vector<std::string>& candidates, std::size_t most) {
    Effort own(Effort::kOneHint);
    return nearest(wanted, candidates, own, most);
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates) {
    Effort own(Effort::kOneHint);
    return did_you_mean(wanted, candidates, own);
}

std::string behind_hint(std::string hint, std::string_view more) {
    if (!hint.ends_with('?')) return std::move(hint.append("; ").append(more));
    hint.append(" ").append(more);
    auto& first = hint[hint.size() - more.size()];
    if (first >= 'a' && first <= 'z') first = static_cast<char>(first - 'a' + 'A');
    return hint;
}

std::string printable(std::string_view text, std::size_t most_bytes, bool lines) {
    std::string out;
    std::string safe;  // the text without what is secret in it, once a letter of it is replaced
    out.reserve(std::min(text.size(), most_bytes));
    const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
    char32_t before = 0;
    for (std::size_t at = 0; at < text.size();) {
        // Nearly all of nearly every text.
        const auto fits = text.substr(at, most_bytes - out.size());
        const auto end = std::find_if_not(fits.begin(), fits.end(), is_plain);
        if (const auto run = static_cast<std::size_t>(end - fits.begin()); run > 0) {
            out.append(fits, 0, run);
            at += run;
            before = 0;
            continue;
        }
        const auto rest = text.substr(at);
        char32_t value = 0;
        const std::size_t joining = joiner(before, rest, value);
        const std::size_t length = joining > 0 ? joining : code_point(rest, value);
        const bool keep =
            length > 0 && (!is_unsafe(value) || (lines && (value == '\n' || value == '\t')));
        if (!keep && safe.empty()) {
            // With another letter in it a secret would not be found any more.
            safe = text.size() < most_bytes ? masked(text) : clipped(text, most_bytes);
            if (safe != text.substr(0, safe.size())) return printable(safe, most_bytes, lines);
        }
        const std::string_view piece = keep            ? rest.substr(0, length)
                                       : value == '\n' ? kLineBreak
                                                       : kReplacement;
        // Cut here; once more without what is secret in it, which is no longer than it was.
        if (out.size() + piece.size() > most_bytes) {
            safe = clipped(text, at);
            return safe == text.substr(0, at) ? out : printable(safe, most_bytes, lines);
        }
        out += piece;
        at += std::max<std::size_t>(1, length);
        before = keep ? value : 0;
    }
    return out;
}

std::string seen(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        char32_t value = 0;
        const std::size_t length = code_point(text, value);
        const bool varies_another = value >= 0xFE00 && value <= 0xFE0F;
        const auto piece = text.substr(0, std::max<std::size_t>(1, length));
        if (length == 0 || (!is_unsafe(value) && !varies_another)) out += piece;
        text.remove_prefix(piece.size());
    }
    return out;
}

std::string printable_json(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool in_string = false, escaped = false;
    char32_t before = 0;
    while (!text.empty()) {
        char32_t value = 0;
        const std::size_t joining = joiner(before, text, value);
        const std::size_t length = joining > 0 ? joining : code_point(text, value);
        const bool safe = length > 0 && !is_unsafe(value);
        if (text.front() == '"' && !escaped) in_string = !in_string;
        escaped = in_string && !escaped && text.front() == '\\';
        if (safe || (!in_string && (value == '\n' || value == '\t'))) {
            out += text.substr(0, length);
        } else if (!in_string && length == 1) {
            out += ' ';
        } else if (length == 0) {
            append_escape(out, 0xFFFD);
        } else if (value < 0x10000) {
            append_escape(out, static_cast<unsigned>(value));
        } else {
            append_escape(out, static_cast<unsigned>(0xD800 + ((value - 0x10000) >> 10)));
            append_escape(out, static_cast<unsigned>(0xDC00 + ((value - 0x10000) & 0x3FF)));
        }
        text.remove_prefix(std::max<std::size_t>(1, length));
        before = safe ? value : 0;
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
    return valid_utf8_bytes(text) == text.size();
}

std::size_t valid_utf8_bytes(std::string_view text) {
    const auto whole = text.size();
    while (!text.empty()) {
        char32_t value = 0;
        const std::size_t length = code_point(text, value);
        if (length == 0) break;
        text.remove_prefix(length);
    }
    return whole - text.size();
}

std::string duration(std::chrono::milliseconds time) {
    const auto count = time.count();
    return count % 1000 == 0 && count > 0 ? std::to_string(count / 1000) + " s"
                                          : std::to_string(count) + " ms";
}

bool is_hex(char letter) {
    return is_digit(letter) || (lower(letter) >= 'a' && lower(letter) <= 'f');
}

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (auto& letter : out) letter = lower(letter);
    return out;
}

bool is_token(std::string_view text) {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               kOthers.find(c) != std::string_view::npos;
    });
}

std::string hex(std::span<const unsigned char> bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const unsigned char byte : bytes) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::string_view trimmed(std::string_view text) {
    const auto from = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(from);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
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
