#include "policy/patterns.hpp"

#include <algorithm>
#include <tuple>

namespace patchbay::policy {

Patterns::Patterns(const std::vector<std::string>& patterns) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const bool exact = !patterns[i].ends_with('*');
        entries_.push_back({patterns[i].substr(0, patterns[i].size() - (exact ? 0 : 1)), exact, i});
    }
    std::sort(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
        return std::tie(a.text, a.exact, b.first) < std::tie(b.text, b.exact, a.first);
    });
    std::vector<std::size_t> open;  // beginnings of the entry at hand, the longest last
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        auto& entry = entries_[i];
        while (!open.empty() && !entry.text.starts_with(entries_[open.back()].text))
            open.pop_back();
        if (!open.empty()) {
            entry.shorter = open.back();
            if (!entry.exact) entry.first = std::min(entry.first, entries_[open.back()].first);
        }
        if (!entry.exact) open.push_back(i);
    }
}

// Whatever is a beginning of `name` sorts before it, and between the longest one and `name` there is
// only what begins with that one too: so it is the nearest entry, or one that `shorter` leads to.
std::optional<std::size_t> Patterns::first_match(std::string_view name) const {
    const auto after = std::upper_bound(
        entries_.begin(), entries_.end(), name,
        [](std::string_view text, const Entry& entry) { return text < entry.text; });
    auto at = static_cast<std::size_t>(after - entries_.begin()) - 1;  // kNone: none before it
    std::size_t first = kNone;
    for (; at != kNone; at = entries_[at].shorter) {
        const auto& entry = entries_[at];
        if (!name.starts_with(entry.text)) continue;
        if (entry.exact && entry.text.size() != name.size()) continue;
        first = std::min(first, entry.first);
        if (!entry.exact) break;  // it knows of the shorter ones
    }
    if (first == kNone) return std::nullopt;
    return first;
}

}  // namespace patchbay::policy
