// What a definition that nobody has approved forbids all the same, and that it allows nothing.
#include "approval_fixture.hpp"

#include <gmock/gmock.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(Approval, AnUnapprovedDefinitionDoesNotReplaceTheUsers) {
    user("[servers.a]\ncommand = 'mine'\n");
    project("[servers.a]\ncommand = 'theirs'\n");
    const auto config = now();
    ASSERT_TRUE(find(config, "a"));
    EXPECT_EQ(find(config, "a")->settings.at("command"), "mine");
    EXPECT_THAT(all(config.diagnostics),
                AllOf(HasSubstr("server \"a\": this definition is not approved, so the one of user "
                                "config"),
                      HasSubstr("stays in force; to see and approve it: patchbay trust a")));
    approve({"a"});
    EXPECT_EQ(find(now(), "a")->settings.at("command"), "theirs");
}

TEST_F(Approval, AFaultyDefinitionWhoseRulesCanBeReadDoesNotTakeTheUsersDown) {
    user("[servers.a]\ncommand = 'mine'\n");
    for (const auto* text :
         {"command = 7\n", "transport = 'x'\nport = 'x'\n", "config = { command = 7 }\n"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\n" + std::string(text));
        EXPECT_TRUE(find(now(), "a"));
        EXPECT_EQ(waiting(), Ids{"a"});
    }
}

// What it says itself can be read, whatever its template would have been.
TEST_F(Approval, AnUnapprovedDefinitionWhoseTemplateIsWrongForbidsWhatItSaysAndNoMore) {
    user("[servers.a]\ncommand = 'mine'\n");
    for (const auto* text :
         {"template = 'nope'\n", "template = 7\n", "template = 't'\nwith = { x = 1 }\n"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\n" + std::string(text) +
                "disabled_tools = ['wipe']\n[templates.t]\ncommand = 'x'\n");
        const auto config = now();
        const auto* a = find(config, "a");
        ASSERT_TRUE(a) << all(config.diagnostics);
        EXPECT_EQ(a->settings.at("command"), "mine");
        EXPECT_TRUE(a->enabled);
        EXPECT_EQ(a->disabled_tools, Ids{"wipe"});
        EXPECT_THAT(all(config.diagnostics),
                    AllOf(HasSubstr("stays in force"), HasSubstr("template")));
        project("[servers.a]\n" + std::string(text) +
                "enabled = false\n[templates.t]\ncommand = 'x'\n");
        EXPECT_FALSE(find(now(), "a")->enabled);
    }
}

TEST_F(Approval, AFaultyEntryWithoutAWayToConnectTakesTheServerDownAsAnOverlayDoes) {
    for (const auto* entry :
         {R"({"disabledTools": ["wipe"], "disabled_tools": ["ok"]})",
          R"({"includeTools": ["ok"], "enabledTools": ["ok"]})",
          R"({"tools": ["ok"], "includeTools": ["wipe"]})", "5", "[]", R"(["wipe"])",
          R"({"config": {"disabled_tools": ["wipe"]}})", R"({"config": 5})"}) {
        for (const auto* file : {".mcp.json", ".patchbay.local.json"}) {
            SCOPED_TRACE(std::string(file) + " " + entry);
            World fresh;
            fresh.folder.write("home/user/.config/patchbay/config.toml",
                               "[servers.a]\ncommand = 'mine'\n[servers.b]\ncommand = 'b'\n");
            fresh.folder.write("home/user/src/project/.patchbay/config.toml", "");
            fresh.folder.write("home/user/src/project/" + std::string(file),
                               "{\"mcpServers\": {\n\"a\": " + std::string(entry) + "}}");
            const auto config = load(fresh.environment, {}, &approvals).config;
            EXPECT_FALSE(find(config, "a"));
            EXPECT_TRUE(find(config, "b"));
            EXPECT_TRUE(config.untrusted.empty()) << "there is nothing to approve";
            ASSERT_EQ(config.diagnostics.size(), 1u) << all(config.diagnostics);
            EXPECT_EQ(config.diagnostics[0].severity, Severity::Error);
            EXPECT_EQ(config.diagnostics[0].server, "a");
            EXPECT_THAT(to_string(config.diagnostics[0].place),
                        HasSubstr(std::string(file) + ":2:"));
        }
    }
}

TEST_F(Approval, AnUnapprovedDefinitionMayForbidAndNothingElse) {
    user("[servers.a]\ncommand = 'mine'\ndisabled_tools = ['wipe']\ntools = { read = 'deny' }\n");
    project(
        "[servers.a]\ncommand = 'theirs'\ndisabled_tools = ['format']\ntrust = 'trusted'\n"
        "tools = { read = 'allow-always', write = 'deny', list = 'allow-always' }\n");
    const auto config = now();
    const auto* a = find(config, "a");
    ASSERT_TRUE(a);
    EXPECT_EQ(a->disabled_tools, (Ids{"wipe", "format"}));
    EXPECT_EQ(a->tools,
              (std::map<std::string, Level>{{"read", Level::Deny}, {"write", Level::Deny}}));
    EXPECT_EQ(a->trust, "");
    EXPECT_TRUE(a->enabled);
    project("[servers.a]\ncommand = 'theirs'\nenabled = false\n");
    EXPECT_FALSE(find(now(), "a")->enabled);
    user("[servers.a]\ncommand = 'mine'\nenabled = false\n");
    project("[servers.a]\ncommand = 'theirs'\nenabled = true\n");
    EXPECT_FALSE(find(now(), "a")->enabled);
}

TEST_F(Approval, WhatAnUnapprovedDefinitionForbidsHasToBeReadable) {
    user("[servers.a]\ncommand = 'mine'\n");
    for (const auto* text :
         {"disabled_tools = 'wipe'", "tools = { wipe = 'denny' }", "enabled = 'no'"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\ncommand = 'theirs'\n" + std::string(text) + "\n");
        EXPECT_FALSE(find(now(), "a"));
        EXPECT_THAT(all(now().diagnostics), HasSubstr(":3:"));
    }
    project("[servers.a]\ncommand = 'theirs'\ntool_timeout_sec = 'x'\n");
    EXPECT_TRUE(find(now(), "a"));
    project(
        "[mcpServers.a]\ncommand = 'theirs'\ndisabledTools = ['wipe']\n"
        "disabled_tools = ['ok']\n");
    EXPECT_FALSE(find(now(), "a"));
    EXPECT_THAT(all(now().diagnostics), HasSubstr("say the same; keep one"));
}

TEST_F(Approval, WhatAnUnapprovedDefinitionForbidsByAWrongNameTakesTheServerDown) {
    user("[servers.a]\ncommand = 'mine'\n[servers.b]\ncommand = 'b'\n");
    for (const auto* text :
         {"disabledTools = ['wipe']", "disabled_tool = ['wipe']", "excludeTools = ['wipe']",
          "blocked_tools = ['wipe']", "config = { disabled_tools = ['wipe'] }",
          "config = { excludeTools = ['wipe'] }", "rules = { disabled_tools = ['wipe'] }",
          "tool = { wipe = 'deny' }", "disabled = true"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\ncommand = 'theirs'\n" + std::string(text) + "\n");
        EXPECT_FALSE(find(now(), "a"));
        EXPECT_TRUE(find(now(), "b"));
        EXPECT_THAT(all(now().diagnostics), HasSubstr(":3:"));
    }
    project("[servers.a]\ncommand = 'theirs'\nargz = ['x']\ncolour = 'red'\n");
    EXPECT_TRUE(find(now(), "a"));
}

TEST_F(Approval, AToolIsForbiddenByTheFileThatSaysSo) {
    user("[servers.a]\ncommand = 'mine'\ndisabled_tools = ['wipe']\n");
    project(
        "[servers.a]\ncommand = 'theirs'\ndisabled_tools = ['format', 'wipe']\n"
        "tools.read = 'deny'\n");
    const auto config = now();
    const auto* a = find(config, "a");
    ASSERT_TRUE(a);
    const auto place = [&](const char* rule, const char* tool) {
        return to_string(a->place_of_rule(rule, tool));
    };
    EXPECT_THAT(place("disabled_tools", "wipe"), HasSubstr("user config"));
    EXPECT_THAT(place("disabled_tools", "format"),
                AllOf(HasSubstr("project config"), HasSubstr(":3:")));
    EXPECT_THAT(place("tools", "read"), AllOf(HasSubstr("project config"), HasSubstr(":4:")));
}

TEST_F(Approval, AnOverlayOfACheckoutDoesNotTurnAServerOn) {
    for (const bool of_project : {true, false}) {
        user("[servers.a]\ncommand = 'mine'\nenabled = false\n");
        project(of_project ? "[servers.a]\nenabled = true\n" : "");
        local(of_project ? "" : "[servers.a]\nenabled = true\n");
        EXPECT_FALSE(find(now(), "a")->enabled);
        EXPECT_THAT(all(now().diagnostics),
                    HasSubstr(of_project ? "a project file may not turn on a server"
                                         : "a local file may not turn on a server"));
    }
}

TEST_F(Approval, RulesOfACheckoutForbidWithoutAnyApproval) {
    user("[servers.a]\ncommand = 'mine'\n");
    project("[permissions]\ndeny = ['mcp__a__wipe']\n[servers.b]\ncommand = 'run'\n");
    EXPECT_EQ(now().permissions.deny, Ids{"mcp__a__wipe"});
}

}  // namespace
}  // namespace patchbay::config
