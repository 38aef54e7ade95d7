#include "protocol/raw_json.hpp"

#include "core/json.hpp"
#include "protocol/envelope.hpp"
#include "protocol/raw_value.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::protocol {

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

// A quote behind an odd number of backslashes closes nothing. Searched for the quote: most texts have
// none but the last.
std::size_t past_string(std::string_view text, std::size_t at) {
    const auto begin = at + 1;
    for (auto quote = text.find('"', begin); quote != text.npos;
         quote = text.find('"', quote + 1)) {
        auto plain = quote;
        while (plain > begin && text[plain - 1] == '\\') --plain;
        if ((quote - plain) % 2 == 0) return quote + 1;
    }
    return text.size() + 1;
}

std::optional<std::string> text_of_raw(std::string_view value) {
    if (value.size() < 2 || value.front() != '"') return {};
    // Nearly every text stands there as it is.
    if (value.find('\\') == value.npos) return std::string(value.substr(1, value.size() - 2));
    const auto parsed = core::parse_json(value);
    const auto text = parsed ? core::text_of(*parsed) : std::nullopt;
    return text ? std::optional<std::string>(*text) : std::nullopt;
}

void each_of(std::string_view members,
             const std::function<bool(std::string_view key, std::string_view value)>& each) {
    const auto past_blanks = [members](std::size_t at) {
        while (at < members.size() && is_blank(members[at])) ++at;
        return at;
    };
    for (std::size_t at = 0; at < members.size(); ++at) {  // past the comma
        at = past_blanks(at);
        if (at == members.size() || members[at] != '"') return;
        const auto key_end = past_string(members, at);
        const auto raw_key = members.substr(at, key_end - at);
        const auto colon = past_blanks(key_end);
        if (colon >= members.size() || members[colon] != ':') return;
        at = past_value(members, colon + 1);
        const auto value = trimmed(members.substr(colon + 1, at - colon - 1));
        const auto key = raw_key.substr(1, raw_key.size() - 2);
        // Nearly every key stands there as it is.
        if (key.find('\\') == key.npos) {
            if (!each(key, value)) return;
        } else {
            const auto text = text_of_raw(raw_key);
            if (!text || !each(*text, value)) return;
        }
    }
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::size_t past_value(std::string_view text, std::size_t at) {
    // All else is passed over without a second look: schemas and lists are mostly that.
    static constexpr auto kMeansSomething = [] {
        std::array<bool, 256> table{};
        for (const unsigned char c : {'"', ',', '{', '}', '[', ']'}) table[c] = true;
        return table;
    }();
    for (std::size_t depth = 0; at < text.size();) {
        const char c = text[at];
        if (!kMeansSomething[static_cast<unsigned char>(c)]) {
            ++at;
            continue;
        }
        const bool closes = c == '}' || c == ']';
        if (depth == 0 && (c == ',' || closes)) break;
        if (c == '{' || c == '[') ++depth;
        if (closes) --depth;
        at = c == '"' ? past_string(text, at) : at + 1;
    }
    return std::min(at, text.size());
}

std::string_view raw_member(std::string_view members, std::string_view key) {
    std::size_t at = 0;
    while (at < members.size()) {
        at = members.find('"', at);
        if (at == std::string_view::npos) return {};
        const auto key_begin = at + 1;
        at = past_string(members, at);
        if (at > members.size()) return {};
        const auto found = members.substr(key_begin, at - 1 - key_begin);
        at = members.find(':', at);
        if (at == std::string_view::npos) return {};
        const auto begin = ++at;
        at = past_value(members, at);
        if (found == key) return trimmed(members.substr(begin, at - begin));
    }
    return {};
}

std::vector<std::pair<std::string, std::string_view>> members_in(std::string_view object) {
    std::vector<std::pair<std::string, std::string_view>> members;
    each_member(object, [&](std::string_view key, std::string_view value) {
        members.emplace_back(key, value);
        return true;
    });
    return members;
}

void each_member(std::string_view object,
                 const std::function<bool(std::string_view key, std::string_view value)>& each) {
    const auto text = trimmed(object);
    if (text.size() >= 2 && text.front() == '{') each_of(text.substr(1, text.size() - 2), each);
}

std::string_view items_in(std::string_view array) {
    const auto inside = trimmed(array);
    if (inside.size() < 2 || inside.front() != '[') return {};
    return trimmed(inside.substr(1, inside.size() - 2));
}

std::string_view take_item(std::string_view& items) {
    const auto end = past_value(items, 0);
    const auto item = trimmed(items.substr(0, end));
    items.remove_prefix(std::min(end + 1, items.size()));  // past the comma
    return item;
}

std::string without_spaces(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\r\n";
    std::string out;
    out.reserve(text.size());
    std::size_t kept = 0;  // up to there it is in `out`
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '"') {
            at = std::min(past_string(text, at), text.size());
        } else if (text[at] > ' ' || kSpaces.find(text[at]) == kSpaces.npos) {
            ++at;
        } else {
            out.append(text, kept, at - kept);
            kept = ++at;
        }
    }
    return out.append(text, kept);
}

}  // namespace patchbay::protocol
