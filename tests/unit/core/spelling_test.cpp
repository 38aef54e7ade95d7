// How near names are, by a table of edits that is slow and simple.
#include "core/spelling.hpp"

#include "core/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace patchbay::core {
namespace {

std::size_t edits(const std::string& a, const std::string& b) {
    std::vector<std::vector<std::size_t>> table(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            table[i][j] =
                std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                          table[i - 1][j - 1] + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
        }
    }
    return table[a.size()][b.size()];
}

TEST(Spelling, CountsTheEditsUpToAThirdOfTheName) {
    std::mt19937 random(20260711);
    const std::string letters = "abAB\xc3-";
    for (int round = 0; round < 2000; ++round) {
        std::string name(random() % 65, 'a'), other;
        for (auto& letter : name) letter = letters[random() % letters.size()];
        other = name;
        for (auto slips = random() % 8; slips > 0; --slips) {
            const auto at = random() % (other.size() + 1);
            const auto letter = letters[random() % letters.size()];
            if (random() % 3 == 0)
                other.insert(at, 1, letter);
            else if (at + 1 < other.size() && random() % 2 == 0)
                std::swap(other[at], other[at + 1]);
            else if (at < other.size() && random() % 2 == 0)
                other.erase(at, 1);
            else if (at < other.size())
                other[at] = letter;
        }
        const auto far = edits(name, other);
        const auto reach = std::max<std::size_t>(1, name.size() / 3);
        ASSERT_EQ(Spelling(name).distance(other), far <= reach ? std::optional(far) : std::nullopt)
            << name << " " << other;
    }
}

TEST(Spelling, OfALongerNameIsNearToNothing) {
    const std::string name(Spelling::kMostBytes, 'a');
    EXPECT_EQ(Spelling(name).distance(name), 0u);
    EXPECT_EQ(Spelling(name + "a").distance(name + "a"), std::nullopt);
}

TEST(Effort, OfAllHintsIsSpentOnce) {
    const std::vector<std::string> names(4000, std::string(22, 'a'));
    const auto wanted = std::string(21, 'b');
    Effort effort(2 * Effort::kOneHint);
    std::size_t hints = 0;
    while (effort.left() > 0) {
        EXPECT_THAT(nearest(wanted, names, effort), ::testing::IsEmpty());
        ASSERT_LE(++hints, 2 * Effort::kOneHint / names.size());
    }
    EXPECT_EQ(did_you_mean("a", {"a"}, effort), "");
    EXPECT_EQ(did_you_mean("a", {"a"}), "; did you mean \"a\"?");
}

TEST(Effort, ThatDoesNotSufficeIsNone) {
    Effort effort(10);
    EXPECT_TRUE(effort.spend(4));
    EXPECT_EQ(effort.left(), 6u);
    EXPECT_FALSE(effort.spend(7));
    EXPECT_FALSE(effort.spend(1));
    EXPECT_EQ(effort.left(), 0u);
}

}  // namespace
}  // namespace patchbay::core
