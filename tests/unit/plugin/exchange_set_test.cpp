#include "plugin/links/exchange_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_set>

using patchbay::plugin::ExchangeSet;

namespace {

TEST(ExchangeSet, KnowsWhatIsInIt) {
    ExchangeSet set;
    EXPECT_FALSE(set.contains(0));
    EXPECT_FALSE(set.erase(0));
    EXPECT_TRUE(set.insert(1));
    EXPECT_FALSE(set.insert(1));
    EXPECT_TRUE(set.contains(1));
    EXPECT_TRUE(set.erase(1));
    EXPECT_FALSE(set.erase(1));
    EXPECT_EQ(set.size(), 0u);
}

TEST(ExchangeSet, AgreesWithAStandardSetWhateverTheOrder) {
    ExchangeSet set;
    std::unordered_set<std::uint64_t> model;
    std::mt19937_64 random(7);
    for (int i = 0; i < 200'000; ++i) {
        const auto exchange =
            1 + random() % 700 * (random() % 2 ? 1 : 1024);  // also ones that share a home
        if (random() % 2)
            ASSERT_EQ(set.insert(exchange), model.insert(exchange).second);
        else
            ASSERT_EQ(set.erase(exchange), model.erase(exchange) == 1);
        ASSERT_EQ(set.size(), model.size());
        ASSERT_EQ(set.contains(exchange), model.count(exchange) == 1);
    }
}

}  // namespace
