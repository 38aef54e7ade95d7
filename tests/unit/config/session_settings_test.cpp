// What is said for one run: --config, --set, --log-level and variables.
#include "config/assignment.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::HasSubstr;

TEST(Sources, NamedFilesThatAreMissingAreErrors) {
    World world;
    world.environment.config_files = {"nowhere.toml"};
    world.variables["PATCHBAY_CONFIG"] = "/nowhere/else.toml";
    const auto text = all(load(world.environment).config.diagnostics);
    EXPECT_THAT(text, HasSubstr("project/nowhere.toml: no such file (named by --config)"));
    EXPECT_THAT(
        text,
        HasSubstr("session config /nowhere/else.toml: no such file (named by PATCHBAY_CONFIG)"));
}

TEST(Sources, WhatIsNamedForARunStopsItWhenItIsNoGood) {
    const struct {
        std::vector<std::string> files, sets;
        std::string log_level, variable, inline_json, says;
    } cases[] = {
        {{"nowhere.toml"}, {}, "", "", "", "nowhere.toml: no such file (named by --config)"},
        {{"broken.toml"}, {}, "", "", "", "broken.toml:1:9: not TOML"},
        {{"x.ini"}, {}, "", "", "", "x.ini: unknown kind of file"},
        {{}, {"novalue"}, "", "", "", "--set: \"novalue\": expected key=value"},
        {{}, {"health.misses=many"}, "", "", "", "--set: health.misses: expected a whole number"},
        {{}, {"helth.misses=1"}, "", "", "", "--set: unknown table or key \"helth\""},
        {{}, {"health.mises=1"}, "", "", "", "--set: unknown key \"mises\""},
        {{}, {"servers.none.enabled=true"}, "", "", "", "--set: server \"none\": no transport"},
        {{}, {}, "loud", "", "", "--log-level: log.level: expected one of trace, debug"},
        {{},
         {},
         "",
         "/nowhere/else.toml",
         "",
         "else.toml: no such file (named by PATCHBAY_CONFIG)"},
        {{}, {}, "", "", "{\"servers\":", "PATCHBAY_CONFIG_JSON:1:12: not JSON"},
        {{}, {}, "", "", "{\"servers\":[1]}", "a server in a list needs an"},
        {{}, {}, "", "", "{\"health\":{\"misses\":\"x\"}}", "health.misses: expected"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.says);
        World world;
        world.folder.write("home/user/src/project/broken.toml", "[servers\n");
        world.folder.write("home/user/src/project/x.ini", "");
        world.environment.config_files = c.files;
        world.environment.sets = c.sets;
        world.environment.log_level = c.log_level;
        if (!c.variable.empty()) world.variables["PATCHBAY_CONFIG"] = c.variable;
        if (!c.inline_json.empty()) world.variables["PATCHBAY_CONFIG_JSON"] = c.inline_json;
        const auto config = load(world.environment).config;
        EXPECT_THAT(config.stop, HasSubstr(c.says));
        EXPECT_THAT(config.stop, HasSubstr("session config "));
        EXPECT_THAT(all(config.diagnostics), HasSubstr(c.says)) << "a diagnostic as well";
    }
    World world;
    world.environment.sets = {"health.misses=3"};
    world.environment.log_level = "debug";
    world.folder.write("home/user/.config/patchbay/config.toml", "[servers\n");
    const auto config = load(world.environment).config;
    EXPECT_EQ(config.stop, "") << "nobody named the user's file for this run";
    EXPECT_EQ(config.log.level, "debug");
}

TEST(Sources, ASetThatIsBrokenTomlIsNotTakenAsText) {
    for (const auto* value : {"['x'", "{a = 1", "\"open", "'open", "[1] trailing"}) {
        SCOPED_TRACE(value);
        World world;
        world.environment.sets = {std::string("client.name=") + value};
        EXPECT_THAT(load(world.environment).config.stop,
                    HasSubstr("--set: client.name: what begins with a bracket or a quote must be a "
                              "whole TOML value, and this is not TOML: "));
    }
    World world;
    world.environment.sets = {"client.name=it's [text]"};
    EXPECT_EQ(load(world.environment).config.client.name, "it's [text]");
}

TEST(Sources, SetTakesTomlValuesAndFallsBackToText) {
    World world;
    world.environment.sets = {"health.misses=3",          "client.name=my host # 1",
                              "servers.a.command=run",    "servers.a.args=[\"-x\", \"1\"]",
                              "servers.a.env.KEY=a=b\nc", "servers.a.lazy=true",
                              "servers.a.lazy=false",     "client.roots=[]"};
    const auto config = load(world.environment).config;
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_EQ(config.health.misses, 3u);
    EXPECT_EQ(config.client.name, "my host # 1");
    const auto* a = find(config, "a");
    ASSERT_TRUE(a);
    EXPECT_EQ(serialize(a->settings),
              R"({"command":"run","args":["-x","1"],"env":{"KEY":"a=b\nc"}})");
    EXPECT_FALSE(a->lazy);
}

TEST(Sources, SetWithoutSenseIsAnError) {
    World world;
    world.environment.sets = {"novalue",        "a b=1", "=x",  "health.misses=many",
                              "helth.misses=1", "a.=1",  "x#=1"};
    const auto text = all(load(world.environment).config.diagnostics);
    EXPECT_THAT(text, HasSubstr("session config --set: \"novalue\": expected key=value"));
    EXPECT_THAT(text, HasSubstr("--set: \"a b\" is not a key"));
    EXPECT_THAT(text, HasSubstr("--set: \"\" is not a key"));
    EXPECT_THAT(text, HasSubstr("--set: \"a.\" is not a key"));
    EXPECT_THAT(text, HasSubstr("--set: \"x#\": expected key=value"));
    EXPECT_THAT(
        text, HasSubstr("health.misses: expected a whole number from 1 to 2147483647, found text"));
    EXPECT_THAT(text, HasSubstr("unknown table or key \"helth\"; did you mean \"health\"?"));
}

TEST(Sources, AnOverlayFromTheCommandLineAdjustsAServer) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", saying("user"));
    world.environment.sets = {"servers.a.enabled=false", "servers.a.tool_timeout_sec=1.5"};
    const auto config = load(world.environment).config;
    ASSERT_TRUE(find(config, "a"));
    EXPECT_FALSE(find(config, "a")->enabled);
    EXPECT_EQ(find(config, "a")->tool_timeout, std::chrono::milliseconds(1500));
    EXPECT_EQ(command_of(config, "a"), "user");
}

TEST(Sources, StartupTimeoutVariableChangesTheDefaultOnly) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml",
                       saying("x") + "[servers.b]\ncommand = 'x'\nstartup_timeout_sec = 7\n");
    world.variables["MCP_TIMEOUT"] = "2500";
    auto config = load(world.environment).config;
    EXPECT_EQ(find(config, "a")->startup_timeout, std::chrono::milliseconds(2500));
    EXPECT_EQ(find(config, "a")->tool_timeout, std::chrono::hours(27));
    EXPECT_EQ(find(config, "b")->startup_timeout, std::chrono::seconds(7));
    EXPECT_STREQ(find(config, "a")->startup_timeout_from, "MCP_TIMEOUT");
    world.variables["MCP_TIMEOUT"] = "soon";
    config = load(world.environment).config;
    EXPECT_EQ(find(config, "a")->startup_timeout, std::chrono::seconds(60));
    EXPECT_THAT(all(config.diagnostics), HasSubstr("MCP_TIMEOUT: ignored \"soon\""));
}

TEST(Sources, ToolTimeoutVariableChangesTheDefaultOnly) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml",
                       saying("x") + "[servers.b]\ncommand = 'x'\ntool_timeout_sec = 7\n");
    world.variables["MCP_TOOL_TIMEOUT"] = "2500";
    auto config = load(world.environment).config;
    EXPECT_EQ(find(config, "a")->tool_timeout, std::chrono::milliseconds(2500));
    EXPECT_EQ(find(config, "b")->tool_timeout, std::chrono::seconds(7));
    EXPECT_STREQ(find(config, "a")->tool_timeout_from, "MCP_TOOL_TIMEOUT");
    EXPECT_STREQ(find(config, "b")->tool_timeout_from, "tool_timeout_sec");
    for (const auto& [text, ms] : {std::pair{"1", 1ll}, {"31622400000", 31'622'400'000ll}}) {
        world.variables["MCP_TOOL_TIMEOUT"] = text;
        config = load(world.environment).config;
        EXPECT_EQ(find(config, "a")->tool_timeout, std::chrono::milliseconds(ms));
        EXPECT_EQ(all(config.diagnostics), "");
    }
    for (const auto* wrong : {"soon", "-1", "0", "5s", "31622400001", "99999999999999999999"}) {
        world.variables["MCP_TOOL_TIMEOUT"] = wrong;
        config = load(world.environment).config;
        EXPECT_EQ(find(config, "a")->tool_timeout, std::chrono::hours(27));
        EXPECT_THAT(all(config.diagnostics),
                    HasSubstr("MCP_TOOL_TIMEOUT: ignored \"" + std::string(wrong)));
    }
}

TEST(Assignment, MayHoldASecretWhereAnythingIsPassedOn) {
    for (const char* set :
         {"servers.a.env.TOKEN=x", "servers.a.headers={A=\"x\"}", "servers.a.args=[\"x\"]",
          "servers.a.url=https://h/x", "servers={a={config={env={A=\"x\"}}}}",
          "auth.a.client_secret=x", "servers.a.command=p --token=abc", "servers.a.\"env\".B=x",
          "no assignment"})
        EXPECT_TRUE(may_hold_a_secret(set)) << set;
    for (const char* set : {"health.misses=5", "servers.a.enabled=false", "host.stdio_sharing=true",
                            "servers.a.command=npx", "permissions.deny=[\"mcp__a__*\"]"})
        EXPECT_FALSE(may_hold_a_secret(set)) << set;
}

}  // namespace
}  // namespace patchbay::config
