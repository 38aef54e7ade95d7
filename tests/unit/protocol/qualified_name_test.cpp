#include "protocol/qualified_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

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
