#include "config/merge.hpp"

#include "config/permission_lists.hpp"
#include "core/spelling.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

TEST(ConfigMerge, ARuleKnowsWhereItWasWritten) {
    std::vector<Fragment> fragments;
    fragments.push_back(
        toml(Scope::User, "[servers.x]\ncommand = 'x'\ntools = { a = 'deny', b = 'deny' }\n"));
    fragments.push_back(
        toml(Scope::Local, "[servers.x]\ndisabled_tools = ['c']\ntools = { b = 'disable' }\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
    const auto& x = config.servers[0];
    EXPECT_EQ(to_string(x.place_of_rule("tools.a")), "user config user.toml:3:11");
    EXPECT_EQ(to_string(x.place_of_rule("tools.b")), "local config local.toml:3:11");
    EXPECT_EQ(to_string(x.place_of_rule("disabled_tools")), "local config local.toml:2:1");
    EXPECT_EQ(to_string(x.place_of_rule("enabled_tools")), to_string(x.place));
}

TEST(ConfigMerge, AModeThatNobodyKnowsIsTold) {
    EXPECT_THAT(
        all(of_user("[servers.x]\ncommand = 'x'\nmode = 'shaerd'\n").diagnostics),
        HasSubstr("warning: user config user.toml:3:8: server \"x\": mode: \"shaerd\" is none "
                  "of auto, shared, per_session; did you mean \"shared\"?"));
    EXPECT_EQ(all(of_user("[servers.x]\ncommand = 'x'\nmode = 'shared'\n").diagnostics), "");
}

TEST(ConfigMerge, AKeyInPermissionsThatNobodyKnowsClosesThem) {
    for (const auto* text : {"[permissions]\ndeni = ['mcp__a__wipe']\n", "[policy]\nDeny = ['x']\n",
                             "[permission]\ndeny = ['x']\n", "[permisions]\ndeny = ['x']\n"}) {
        SCOPED_TRACE(text);
        for (const auto scope : {Scope::User, Scope::Project, Scope::Local, Scope::Session}) {
            std::vector<Fragment> one;
            one.push_back(toml(scope, text));
            const auto config = merge(std::move(one));
            EXPECT_NE(config.permissions.closed, "");
            ASSERT_TRUE(config.permissions.allow);
            EXPECT_THAT(*config.permissions.allow, IsEmpty());
            EXPECT_THAT(all(config.diagnostics), HasSubstr("error: "));
        }
    }
    EXPECT_EQ(of_user("[helth]\nmisses = 1\n").permissions.closed, "");
}

TEST(ConfigMerge, ATimeOutRemembersTheKeyThatSetIt) {
    const auto config = of_user(
        "[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'x'\nstartup_timeout_ms = 1\n"
        "request_timeout_sec = 1\ntool_timeout_ms = 1\n[servers.c]\ncommand = 'x'\n"
        "startup_timeout_sec = 1\nrequest_timeout_ms = 1\ntool_timeout_sec = 1\n");
    ASSERT_EQ(config.servers.size(), 3u);
    for (const auto& server : config.servers) {
        const bool other = server.id == "b";
        EXPECT_STREQ(server.startup_timeout_from,
                     other ? "startup_timeout_ms" : "startup_timeout_sec");
        EXPECT_STREQ(server.request_timeout_from,
                     other ? "request_timeout_sec" : "request_timeout_ms");
        EXPECT_STREQ(server.tool_timeout_from, other ? "tool_timeout_ms" : "tool_timeout_sec");
    }
}

TEST(ConfigMerge, ADenyThatIsTheNameOfNothingDeniesAll) {
    for (const auto* pattern : {"echo", "delete_*", "x__echo", "mcp_x__echo", "mcp:x:echo",
                                "MCP__x__echo", "", " ", "mcp__", "mcp__*__echo"}) {
        SCOPED_TRACE(pattern);
        const auto text = "[permissions]\ndeny = ['" + std::string(pattern) + "']\n";
        EXPECT_NE(of_user(text).permissions.closed, "");
        std::vector<Fragment> enterprise;
        enterprise.push_back(toml(Scope::Enterprise, "exclusive = false\n" + text));
        EXPECT_TRUE(merge(std::move(enterprise)).deny_all);
    }
    for (const auto* pattern : {"mcp__elsewhere__x", "mcp__x__*", "mcp__x", "mcp__*", "m*", "*",
                                " mcp__x__echo ", "mcp__we ird__x", "mcp__x__ec?o", "mcp__x__* "})
        EXPECT_EQ(
            of_user("[permissions]\ndeny = ['" + std::string(pattern) + "']\n").permissions.closed,
            "")
            << pattern;
}

TEST(ConfigMerge, AnEnterpriseFileWithAnUnknownKeyDeniesAll) {
    for (const auto* text : {"exclusiv = false\n",
                             "exclusive = false\n[limits]\nmesage_bytes = 1\n",
                             "exclusive = false\n[health]\nmisses = 'x'\n",
                             "exclusive = false\n[permissions]\ndeni = ['x']\n",
                             "exclusive = false\n[permissions.x]\nlimit = 1\n",
                             "exclusive = false\n[policy]\nx = 1\n",
                             "exclusive = false\nx = 1\n",
                             "exclusive = false\n[x]\ny = 1\n",
                             "exclusive = false\n[x.y.z]\nenabled = true\n",
                             "exclusive = false\n[telemetry]\nenabled = false\n",
                             "exclusive = false\n[mcp]\nx = 1\n",
                             "exclusive = false\n[mcp.x]\ny = 1\n",
                             "exclusive = false\n[client]\nx = 1\n",
                             "exclusive = false\n[client.x]\ny = 1\n",
                             "exclusive = false\n[plugins]\nx = 1\n",
                             "exclusive = false\n[secrets]\nx = 1\n",
                             "exclusive = false\n[log]\nx = 1\n",
                             "exclusive = false\nenabled = false\n",
                             "exclusive = false\nenabled = false\n[mcp_servers.y]\ncommand = 'y'\n",
                             "exclusive = false\n[agents.x]\ndisabled_tools = ['a']\n",
                             "exclusive = false\n[bundles.x]\ndeny = ['a']\n",
                             "exclusive = false\n[mcp_servers.y]\ncommand = 'y'\n[x]\ny = 1\n"}) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'x'\n"));
        fragments.push_back(toml(Scope::Enterprise, text));
        const auto config = merge(std::move(fragments));
        EXPECT_TRUE(config.deny_all) << text;
        EXPECT_THAT(config.servers, IsEmpty());
    }
}

TEST(ConfigMerge, WhatAUserTurnsOffStaysOffThoughACheckoutDefinesIt) {
    for (const auto scope : {Scope::Project, Scope::Local}) {
        SCOPED_TRACE(name_of(scope));
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[servers.x]\nenabled = false\n"));
        fragments.push_back(toml(scope, "[servers.x]\ncommand = 'x'\n"));
        const auto config = merge(std::move(fragments));
        ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
        EXPECT_FALSE(config.servers[0].enabled);
        EXPECT_EQ(to_string(config.servers[0].place_of_rule("enabled")),
                  "user config user.toml:2:1");
    }
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\nenabled = false\n"));
    fragments.push_back(toml(Scope::Session, "[servers.x]\ncommand = 'x'\n"));
    EXPECT_TRUE(merge(std::move(fragments)).servers.at(0).enabled) << "it is the user's own";
}

TEST(ConfigMerge, ABrokenEntryIsNotReplacedByAWeakerOne) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'user'\n"));
    fragments.push_back(toml(Scope::Project, "[servers.x]\ncommand = 7\n"));
    EXPECT_THAT(merge(std::move(fragments)).servers, IsEmpty());
}

TEST(ConfigMerge, AnOverlayThatMakesNoSenseTakesTheServerDownWhoeverWroteIt) {
    for (const auto* overlay :
         {"disabled_tools = 'wipe'", "disabeld_tools = ['x']", "tools = { wipe = 'denny' }",
          "disabled_tools = ['wipe']\nheaders = { A = 'b' }",
          "disabled_tools = ['wipe']\ntool_timeout_sec = 'x'"}) {
        for (const auto scope :
             {Scope::User, Scope::Project, Scope::Local, Scope::Session, Scope::Enterprise}) {
            SCOPED_TRACE(std::string(overlay) + " " + name_of(scope));
            std::vector<Fragment> fragments;
            fragments.push_back(
                toml(Scope::User, "[servers.x]\ncommand = 'x'\n[servers.y]\ncommand = 'y'\n"));
            fragments.push_back(
                toml(scope, std::string(scope == Scope::Enterprise ? "exclusive = false\n" : "") +
                                "[servers.x]\n" + overlay));
            const auto config = merge(std::move(fragments));
            EXPECT_THAT(config.servers, ElementsAre(Field(&Server::id, "y")));
            EXPECT_THAT(config.diagnostics, ElementsAre(Field(&Diagnostic::server, "x")));
        }
    }
}

TEST(ConfigMerge, TwoOverlaysOfOneStrengthTakeTheServerDownAsNeitherMayBeLost) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'x'\n"));
    for (const auto* file : {"a.toml", "b.toml"})
        fragments.push_back(read_fragment("[servers.x]\ndisabled_tools = ['wipe']\n", Format::Toml,
                                          {Scope::Project, 0, file}));
    auto with_a_definition = fragments;
    const auto config = merge(std::move(fragments));
    EXPECT_THAT(config.servers, IsEmpty());
    EXPECT_THAT(
        all(config.diagnostics),
        HasSubstr("project config b.toml:1:10: server \"x\": already adjusted at a.toml:1:10; "
                  "make one entry of the two"));
    with_a_definition.push_back(toml(Scope::Session, "[servers.x]\ncommand = 'other'\n"));
    EXPECT_EQ(merge(std::move(with_a_definition)).servers.size(), 1u);
}

TEST(ConfigMerge, AnEnterpriseOverlayAdjustsAServerOfTheUser) {
    std::vector<Fragment> fragments;
    fragments.push_back(toml(Scope::User, "[servers.x]\ncommand = 'user'\n"));
    fragments.push_back(
        toml(Scope::Enterprise, "exclusive = false\n[servers.x]\ndisabled_tools = ['wipe']\n"));
    const auto config = merge(std::move(fragments));
    ASSERT_EQ(config.servers.size(), 1u) << all(config.diagnostics);
    EXPECT_THAT(config.servers[0].disabled_tools, ElementsAre("wipe"));
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

TEST(ConfigMerge, PingsAreNoMoreFrequentThanAServerCanAnswer) {
    const auto health = [](const std::string& text) {
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[health]\n" + text));
        return merge(std::move(fragments));
    };
    const auto least = health("ping_interval_sec = 1\nping_timeout_sec = 0.1\n");
    EXPECT_THAT(least.diagnostics, IsEmpty());
    EXPECT_EQ(least.health.ping_interval, 1s);
    EXPECT_EQ(least.health.ping_timeout, 100ms);
    EXPECT_THAT(health("ping_interval_sec = 0.999\nping_timeout_sec = 0.099\n").diagnostics,
                ElementsAre(Field(&Diagnostic::message, HasSubstr("seconds from 1 to 31622400")),
                            Field(&Diagnostic::message, HasSubstr("from 0.1 to 31622400"))));
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

TEST(ConfigMerge, AMessageNamesTheKeyThatWasWritten) {
    std::vector<Fragment> one;
    one.push_back(read_fragment(R"({"mcpServers": {"x": {"command": "x", "timeout": "5"}}})",
                                Format::Json, {Scope::User, 0, "mcp.json"}));
    EXPECT_THAT(all(merge(std::move(one)).diagnostics),
                HasSubstr("server \"x\": timeout: expected"));
    EXPECT_THAT(all(of_user("[servers.x]\ncommand = 'x'\ntool_timeout_sec = 1\n"
                            "tool_timeout_ms = 2\n")
                        .diagnostics),
                HasSubstr(":4:1: server \"x\": tool_timeout_sec and tool_timeout_ms say the same"));
}

TEST(ConfigMerge, AMisspeltCommandIsToldOnce) {
    const auto config = of_user("[servers.a]\ncomand = 'x'\n[servers.b]\ncommand = 'b'\n");
    EXPECT_EQ(
        all(config.diagnostics),
        "error: user config user.toml:2:1: server \"a\": unknown key \"comand\"; did you mean "
        "\"command\"?\n");
}

TEST(ConfigMerge, FoldersOfCursorAreThoseOfItsFile) {
    std::vector<Fragment> one;
    one.push_back(read_fragment(
        R"({"mcpServers": {"x": {"command": "${workspaceFolder}/x", "args": ["${userHome}"],
            "env": {"A": "$MY_TOKEN", "B": "$ 5", "C": "${C}"}}}})",
        Format::Json, {Scope::User, 0, "/w/.cursor/mcp.json"}));
    const auto config = merge(std::move(one));
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].settings.at("command"), "/w/x");
    EXPECT_EQ(serialize(config.servers[0].settings.at("args")), R"(["${HOME}"])");
    EXPECT_THAT(config.diagnostics,
                ElementsAre(Field(&Diagnostic::message,
                                  "server \"x\": env.A: \"$MY_TOKEN\" is kept as it is; for the "
                                  "variable write \"${MY_TOKEN}\"")));
}

TEST(ConfigMerge, AFileInTheFolderOfVsCodeIsVsCodesWithoutInputsToo) {
    const auto command = [](const char* text, const char* file) {
        std::vector<Fragment> one;
        one.push_back(read_fragment(text, Format::Json, {Scope::User, 0, file}));
        return merge(std::move(one)).servers.at(0).settings.at("command");
    };
    const char* const servers = R"({"servers": {"x": {"command": "${workspaceFolder}/x"}}})";
    EXPECT_EQ(command(servers, "/w/.vscode/mcp.json"), "/w/x");
    EXPECT_EQ(command(R"({"mcp": {"servers": {"x": {"command": "${workspaceFolder}/x"}}}})",
                      "/w/.vscode/settings.json"),
              "/w/x");
    for (const char* other : {"/w/.vscode.json", "/w/vscode/mcp.json", "mcp.json"})
        EXPECT_EQ(command(servers, other), "${workspaceFolder}/x") << other;
}

TEST(ConfigMerge, AMistakeSaysWhatWasFound) {
    EXPECT_THAT(
        all(of_user("[servers.x]\ncommand = ''\n").diagnostics),
        HasSubstr("expected a program, or a list that begins with one, found an empty text"));
    const auto json = [](const char* text) {
        std::vector<Fragment> one;
        one.push_back(read_fragment(text, Format::Json, {Scope::User, 0, "mcp.json"}));
        return all(merge(std::move(one)).diagnostics);
    };
    EXPECT_THAT(json(R"({"servers":{"x":{"command":"x","env":{"Z":null}}}})"),
                HasSubstr("env.Z: expected text, found no value (null)"));
    for (const char* key : {"servers", "mcpServers", "mcp_servers"})
        EXPECT_THAT(json((std::string("{\"") + key + "\":null}").c_str()),
                    HasSubstr(std::string(key) + ": there is nothing in it (null)"));
    EXPECT_THAT(json(R"({"x":{"command":"x"}})"),
                HasSubstr("unknown table or key \"x\"; a server stands below \"servers\" or "
                          "\"mcpServers\""));
    const auto below = HasSubstr("; servers stand below \"servers\" or \"mcpServers\"");
    EXPECT_THAT(json(R"({"context_servers":{"x":{"command":"x"}}})"), below) << "Zed's";
    EXPECT_THAT(json(R"({"mcp":{"x":{"command":["x"],"type":"local"}}})"), below) << "opencode's";
    EXPECT_THAT(json(R"({"mcp":{"x":{"command":["x"],"enabled":false}}})"), below);
    EXPECT_EQ(json(R"({"mcp":{"gallery":{"on":"x"}}})"), "") << "of VS Code";
    EXPECT_THAT(json(R"({"x":{"colour":"x"}})"), ::testing::Not(HasSubstr("a server stands")));
}

TEST(ConfigMerge, ServersThatCannotBeReadMayHaveForbiddenSomething) {
    for (const auto* text :
         {"servers = 'x'\n", "servers = [{ nmae = 'x', disabled_tools = ['a'] }]\n",
          "mcpServers = 4\n"}) {
        const auto config = of_user(text);
        EXPECT_NE(config.permissions.closed, "") << text;
        EXPECT_THAT(config.diagnostics, ElementsAre(Field(&Diagnostic::severity, Severity::Error)));
    }
    EXPECT_EQ(of_user("servers = [{ nmae = 'x', command = 'x' }]\n").permissions.closed, "")
        << "it could only have been itself";
}

TEST(ConfigMerge, ListsAreBounded) {
    const auto with = [](int count) {
        std::string many;
        for (int i = 0; i < count; ++i) many += "'mcp__v" + std::to_string(i) + "',";
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::User, "[mcp_servers.x]\ncommand = 'x'\nenv_vars = [" +
                                                  many + "]\n[permissions]\ndeny = [" + many +
                                                  "]\n"));
        return merge(std::move(fragments));
    };
    const auto whole = with(4096);
    EXPECT_EQ(whole.servers.size(), 1u) << all(whole.diagnostics);
    EXPECT_EQ(whole.permissions.deny.size(), 4096u);
    const auto config = with(4097);
    EXPECT_TRUE(config.servers.empty());
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("server \"x\": more than 4096 values in one list or table, the limit"));
    EXPECT_THAT(all(config.diagnostics), HasSubstr("permissions: more than 4096 values"));
}

TEST(ConfigMerge, SoIsTheNumberOfServersOfAFile) {
    for (const int count : {4096, 4097}) {
        std::string many;
        for (int i = 0; i < count; ++i) many += "s" + std::to_string(i) + " = { command = 'x' }\n";
        std::vector<Fragment> fragments;
        fragments.push_back(toml(Scope::Project, "[servers]\n" + many));
        const bool fits = fragments[0].servers.size() == 4096u;
        EXPECT_EQ(fits, count == 4096);
        EXPECT_EQ(fragments[0].diagnostics.empty(), fits);
        EXPECT_THAT(
            all(fragments[0].diagnostics),
            HasSubstr(fits ? "" : "servers: more than 4096 servers in one file, the limit"));
    }
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
