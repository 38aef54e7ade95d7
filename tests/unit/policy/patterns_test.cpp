#include "policy/patterns.hpp"

#include "protocol/qualified_name.hpp"

#include <gtest/gtest.h>

#include <random>

namespace patchbay::policy {
namespace {

std::optional<std::size_t> one_by_one(const std::vector<std::string>& patterns,
                                      const std::string& name) {
    for (std::size_t i = 0; i < patterns.size(); ++i)
        if (protocol::matches(patterns[i], name)) return i;
    return {};
}

TEST(Patterns, TheFirstThatIsWrittenCountsHoweverExactALaterOneIs) {
    const Patterns patterns({"mcp__s__b", "mcp__s__*", "mcp__s__a", "mcp__*", "mcp__s__b"});
    EXPECT_EQ(patterns.first_match("mcp__s__b"), 0u);
    EXPECT_EQ(patterns.first_match("mcp__s__a"), 1u);
    EXPECT_EQ(patterns.first_match("mcp__t__a"), 3u);
    EXPECT_EQ(patterns.first_match("mcp_"), std::nullopt);
    EXPECT_EQ(Patterns({}).first_match("mcp__s__a"), std::nullopt);
}

// Few letters, so that nearly all names and patterns are beginnings of each other.
TEST(Patterns, FindWhatComparingWithOneAfterTheOtherFinds) {
    std::mt19937 random(7);
    const auto word = [&] {
        std::string made;
        for (auto left = random() % 6; left > 0; --left) made += random() % 2 ? 'a' : 'b';
        return made;
    };
    for (int round = 0; round < 2'000; ++round) {
        std::vector<std::string> written;
        for (auto left = random() % 12; left > 0; --left)
            written.push_back(word() + (random() % 2 ? "*" : ""));
        const Patterns patterns(written);
        for (int i = 0; i < 20; ++i) {
            const auto name = word();
            ASSERT_EQ(patterns.first_match(name), one_by_one(written, name))
                << ::testing::PrintToString(written) << " " << name;
        }
    }
}

}  // namespace
}  // namespace patchbay::policy
