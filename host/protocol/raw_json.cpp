#include "protocol/raw_json.hpp"

#include "core/json.hpp"
#include "protocol/envelope.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::protocol {

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
             const std::function<bool(std::string key, std::string_view value)>& each) {
    while (!members.empty()) {
        auto value = take_item(members);
        const auto key_end = past_string(value, 0);
        const auto colon = value.find(':', key_end);
        auto key = text_of_raw(value.substr(0, key_end));
        if (!key || colon == value.npos) return;
        value.remove_prefix(std::min(value.find_first_not_of(" \t\r\n", colon + 1), value.size()));
        if (!each(std::move(*key), value)) return;
    }
}

}  // namespace patchbay::protocol
