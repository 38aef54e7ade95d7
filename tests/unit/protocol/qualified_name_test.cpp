#include "protocol/qualified_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <set>

namespace patchbay::protocol {
namespace {

using ::testing::ElementsAre;

// Lines of `server<TAB>tool<TAB>public name`: names must never change between versions, because
// people write them into permission files.
TEST(QualifiedName, AreTheNamesTheyAlwaysWere) {
    std::ifstream golden(PATCHBAY_SOURCE_DIR "/tests/golden/names.txt");
    ASSERT_TRUE(golden);
    int checked = 0;
    for (std::string line; std::getline(golden, line); ++checked) {
        const auto first = line.find('\t'), second = line.find('\t', first + 1);
        ASSERT_NE(second, std::string::npos) << line;
        EXPECT_EQ(public_name(line.substr(0, first), line.substr(first + 1, second - first - 1)),
                  line.substr(second + 1));
    }
    EXPECT_GE(checked, 8);
}

TEST(QualifiedName, SatisfyEveryModelProvider) {
    const std::regex allowed("^[a-zA-Z0-9_-]{1,64}$");
    for (const std::string tool :
         {"plain", "with space", "a.b/c", "\xC3\xBC", "",
          "0123456789012345678901234567890123456789012345678901234567890123456789"}) {
        EXPECT_TRUE(std::regex_match(public_name("server", tool), allowed)) << tool;
    }
}

TEST(QualifiedName, ArePlainUpToTheirLongest) {
    const std::string most(64 - std::string("mcp__s__").size(), 'x');
    EXPECT_EQ(public_name("s", most), "mcp__s__" + most);
    EXPECT_NE(public_name("s", most + "x"), "mcp__s__" + most + "x");
    EXPECT_EQ(public_name("s", most + "x").size(), 64u);
}

TEST(QualifiedName, CollidingPairsAreToldApartWhateverTheOrder) {
    NameTable one, other;
    one.add("a", "__b");
    one.add("a_", "_b");
    other.add("a_", "_b");
    other.add("a", "__b");
    EXPECT_NE(one.public_name("a", "__b"), one.public_name("a_", "_b"));
    EXPECT_EQ(one.names(), other.names());
    for (const auto& name : one.names()) {
        const auto pair = one.find(name);
        ASSERT_TRUE(pair) << name;
        EXPECT_EQ(one.public_name(pair->first, pair->second), name);
    }
}

TEST(QualifiedName, NobodyTakesAHashedNameByCallingAToolSo) {
    NameTable table;
    table.add("a", "_b");
    table.add("a_", "b");
    const auto taken = table.public_name("a_", "b");  // mcp__a___b_<hash>
    table.add("a", taken.substr(std::string("mcp__a__").size()));
    EXPECT_EQ(table.names().size(), 3u);
    EXPECT_EQ(table.find(taken), std::make_pair(std::string("a_"), std::string("b")));
}

// What settles names by rounds over all of them, until nothing changes.
std::map<std::pair<std::string, std::string>, std::string> names_by_rounds(
    const std::set<std::pair<std::string, std::string>>& pairs) {
    std::map<std::pair<std::string, std::string>, std::string> names;
    std::set<std::pair<std::string, std::string>> told_apart;
    for (bool again = true; again;) {
        again = false;
        std::map<std::string, std::vector<std::pair<std::string, std::string>>> wanted;
        for (const auto& pair : pairs) {
            const auto& [server, tool] = pair;
            names[pair] = told_apart.contains(pair) ? name_told_apart(server, tool)
                                                    : public_name(server, tool);
            wanted[names[pair]].push_back(pair);
        }
        for (const auto& [name, wanting] : wanted)
            for (const auto& pair : wanting)
                again |= wanting.size() > 1 && told_apart.insert(pair).second;
    }
    return names;
}

TEST(QualifiedName, AreThoseThatRoundsOverAllOfThemSettleOn) {
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        std::set<std::pair<std::string, std::string>> pairs;
        for (auto left = random() % 12; left > 0; --left) {
            const std::string server = random() % 2 ? "a" : "a_";
            std::string tool = random() % 2 ? "_b" : random() % 2 ? "b" : ".b";
            if (!pairs.empty() && random() % 2) {  // called what another is hashed to
                const auto& [other, its] = *std::next(pairs.begin(), random() % pairs.size());
                tool = name_told_apart(other, its).substr(std::string("mcp__a__").size());
            }
            pairs.emplace(server, tool);
        }
        NameTable table;
        for (const auto& [server, tool] : pairs) table.add(server, tool);
        for (const auto& [pair, name] : names_by_rounds(pairs))
            ASSERT_EQ(table.public_name(pair.first, pair.second), name) << pair.second;
    }
}

// Each round over all of them would settle one, and ten thousand rounds take longer than a test may.
TEST(QualifiedName, AreSettledInOneGoHoweverManyAreCalledWhatAnotherIsHashedTo) {
    constexpr std::size_t most = 10'000;
    NameTable table;
    std::string tool = "a.b";
    for (std::size_t i = 0; i < most; ++i) {
        table.add("s", tool);
        tool = name_told_apart("s", tool).substr(std::string("mcp__s__").size());
    }
    EXPECT_EQ(table.names().size(), most);
}

TEST(QualifiedName, LeadBackToTheRawPair) {
    NameTable table;
    table.add("s", "a.b");
    EXPECT_EQ(table.find(public_name("s", "a.b")),
              std::make_pair(std::string("s"), std::string("a.b")));
    EXPECT_FALSE(table.find("mcp__s__a_b"));
}

TEST(QualifiedName, TellWhoMayOwnThem) {
    const std::string long_id(64, 'x');
    EXPECT_THAT(servers_for("mcp__git__log", {"git", "github", "gi"}), ElementsAre("git"));
    EXPECT_THAT(servers_for(public_name(long_id, "t"), {"git", long_id}), ElementsAre(long_id));
    EXPECT_TRUE(servers_for("git__log", {"git"}).empty());
}

TEST(QualifiedName, TellWhoseMayBeginSo) {
    const std::string long_id(64, 'x');
    const std::vector<std::string> ids{"git", "github", long_id};
    EXPECT_EQ(servers_beginning("", ids), ids);
    EXPECT_EQ(servers_beginning("mcp__", ids), ids);
    EXPECT_THAT(servers_beginning("mcp__git", ids), ElementsAre("git", "github"));
    EXPECT_THAT(servers_beginning("mcp__git__", ids), ElementsAre("git"));
    EXPECT_THAT(servers_beginning("mcp__git__log", ids), ElementsAre("git"));
    EXPECT_THAT(servers_beginning("MCP__Git__log", ids), ElementsAre("git"));
    EXPECT_THAT(servers_beginning(public_name(long_id, "t"), ids), ElementsAre(long_id));
    EXPECT_TRUE(servers_beginning("mcp__a", ids).empty());
}

TEST(Patterns, AreExactOrAPrefix) {
    EXPECT_TRUE(matches("mcp__*", "mcp__s__a"));
    EXPECT_TRUE(matches("mcp__s__*", "mcp__s__a"));
    EXPECT_FALSE(matches("mcp__s__*", "mcp__st__a"));
    EXPECT_TRUE(matches("mcp__s__a", "mcp__s__a"));
    EXPECT_FALSE(matches("mcp__s__a", "mcp__s__ab"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_FALSE(matches("", "mcp__s__a"));
}

}  // namespace
}  // namespace patchbay::protocol
