// Rules by a nearly right name, in a nearly right place, or by another program's name for them.
#include "config/rules.hpp"

#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTwoServers = "[servers.u]\ncommand = 'u'\n[servers.v]\ncommand = 'v'\n";

Config user_and(Scope scope, const std::string& text, Format format = Format::Toml) {
    std::vector<Fragment> fragments;
    fragments.push_back(read_fragment(kTwoServers, Format::Toml, {Scope::User, 0, "user.toml"}));
    fragments.push_back(read_fragment(text, format, {scope, 1, "other"}));
    return merge(std::move(fragments));
}

constexpr Scope kScopes[] = {Scope::User, Scope::Project, Scope::Local, Scope::Session};

TEST(Rules, OfAMisnamedTableOfServersTakeThoseServersDown) {
    for (const auto* text :
         {"[server.u]\ndisabled_tools = ['a']\n", "[Servers.u]\nenabled_tools = ['b']\n",
          "[serves.u]\nenabled = false\n", "[mcpServer.u]\ndisabledTools = ['a']\n",
          "[mcp-servers.u]\ndisabeld_tools = ['a']\n", "[mcp.server.u]\ndisabled_tools = ['a']\n",
          "[server.u.tools]\na = 'deny'\n", "[server.u]\ntrust = 'untrusted'\n",
          "[server.u]\ncommand = 'x'\nexcludeTools = ['a']\n",
          "[mcp_servers.w]\ncommand = 'w'\n[mcp_server.u]\ndisabled_tools = ['a']\n"}) {
        for (const auto scope : kScopes) {
            SCOPED_TRACE(std::string(name_of(scope)) + " " + text);
            const auto config = user_and(scope, text);
            EXPECT_FALSE(find(config, "u"));
            EXPECT_TRUE(find(config, "v"));
            EXPECT_EQ(config.permissions.closed, "");
            EXPECT_THAT(config.diagnostics,
                        ElementsAre(AllOf(Field(&Diagnostic::severity, Severity::Error),
                                          Field(&Diagnostic::server, "u"),
                                          Field(&Diagnostic::message, HasSubstr("did you mean")))));
        }
    }
}

TEST(Rules, OfATableThatNobodyKnowsDenyEveryCall) {
    for (const auto* text :
         {"[policies]\ndeny = ['mcp__u__a']\n", "[Permissions]\ndeny = ['x']\n",
          "[rules]\ndeny = ['x']\n", "[u]\ndisabled_tools = ['a']\n", "[u]\nenabled = false\n",
          "disabled_tools = ['a']\n", "deny = ['mcp__u__a']\n", "enabld = false\n",
          "[x.y.z]\nblocked_tools = ['a']\n", "[tools]\nmcp__u__a = 'deny'\n",
          "[server]\ndisabled_tools = ['a']\n", "[[server]]\nid = 'u'\ndisabled_tools = ['a']\n",
          "[plugin]\ndisabled = ['x']\n", "[client]\ndisabled_tools = ['a']\n",
          "[plugins]\ndisable = ['x']\n", "[health.servers.u]\ndisabled_tools = ['a']\n"}) {
        for (const auto scope : kScopes) {
            SCOPED_TRACE(std::string(name_of(scope)) + " " + text);
            const auto config = user_and(scope, text);
            EXPECT_NE(config.permissions.closed, "");
            ASSERT_TRUE(config.permissions.allow);
            EXPECT_THAT(*config.permissions.allow, IsEmpty());
            EXPECT_THAT(all(config.diagnostics), HasSubstr("error: "));
        }
    }
}

TEST(Rules, OfADefinitionInTheWrongPlaceConcernThatServerAlone) {
    const auto config = user_and(Scope::User, "[u]\ncommand = 'x'\ndisabled_tools = ['a']\n");
    EXPECT_FALSE(find(config, "u"));
    EXPECT_TRUE(find(config, "v"));
    EXPECT_EQ(config.permissions.closed, "");
    EXPECT_THAT(all(config.diagnostics), HasSubstr("a server stands below \"servers\""));
}

TEST(Rules, AreNotSeenInWhatForbidsNothing) {
    for (const auto* text :
         {"[helth]\nmisses = 1\n", "[ui]\ncolour = 'deep'\nfonts = ['x']\n",
          "[server.u]\ncommand = 'x'\n", "[x]\nenabled = true\n", "[x]\ndisabled = false\n",
          "srevers = 1\n", "[logs]\nlevel = 'warn'\n"}) {
        SCOPED_TRACE(text);
        const auto config = user_and(Scope::User, text);
        EXPECT_EQ(config.servers.size(), 2u);
        EXPECT_EQ(config.permissions.closed, "");
        EXPECT_THAT(config.diagnostics,
                    ElementsAre(Field(&Diagnostic::severity, Severity::Warning)));
    }
}

TEST(Rules, OfAnotherProgramsFileAreThatProgramsButForItsServers) {
    const auto config =
        user_and(Scope::User,
                 R"({"mcpServers": {"w": {"command": "w"}}, "tools": {"exclude": ["x"]},
            "projects": {"/x": {"allowedTools": ["a"]}}, "telemetry": {"enabled": false}})",
                 Format::Json);
    EXPECT_EQ(config.servers.size(), 3u);
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_EQ(config.permissions.closed, "");
}

TEST(Rules, InATableOfServersByAnotherNameCountToo) {
    for (const char* text :
         {"[mcp.permissions]\ndeny = ['mcp__u__a']\n", "[mcp]\ndeny = ['mcp__u__a']\n",
          "[mcp.u]\ndisabled_tools = ['a']\n", "[mcp]\nexcluded = 'u'\n",
          "[mcp]\n[rules]\ndeny = ['mcp__u__a']\n",
          "[servers.w]\ncommand = 'w'\n[mcp_servers]\n[rules]\ndeny = ['mcp__u__a']\n"}) {
        SCOPED_TRACE(text);
        EXPECT_NE(user_and(Scope::User, text).permissions.closed, "");
    }
}

TEST(Rules, OfWhichServersThereAreTurnTheOthersOff) {
    for (const auto& [lists, w, v] :
         {std::tuple(R"({"excluded": ["w"]})", false, true),
          std::tuple(R"({"allowed": ["w"]})", true, false),
          std::tuple(R"({"allowed": ["w", "v"], "excluded": ["v"], "serverCommand": "x"})", true,
                     false)}) {
        const auto config =
            user_and(Scope::User,
                     R"({"mcpServers": {"w": {"command": "w"}, "v": {"command": "v"}},
            "mcp": )" + std::string(lists) +
                         "}",
                     Format::Json);
        SCOPED_TRACE(lists);
        EXPECT_EQ(config.permissions.closed, "");
        for (const auto& server : config.servers) {
            if (server.id == "w") EXPECT_EQ(server.enabled, w);
            if (server.id == "v") EXPECT_EQ(server.enabled, v);
        }
    }
}

TEST(Rules, BesideAnApprovalModeAreNotLost) {
    const auto config = user_and(Scope::User, R"([mcp_servers.w]
command = 'w'
[mcp_servers.w.tools.secret]
approval_mode = 'approve'
enabled = false
)");
    EXPECT_THAT(all(config.diagnostics), HasSubstr("secret"));
    for (const auto& server : config.servers) EXPECT_NE(server.id, "w");
}

TEST(Rules, InTheCommandLineStopTheRun) {
    World world;
    world.environment.sets = {"server.u.disabled_tools=['a']"};
    EXPECT_THAT(load(world.environment).config.stop, HasSubstr("did you mean \"servers\"?"));
}

TEST(Rules, AreKnownByTheNamesThatOtherProgramsHaveForThem) {
    for (const auto* name : {"disabled_tools",   "disabledTools",  "disabled-tools",
                             "disabled_tool",    "disabeldTools",  "excludeTools",
                             "exclude_tools",    "includeTools",   "allowedTools",
                             "allowed_tools",    "blockedTools",   "blocked_tools",
                             "disallowedTools",  "availableTools", "toolFilter",
                             "tool_permissions", "deny",           "denied_tools",
                             "Enabled",          "trsut",          "require_approval",
                             "isActive",         "tools_disabled", "block",
                             "whitelist",        "hidden"})
        EXPECT_TRUE(names_a_rule(name)) << name;
    for (const auto* name :
         {"command", "argz", "env_file", "url", "header", "description", "timeout", "lasy", "icon",
          "notes", "labels", "include_dirs", "host", "prot", "version", "name", "own"})
        EXPECT_FALSE(names_a_rule(name)) << name;
}

}  // namespace
}  // namespace patchbay::config
