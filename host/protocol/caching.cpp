#include "protocol/caching.hpp"

#include "core/json.hpp"

#include <algorithm>
#include <cstdint>

namespace patchbay::protocol {

namespace {

// What is longer is a day, whatever a server says.
constexpr std::int64_t kLongestMs = 86'400'000;

std::optional<std::chrono::milliseconds> ttl_of(std::string_view raw) {
    const auto read = core::parse_json(raw);
    const auto* ms = read ? read->if_int64() : nullptr;
    if (!ms) return {};
    return std::chrono::milliseconds(std::clamp<std::int64_t>(*ms, 0, kLongestMs));
}

}  // namespace

void read_caching(Caching& into, std::string_view key, std::string_view raw_value) {
    if (key == "ttlMs") into.ttl = ttl_of(raw_value);
    if (key == "cacheScope")
        into.scope = raw_value == "\"public\"" ? CacheScope::Public : CacheScope::Private;
}

Caching joined(const Caching& a, const Caching& b) {
    const bool both = a.scope == CacheScope::Public && b.scope == CacheScope::Public;
    std::optional<std::chrono::milliseconds> ttl;
    if (a.ttl && b.ttl) ttl = std::min(*a.ttl, *b.ttl);
    return {ttl, both ? CacheScope::Public : CacheScope::Private};
}

std::string members_of(const Caching& caching) {
    return "\"ttlMs\":" +
           std::to_string(caching.ttl.value_or(std::chrono::milliseconds(0)).count()) +
           ",\"cacheScope\":" +
           (caching.scope == CacheScope::Public ? "\"public\"" : "\"private\"");
}

}  // namespace patchbay::protocol
