#include "config/merge.hpp"

#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Fragment toml(Scope scope, const std::string& text) {
    return read_fragment(text, Format::Toml, {scope, 0, std::string(name_of(scope)) + ".toml"});
}

std::vector<Fragment> saying_their_name(const std::vector<Scope>& order) {
    std::vector<Fragment> fragments;
    for (const auto scope : order) {
        const std::string open = scope == Scope::Enterprise ? "exclusive = false\n" : "";
        fragments.push_back(
            toml(scope, open + "[servers.x]\ntransport = '" + name_of(scope) + "'\n"));
    }
    return fragments;
}

TEST(ConfigMerge, StrongerScopeWinsWhateverTheReadingOrder) {
    struct Case {
        std::vector<Scope> order;
        std::string winner;
    };
    const Case cases[] = {{{Scope::User, Scope::Project}, "project"},
                          {{Scope::Project, Scope::User}, "project"},
                          {{Scope::Session, Scope::Local, Scope::Project}, "session"},
                          {{Scope::Enterprise, Scope::Local, Scope::Plugin}, "enterprise"}};
    for (const auto& c : cases) {
        SCOPED_TRACE(::testing::PrintToString(c.order));
        const auto config = merge(saying_their_name(c.order));
        ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
        EXPECT_EQ(config.servers[0].transport, c.winner);
    }
}

TEST(ConfigMerge, EveryIdThatIsLegalIsTaken) {
    const struct {
        std::string id;
        bool legal;
    } cases[] = {{"a", true},
                 {"A-b_9", true},
                 {std::string(64, 'x'), true},
                 {std::string(65, 'x'), false},
                 {"", false},
                 {"a__b", false},
                 {"a.b", false},
                 {"a b", false},
                 {"\xc3\xa9", false},
                 {"_a_", true},
                 {"__", false}};
    for (const auto& c : cases) {
        const auto config = merge([&] {
            std::vector<Fragment> one;
            one.push_back(toml(Scope::User, "[servers.\"" + c.id + "\"]\ncommand = 'x'\n"));
            return one;
        }());
        EXPECT_EQ(config.servers.size(), c.legal ? 1u : 0u) << c.id;
        EXPECT_EQ(config.diagnostics.size(), c.legal ? 0u : 1u) << c.id;
    }
}

TEST(ConfigMerge, ABrokenEntryIsNotReplacedByAWeakerOne) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'user'\n"));
    fragments.push_back(toml(Scope::Project, "[servers.x]\ncommand = 7\n"));
    EXPECT_THAT(merge(std::move(fragments)).servers, IsEmpty());
}

TEST(ConfigMerge, AnEnterpriseOverlayThatMakesNoSenseTakesTheServerDown) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'user'\n"));
    fragments.push_back(
        toml(Scope::Enterprise, "exclusive = false\n[servers.x]\ndisabled_tools = 'wipe'\n"));
    EXPECT_THAT(merge(std::move(fragments)).servers, IsEmpty());
}

TEST(ConfigMerge, AReplacingDefinitionForgetsOverlaysOnTheOldOne) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'user'\n"));
    fragments.push_back(toml(Scope::Project, "[servers.x]\nenabled = false\n"));
    fragments.push_back(toml(Scope::Session, "[servers.x]\ncommand = 'session'\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_TRUE(config.servers[0].enabled);
}

TEST(ConfigMerge, AnOverlayMayStandBesideTheDefinition) {
    std::vector<Fragment> fragments;
    fragments.push_back(read_fragment("[servers.x]\nenabled = false\n", Format::Toml,
                                      {Scope::User, 0, "config.toml"}));
    fragments.push_back(
        read_fragment("[servers.x]\ncommand = 'x'\n", Format::Toml, {Scope::User, 0, "mcp.toml"}));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
    EXPECT_FALSE(config.servers[0].enabled);
}

TEST(ConfigMerge, OverlaidToolLevelsJoinThoseBelow) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(
        Scope::User, "[servers.x]\ncommand = 'x'\ntools = { a = 'deny', b = 'allow-once' }\n"));
    fragments.push_back(
        toml(Scope::Session, "[servers.x]\ntools = { a = 'allow-always', c = 'disable' }\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].tools,
              (std::map<std::string, Level>{
                  {"a", Level::AllowAlways}, {"b", Level::AllowOnce}, {"c", Level::Disable}}));
}

TEST(ConfigMerge, OriginsNameThePlaceOfEachValue) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(
        Scope::User, "[servers.x]\ncommand = 'x'\nenv = { A = 'secret' }\n[health]\nmisses = 2\n"));
    fragments.push_back(toml(Scope::Session, "[servers.x]\nenabled = false\n"));
    const auto config = merge(std::move(fragments));
    std::vector<std::string> lines;
    for (const auto& [key, place] : config.origins) lines.push_back(key + " " + to_string(place));
    EXPECT_THAT(lines, ElementsAre("health.misses user config user.toml:5:1",
                                   "servers.x.command user config user.toml:2:1",
                                   "servers.x.enabled session config session.toml:2:1",
                                   "servers.x.env user config user.toml:3:1",
                                   "servers.x.env.A user config user.toml:3:9"));
}

TEST(ConfigMerge, AuthTablesAreReplacedWholeById) {
    std::vector<Fragment> fragments;
    fragments.push_back(
        toml(Scope::User, "[auth.a]\nmethod = 'x'\nkey = 1\n[auth.b]\nmethod = 'y'\n"));
    fragments.push_back(toml(Scope::Session, "[auth.a]\nmethod = 'z'\n"));
    const auto config = merge(std::move(fragments));
    EXPECT_EQ(serialize(boost::json::value(config.auth.at("a"))), R"({"method":"z"})");
    EXPECT_EQ(config.auth.count("b"), 1u);
}

TEST(ConfigMerge, AServerNeedsTheAuthItNames) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User,
                             "[auth.corp]\nmethod = 'x'\n"
                             "[servers.x]\ncommand = 'x'\nauth = 'crop'\n"
                             "[servers.y]\ncommand = 'x'\nauth = 'corp'\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].id, "y");
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("user.toml:5:1: server \"x\": no [auth.crop]; defined: corp"));
}

TEST(ConfigMerge, ALocalFileMayLoosenWhatTheProjectDefines) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::Project, "[servers.x]\ncommand = 'x'\n"));
    fragments.push_back(toml(Scope::Local, "[servers.x]\ntools = { a = 'allow-always' }\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].tools.at("a"), Level::AllowAlways) << all(config.diagnostics);
}

TEST(ConfigMerge, ListsAreBounded) {
    std::string many;
    for (int i = 0; i < 5000; ++i) many += "'v" + std::to_string(i) + "',";
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[mcp_servers.x]\ncommand = 'x'\nenv_vars = [" + many +
                                              "]\n[permissions]\ndeny = [" + many + "]\n"));
    const auto config = merge(std::move(fragments));
    EXPECT_TRUE(config.servers.empty());
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("server \"x\": more than 4096 values in one list or table, the limit"));
    EXPECT_THAT(all(config.diagnostics), HasSubstr("permissions: more than 4096 values"));
}

TEST(ConfigMerge, PermissionsThatCannotBeReadAllowNothing) {
    for (const auto* text : {"permissions = 'none'", "policy = 3", "permissions.deny = 'x'",
                             "[policy]\ndeny = ['a']\n[permissions]\ndeny = ['b']\n"}) {
        SCOPED_TRACE(text);
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, text));
        const auto config = merge(std::move(fragments));
        ASSERT_TRUE(config.permissions.allow);
        EXPECT_THAT(*config.permissions.allow, IsEmpty());
    }
}

TEST(ConfigMerge, NoMessageRepeatsASecret) {
    std::vector<Fragment> fragments;
    fragments.push_back(
        toml(Scope::User,
             "[servers.x]\ncommand = 'x'\nenv = { KEY = ['hunter2'] }\nheaders = 'hunter2'\n"
             "[servers.y]\nurl = 5\nbearer_token_env_var = 5\noauth = 'hunter2'\n"));
    const auto config = merge(std::move(fragments));
    EXPECT_EQ(config.diagnostics.size(), 5u);
    EXPECT_THAT(all(config.diagnostics), ::testing::Not(HasSubstr("hunter2")));
}

TEST(Intersection, AllowsWhatBothAllow) {
    using List = std::vector<std::string>;
    EXPECT_EQ(intersection({"mcp__*"}, {"mcp__a__x", "mcp__b__*"}),
              (List{"mcp__a__x", "mcp__b__*"}));
    EXPECT_EQ(intersection({"mcp__a__*"}, {"mcp__b__*"}), List{});
    EXPECT_EQ(intersection({"mcp__a__r*", "mcp__a__read"}, {"mcp__a__re*"}),
              (List{"mcp__a__re*", "mcp__a__read"}));
    EXPECT_EQ(intersection({}, {"*"}), List{});
}

}  // namespace
}  // namespace patchbay::config
