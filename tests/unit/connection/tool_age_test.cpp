// How long a list of tools counts; no list, and no clock but the times that are given.
#include "connection/tool_age.hpp"

#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using protocol::CacheScope;
using protocol::Caching;

const ToolAge::Time kStart{1h};

TEST(ToolAge, OfAListThatWasNeverReadIsStaleAndDue) {
    const ToolAge age;
    EXPECT_FALSE(age.fresh(kStart));
    EXPECT_TRUE(age.due(kStart));
    EXPECT_EQ(age.caching(kStart), Caching());
}

TEST(ToolAge, OfAFreshListIsNotDueBeforeItsTimeIsOver) {
    ToolAge age;
    age.read(kStart, kStart + 10s, {10s, CacheScope::Public});
    EXPECT_TRUE(age.fresh(kStart + 9s));
    EXPECT_FALSE(age.due(kStart + 9s));
    EXPECT_FALSE(age.fresh(kStart + 10s));
    EXPECT_TRUE(age.due(kStart + 10s));
}

TEST(ToolAge, OfAListThatIsStaleAtOnceIsNotDueAtOnce) {
    ToolAge age;
    age.read(kStart, {}, {});
    EXPECT_FALSE(age.fresh(kStart));
    EXPECT_FALSE(age.due(kStart + ToolAge::kLeast - 1ms));
    EXPECT_TRUE(age.due(kStart + ToolAge::kLeast));
}

TEST(ToolAge, LeavesOthersWhatIsLeftOfTheServersTime) {
    ToolAge age;
    age.read(kStart, kStart + 10s, {10s, CacheScope::Public});
    EXPECT_EQ(age.caching(kStart + 4s), (Caching{6s, CacheScope::Public}));
    age.make_stale();
    EXPECT_EQ(age.caching(kStart + 4s), (Caching{{}, CacheScope::Public}));
}

TEST(ToolAge, OurOwnTimeIsNothingThatAServerSaid) {
    ToolAge age;
    age.read(kStart, kStart + 10s, {});
    EXPECT_TRUE(age.fresh(kStart));
    EXPECT_EQ(age.caching(kStart), Caching());
}

}  // namespace
}  // namespace patchbay::connection
