#include "config/ids.hpp"

#include "config/keys.hpp"
#include "core/digest.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace patchbay::config {

namespace {

constexpr std::size_t kHashDigits = 6;

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Empty: nothing of the name can stand in an id.
std::string slug_of(std::string_view name) {
    std::string slug;
    for (const char c : name) {
        const char kept = is_letter_or_digit(c) || c == '_' ? c : '-';
        const bool again = !slug.empty() && kept == slug.back() && !is_letter_or_digit(kept);
        if (!again) slug += kept;
    }
    while (slug.ends_with('-') || slug.ends_with('_')) slug.pop_back();
    slug.erase(0, std::min(slug.find_first_not_of('-'), slug.size()));
    return std::any_of(slug.begin(), slug.end(), is_letter_or_digit) ? slug : std::string();
}

std::string with_hash(std::string slug, const std::string& name) {
    if (slug.empty()) slug = "server";
    slug.resize(std::min(slug.size(), kIdBytes - kHashDigits - 1));
    while (slug.ends_with('-')) slug.pop_back();
    return slug + "-" + core::sha256_hex(name).substr(0, kHashDigits);
}

}  // namespace

bool valid_id(std::string_view id) {
    return !id.empty() && id.size() <= kIdBytes &&
           std::all_of(id.begin(), id.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; }) &&
           id.find("__") == std::string_view::npos && !id.ends_with('_');
}

void settle_ids(std::vector<Fragment>& fragments) {
    // Only definitions claim an id: an entry that adjusts a server may call it by its id or its
    // name.
    std::map<std::string, std::set<std::string>> claims;
    bool any = false;
    for (const auto& fragment : fragments) {
        for (const auto& entry : fragment.servers) {
            any = any || !valid_id(entry.id);
            if (defines_connection(entry.body))
                claims[valid_id(entry.id) ? entry.id : slug_of(entry.id)].insert(entry.id);
        }
    }
    if (!any) return;
    for (auto& fragment : fragments) {
        for (auto& entry : fragment.servers) {
            if (entry.id.empty() || valid_id(entry.id)) continue;
            const auto slug = slug_of(entry.id);
            const auto claimed = claims.find(slug);
            const bool alone = claimed == claims.end() || claimed->second.size() == 1;
            entry.written = entry.id;
            entry.id = alone && valid_id(slug) ? slug : with_hash(slug, entry.written);
        }
    }
}

}  // namespace patchbay::config
