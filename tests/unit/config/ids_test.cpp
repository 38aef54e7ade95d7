// Names that files give servers, and the ids that they become.
#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::IsEmpty;

TEST(ConfigMerge, ANameThatIsNoIdBecomesOne) {
    const struct {
        std::string name, id;
    } cases[] = {{"a", "a"},
                 {"A-b_9", "A-b_9"},
                 {"_a", "_a"},
                 {"_a_", "_a"},
                 {"a_-_", "a"},
                 {std::string(64, 'x'), std::string(64, 'x')},
                 {"a__b", "a_b"},
                 {"a.b", "a-b"},
                 {"My Server", "My-Server"},
                 {"@org/server-x", "org-server-x"},
                 {"a  b", "a-b"},
                 {std::string(65, 'x'), std::string(57, 'x') + "-9537c5"},
                 {"\xc3\xa9", "server-4a9955"},
                 {"__", "server-9911f4"}};
    for (const auto& c : cases) {
        const auto config = of_user("[servers.\"" + c.name + "\"]\ncommand = 'x'\n");
        ASSERT_EQ(config.servers.size(), 1u) << c.name << all(config.diagnostics);
        EXPECT_EQ(config.servers[0].id, c.id);
        EXPECT_EQ(config.servers[0].written, c.id == c.name ? "" : c.name);
        EXPECT_EQ(all(config.diagnostics), "");
    }
    EXPECT_THAT(of_user("[servers.\"\"]\ncommand = 'x'\n").servers, IsEmpty());
}

// mcp__a___x would be a tool of either.
TEST(ConfigMerge, NoIdBeginsThePublicNamesOfAnother) {
    const auto config = of_user(
        "[servers.a]\ncommand = 'a'\n[servers.a_]\ncommand = 'b'\n[servers.a__]\n"
        "command = 'c'\n[servers.a__b]\ncommand = 'd'\n");
    ASSERT_EQ(config.servers.size(), 4u) << all(config.diagnostics);
    EXPECT_TRUE(find(config, "a"));
    for (const auto& one : config.servers) {
        EXPECT_FALSE(one.id.ends_with('_')) << one.id;
        for (const auto& other : config.servers)
            EXPECT_TRUE(&one == &other || !(one.id + "__x").starts_with(other.id + "__")) << one.id;
    }
}

TEST(ConfigMerge, NamesThatWouldBecomeOneIdKeepApart) {
    const auto config = of_user(
        "[servers.\"a b\"]\ncommand = 'space'\n[servers.\"a.b\"]\ncommand = 'dot'\n"
        "[servers.\"c d\"]\ncommand = 'mapped'\n[servers.c-d]\ncommand = 'exact'\n");
    std::map<std::string, std::string> commands;
    for (const auto& server : config.servers)
        commands[std::string(server.settings.at("command").as_string())] = server.id;
    EXPECT_EQ(config.servers.size(), 4u);
    EXPECT_EQ(commands["exact"], "c-d");
    EXPECT_THAT(commands["mapped"], ::testing::MatchesRegex("c-d-[0-9a-f]{6}"));
    EXPECT_THAT(commands["space"], ::testing::MatchesRegex("a-b-[0-9a-f]{6}"));
    EXPECT_NE(commands["space"], commands["dot"]);
}

TEST(ConfigMerge, AnOverlayMayCallAServerByItsNameOrItsId) {
    for (const auto* name : {"my server", "my-server"}) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.\"my server\"]\ncommand = 'x'\n"));
        fragments.push_back(
            toml(Scope::Session, std::string("[servers.\"") + name + "\"]\nenabled = false\n"));
        const auto config = merge(std::move(fragments));
        ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
        EXPECT_EQ(config.servers[0].id, "my-server");
        EXPECT_FALSE(config.servers[0].enabled);
    }
}

}  // namespace
}  // namespace patchbay::config
