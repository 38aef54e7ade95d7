#include "protocol/caching.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace patchbay::protocol {
namespace {

using namespace std::chrono_literals;

Caching read(const std::vector<std::pair<std::string, std::string>>& members) {
    Caching caching;
    for (const auto& [key, value] : members) read_caching(caching, key, value);
    return caching;
}

TEST(Caching, IsStaleAndPrivateWhereNothingOrNonsenseIsSaid) {
    EXPECT_EQ(read({}), Caching());
    EXPECT_EQ(read({{"ttlMs", "-1"}, {"cacheScope", "\"all\""}}), Caching{0s});
    EXPECT_EQ(read({{"ttlMs", "\"5\""}, {"cacheScope", "true"}, {"ttl", "5"}}), Caching());
    EXPECT_EQ(read({{"ttlMs", "1e999"}}), Caching());
}

TEST(Caching, IsWhatItsServerSaysForADayAtMost) {
    EXPECT_EQ(read({{"ttlMs", "5000"}, {"cacheScope", "\"public\""}}),
              (Caching{5s, CacheScope::Public}));
    EXPECT_EQ(read({{"ttlMs", "9223372036854775807"}}).ttl, 24h);
}

TEST(Caching, OfSeveralIsTheLeastOfAll) {
    const Caching all{9s, CacheScope::Public}, own{5s, CacheScope::Private};
    EXPECT_EQ(joined(all, own), own);
    EXPECT_EQ(joined(kKeptByAll, all), all);
    EXPECT_EQ(joined(all, Caching()).ttl, std::nullopt);
    EXPECT_EQ(joined(all, {0s, CacheScope::Private}), Caching{0s});
}

TEST(Caching, IsWrittenAsTheTwoMembersOfAResult) {
    EXPECT_EQ(members_of({1500ms, CacheScope::Public}), R"("ttlMs":1500,"cacheScope":"public")");
    EXPECT_EQ(members_of({}), R"("ttlMs":0,"cacheScope":"private")");
}

}  // namespace
}  // namespace patchbay::protocol
