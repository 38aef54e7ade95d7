// What configuration forbids, through the command line: who says so, and what turns it on again.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

TEST(ConfigOnTheCommandLine, ADisabledServerIsNotCalled) {
    Home home;
    home.add_example("x", {}, {{"enabled", false}});
    const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, AllOf(HasSubstr("mcp__x__echo"), HasSubstr("\"x\" is disabled"),
                                Not(HasSubstr("config check"))));
    const auto file =
        home.write(".patchbay/config.toml", "# two\n# lines\n[servers.x]\nenabled = false\n");
    EXPECT_THAT(home.run({"call", "mcp__x__echo"}).err, HasSubstr(file + ":4:1")) << "where it is";
}

TEST(ConfigOnTheCommandLine, ADisabledServerHasNoToolsAndIsNamedToWhoMeansIt) {
    Home home;
    home.add_example("x", {}, {{"enabled", false}});
    const auto all = home.run({"tools"});
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_THAT(all.out, Not(HasSubstr("mcp__")));
    const auto meant = home.run({"tools", "mcp__x__*"});
    EXPECT_EQ(meant.exit_code, 6) << meant.err;
    EXPECT_THAT(meant.err, HasSubstr("\"x\" is disabled"));
}

TEST(ConfigOnTheCommandLine, AToolThatPolicyHidesIsDeniedToo) {
    Home home;
    home.add_example("x", {}, {{"disabled_tools", {"fail"}}});
    const auto done = home.run({"call", "mcp__x__fail"});
    EXPECT_EQ(done.exit_code, 7) << done.err;
    EXPECT_THAT(done.err, HasSubstr("is in disabled_tools of server \"x\""));
}

TEST(ConfigOnTheCommandLine, ADeniedCallIsDeniedWhateverItsArguments) {
    Home home;
    home.add_example("x");
    const auto done =
        home.run({"--set", "permissions.deny=[\"mcp__x__add\"]", "call", "mcp__x__add"});
    EXPECT_EQ(done.exit_code, 7) << done.err;
    EXPECT_THAT(done.err, HasSubstr("denied"));
}

TEST(ConfigOnTheCommandLine, ADeniedCallStartsNothing) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"--set", "servers.x.command=no-such-program", "--set",
                                "permissions.deny=[\"mcp__x__add\"]", "call", "mcp__x__add"});
    EXPECT_EQ(done.exit_code, 7) << done.err;
    EXPECT_THAT(done.err, HasSubstr("denied"));
}

TEST(ConfigOnTheCommandLine, AServerWithAnOverlayThatCannotBeUsedIsNotReached) {
    Home home;
    home.add_example("x");
    home.write(home.user_config() / "config.toml",
               "[servers.x]\nenabled_tools = ['echo']\ndisabeld_tools = ['add']\n");
    for (const Words& words :
         {Words{"call", "mcp__x__echo", "message=hi"}, Words{"tools"}, Words{"tools", "mcp__x__*"},
          Words{"resources", "list"}, Words{"resources", "read", "x://y", "--server", "x"},
          Words{"prompts", "get", "p", "--server", "x"}, Words{"prompts", "list"},
          Words{"mcp", "status", "x"},
          Words{"complete", "--prompt", "p", "a=b", "--server", "x"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 4) << testing::PrintToString(words) << done.out;
        EXPECT_THAT(done.err, HasSubstr("config.toml:3:1: server \"x\": \"disabeld_tools\""));
    }
    const auto batch = home.run({"batch"}, R"({"id":1,"op":"tools/call","name":"mcp__x__echo"})");
    EXPECT_THAT(Lines(batch.out).message(1), HasSubstr("config.toml:3:1: server \"x\""));
    EXPECT_NE(batch.exit_code, 0);
}

TEST(ConfigOnTheCommandLine, ARuleInATableByAWrongNameIsNotLost) {
    const struct {
        const char* text;
        int of_the_user, of_a_checkout;  // exit codes; what nobody approved is denied
        const char* says;
    } cases[] = {
        {"[server.x]\ndisabled_tools = ['echo']\n", 4, 4,
         ":1:9: server \"x\": unknown table or key \"server\"; did you mean \"servers\"?"},
        {"[policies]\ndeny = ['mcp__x__echo']\n", 7, 7,
         ":1:2: unknown table or key \"policies\"; it may hold a rule that forbids something"},
        {"[servers.x]\ncommand = 'x'\nexcludeTools = ['echo']\n", 4, 7,
         ":3:1: server \"x\": unknown key \"excludeTools\""},
    };
    for (const auto& c : cases) {
        for (const bool checkout : {false, true}) {
            SCOPED_TRACE(std::string(c.text) + (checkout ? "checkout" : "user"));
            Home home;
            home.add_example("x");
            const auto file =
                home.write(checkout ? std::filesystem::path(".patchbay/config.toml")
                                    : std::filesystem::path(home.user_config()) / "config.toml",
                           c.text);
            const auto done = home.run({"-q", "call", "mcp__x__echo", "message=hi"});
            EXPECT_EQ(done.exit_code, checkout ? c.of_a_checkout : c.of_the_user) << done.out;
            EXPECT_EQ(done.out, "");
            EXPECT_THAT(done.err, HasSubstr("error: "));
            const auto checked = home.run({"config", "check"});
            EXPECT_EQ(checked.exit_code, 4);
            EXPECT_THAT(checked.err, HasSubstr(file + c.says));
        }
    }
}

TEST(ConfigOnTheCommandLine, ADisabledServerIsTurnedOnByTheKeyThatStandsThere) {
    Home home;
    home.write(".mcp.json", R"({"mcpServers":{"y":{"command":"y","disabled":true}}})");
    home.write(home.user_config() / "mcp.json",
               R"({"mcpServers":{"x":{"command":"x","disabled":true}}})");
    EXPECT_THAT(home.run({"call", "mcp__x__echo"}).err,
                AllOf(HasSubstr("set disabled = false"), Not(HasSubstr("enabled = true"))));
}

TEST(ConfigOnTheCommandLine, WhatACheckoutForbidsCountsThoughItsLooseningDoesNot) {
    Home home;
    home.add_example("x");
    home.write(".mcp.json",
               R"({"servers":{"x":{"disabled_tools":["echo"],"tool_timeout_sec":1}}})");
    const auto denied = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(denied.exit_code, 7) << denied.out;
    EXPECT_THAT(denied.err, HasSubstr("may not shorten a time-out"));
    EXPECT_EQ(home.run({"call", "mcp__x__add", "a=1", "b=2"}).out, "3\n");
}

TEST(ConfigOnTheCommandLine, RulesThatMatchNoToolAreToldOnceTheToolsAreKnown) {
    Home home;
    home.add_example("files", {}, {{"enabled_tools", {"echo", "ecoh"}}});
    home.add("away", {{"command", "/bin/false"}, {"disabled_tools", {"nothing"}}});
    const auto file =
        home.write(home.user_config() / "config.toml",
                   "[permissions]\ndeny = [\"mcp__files__fial\", \"mcp__files__delete_*\",\n"
                   "        \"mcp__away__x\", \"mcp__flies__*\", \"mcp__files__fail\"]\n");
    const auto known =
        AllOf(HasSubstr("enabled_tools names \"ecoh\", and the server has no such tool; did you "
                        "mean \"echo\"?"),
              HasSubstr(file + ":2:9: permissions.deny: \"mcp__files__fial\" matches no tool of "
                               "server \"files\"; did you mean \"mcp__files__fail\"?"),
              HasSubstr(file + ":2:29: permissions.deny: \"mcp__files__delete_*\" matches no"),
              Not(HasSubstr("\"mcp__files__fail\" matches")), Not(HasSubstr("mcp__away__x")),
              Not(HasSubstr("names \"nothing\"")));
    const auto misspelt =
        HasSubstr(file +
                  ":3:25: permissions.deny: \"mcp__flies__*\" concerns no server that is "
                  "configured; did you mean \"files\"?");
    EXPECT_THAT(home.run({"tools"}).err, AllOf(known, misspelt));
    EXPECT_THAT(home.run({"mcp", "status", "files"}).err, known);
    const auto call = home.run({"call", "mcp__files__echo", "message=hi"});
    EXPECT_THAT(call.err, known);
    EXPECT_EQ(call.out, "hi\n");
    EXPECT_EQ(home.run({"mcp", "status", "files", "-q"}).err, "");
    const auto check = home.run({"config", "check"});
    EXPECT_EQ(check.exit_code, 0);
    EXPECT_THAT(check.err, AllOf(misspelt, Not(HasSubstr("matches no tool"))));
}

TEST(ConfigOnTheCommandLine, ADenyMayCallAServerAsItIsWritten) {
    Home home;
    home.add_example("a__b c");
    for (const auto* pattern : {"mcp__a__b c__echo", " mcp__a_b-c__echo", "mcp__a__b c"}) {
        home.write(home.user_config() / "config.toml",
                   "[permissions]\ndeny = [\"" + std::string(pattern) + "\"]\n");
        const auto denied = home.run({"call", "mcp__a_b-c__echo", "message=hi"});
        EXPECT_EQ(denied.exit_code, 7) << denied.out;
        EXPECT_THAT(denied.err, HasSubstr(pattern));
    }
}

TEST(ConfigOnTheCommandLine, ADeniedToolIsExitCode7) {
    Home home;
    home.add_example("x");
    home.write(home.user_config() / "config.toml", "[permissions]\ndeny = [\"mcp__x__fail\"]\n");
    const auto done = home.run({"call", "mcp__x__fail"});
    EXPECT_EQ(done.exit_code, 7) << done.err;
    EXPECT_THAT(done.err, HasSubstr("mcp__x__fail"));
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).out, "hi\n");
}

}  // namespace
}  // namespace patchbay::test
