// How long a result may be kept, and for whom: what a server says of it, and of what is put together of
// several results.
//
// Threads: [value]. Errors: none; what makes no sense is as if it were not said.
// Source:  MCP 2026-07-28 server/utilities/caching.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::protocol {

enum class CacheScope { Private, Public };

// As it is made: of a result that says nothing, which is stale at once.
struct Caching {
    std::optional<std::chrono::milliseconds> ttl{};  // none: not said
    CacheScope scope = CacheScope::Private;

    bool operator==(const Caching&) const = default;
};

// What restricts nothing that it is joined with.
inline constexpr Caching kKeptByAll{std::chrono::milliseconds::max(), CacheScope::Public};

// A member of a result, which is taken over where it is one of the two.
void read_caching(Caching& into, std::string_view key, std::string_view raw_value);
// Of what is made of both: for no longer than either may be, and for all where both are. What one of them
// does not say is not said.
Caching joined(const Caching& a, const Caching& b);
// "ttlMs":0,"cacheScope":"private", as members of a result.
std::string members_of(const Caching& caching);

}  // namespace patchbay::protocol
