// patchbay why: its answer is that of a call, and it says whose word decides.
#include "integration/home.hpp"
#include "integration/host_guest.hpp"
#include "support/result_schema.hpp"

#include <algorithm>

namespace patchbay::test {
namespace {

struct WhyIsThat : testing::Test {
    Home home;

    json::object why(Words words) {
        words.insert(words.begin(), {"--json", "why"});
        done = home.run(words);
        auto told = json::parse(done.out).as_object();
        EXPECT_TRUE(is_a("why", told));
        return told;
    }
    std::string answer(const std::string& name) {
        return std::string(why({name}).at("answer").as_string());
    }
    Outcome done;
};

TEST_F(WhyIsThat, ItsAnswerIsThatOfACall) {
    const struct {
        const char* settings;  // in the user's file, behind the server
        const char* answer;
        int exit_code;
    } cases[] = {
        {"", "allowed", 0},
        {"disabled_tools = ['echo']\n", "hidden", 7},
        {"enabled_tools = ['add']\n", "hidden", 7},
        {"enabled_tools = ['echo']\n", "allowed", 0},
        {"tools = {echo = 'deny'}\n", "denied", 7},
        {"tools = {echo = 'disable'}\n", "hidden", 7},
        {"tools = {echo = 'allow-always'}\n", "allowed", 0},
        {"trust = 'untrusted'\n", "denied", 7},
        {"trust = 'untrusted'\ntools = {echo = 'allow-always'}\n", "allowed", 0},
        {"enabled = false\n", "turned-off", 6},
        {"[permissions]\ndeny = ['mcp__x__e*']\n", "denied", 7},
        {"[permissions]\nallow = ['mcp__x__add']\n", "denied", 7},
        {"[permissions]\nallow = ['mcp__x__*']\n", "allowed", 0},
        {"[permissions]\nallow = ['mcp__x__*']\ndeny = ['mcp__x__echo']\n", "denied", 7},
        {"timeout = 'no number'\n", "broken", 4},
    };
    home.add_example("x");
    ASSERT_EQ(home.run({"tools"}).exit_code, 0) << "its tools are known from now on";
    for (const auto& c : cases) {
        home.write(home.user_config() / "config.toml", "[servers.x]\n" + std::string(c.settings));
        EXPECT_EQ(answer("mcp__x__echo"), c.answer) << c.settings << done.out;
        EXPECT_EQ(done.exit_code, c.exit_code) << c.settings;
        const auto call = home.run({"call", "mcp__x__echo", "message=hi"});
        EXPECT_EQ(call.exit_code, c.exit_code) << c.settings << call.err;
    }
}

TEST_F(WhyIsThat, ArgumentsThatDoNotFitAreToldAsACallIsRefusedForThem) {
    home.add_example("x");
    EXPECT_THAT(json::serialize(why({"mcp__x__add", "--args", "{}"}).at("notes")), HasSubstr("[]"))
        << "nobody has asked its server yet";
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    const auto wrong = why({"mcp__x__add", "--args", R"({"a":1,"b":"two"})"});
    EXPECT_EQ(wrong.at("answer"), "wrong-arguments");
    EXPECT_THAT(std::string(wrong.at("reason").as_string()), HasSubstr("b"));
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_EQ(home.run({"call", "mcp__x__add", "--args", R"({"a":1,"b":"two"})"}).exit_code, 3);
    const auto right = why({"mcp__x__add", "--args", R"({"a":1,"b":2})"});
    EXPECT_EQ(right.at("answer"), "allowed");
    EXPECT_THAT(json::serialize(right.at("notes")), HasSubstr("fit its inputSchema"));
    EXPECT_EQ(home.run({"why", "mcp__x__add", "--args", "{"}).exit_code, 3);
    home.write(home.user_config() / "config.toml", "[servers.x]\ntools = {add = 'deny'}\n");
    EXPECT_EQ(why({"mcp__x__add", "--args", "{}"}).at("answer"), "denied");
}

TEST_F(WhyIsThat, TheRuleThatDecidesIsNamedWithItsPlace) {
    home.add_example("x");
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    const auto file = home.write(home.user_config() / "config.toml",
                                 "[permissions]\n# not here\ndeny = ['mcp__x__e*']\n");
    const auto told = why({"mcp__x__echo"});
    const auto& rule = told.at("rule").as_object();
    EXPECT_EQ(rule.at("kind"), "permissions.deny");
    EXPECT_EQ(rule.at("text"), "mcp__x__e*");
    EXPECT_EQ(rule.at("place").at("file").as_string(), file);
    EXPECT_EQ(rule.at("place").at("line"), 3);
    const auto text = home.run({"why", "mcp__x__echo"});
    EXPECT_THAT(text.out, HasSubstr("deny = \"mcp__x__e*\" (user config " + file + ":3:"));
}

TEST_F(WhyIsThat, WhoSaysWhatOfAServerIsTold) {
    home.add_example("x");
    const auto weaker =
        home.write(home.user_config() / "config.toml", "[servers.x]\ntool_timeout_sec = 5\n");
    home.write(".mcp.json", "{}");
    home.write(".patchbay.local.toml", "[servers.x]\ntool_timeout_sec = 9\n");
    const auto told = why({"x"});
    EXPECT_EQ(told.at("answer"), "allowed");
    EXPECT_FALSE(told.contains("tool"));
    const auto& said = told.at("said").as_array();
    ASSERT_EQ(said.size(), 3u) << told;
    EXPECT_EQ(said.front().at("place").at("scope"), "local") << "the strongest first";
    EXPECT_EQ(json::serialize(said.front().at("counts")), R"(["tool_timeout_sec"])");
    const auto overruled = std::find_if(said.begin(), said.end(), [&](const auto& each) {
        return each.at("place").at("file").as_string() == weaker;
    });
    ASSERT_NE(overruled, said.end()) << told;
    EXPECT_EQ(json::serialize(overruled->at("in_vain")), R"(["tool_timeout_sec"])");
}

TEST_F(WhyIsThat, WhatIsNotThereIsAnsweredWithTheNearest) {
    home.add_example("x");
    EXPECT_EQ(answer("mcp__x__echo"), "unknown") << "nobody has asked it";
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.out, HasSubstr("patchbay tools --server x"));
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    EXPECT_EQ(answer("mcp__x__ecko"), "missing");
    EXPECT_THAT(done.out, HasSubstr("mcp__x__echo"));
    EXPECT_EQ(answer("mcp__y__echo"), "missing");
    EXPECT_THAT(done.out, HasSubstr("mcp__x__echo"));
    EXPECT_EQ(answer("xx"), "missing");
    EXPECT_THAT(done.out, HasSubstr("did you mean \\\"x\\\""));
}

TEST_F(WhyIsThat, WhatACheckoutDefinesWaitsForAnApproval) {
    home.write(".mcp.json", R"({"mcpServers":{"p":{"command":"/bin/true"}}})");
    for (const auto* name : {"p", "mcp__p__x"}) {
        EXPECT_EQ(answer(name), "not-approved");
        EXPECT_EQ(done.exit_code, 7);
        EXPECT_THAT(done.out, HasSubstr("patchbay trust p"));
    }
}

TEST_F(WhyIsThat, AnAgentIsAnsweredByWhatItIsShown) {
    home.add_example("x");
    home.add_example("y");
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    const auto file = home.write(home.user_config() / "config.toml",
                                 "[agents.coder]\nservers = ['x']\ntools = ['mcp__x__e*']\n"
                                 "[gateway]\napprovals = 'ask'\n[agents.other]\nservers = ['y']\n");
    EXPECT_EQ(why({"mcp__x__add", "--agent", "coder"}).at("answer"), "not-shown");
    EXPECT_EQ(done.exit_code, 7);
    EXPECT_THAT(done.out, HasSubstr(file + ":1:")) << "where the agent is defined";
    EXPECT_EQ(why({"mcp__x__echo", "--agent", "coder"}).at("answer"), "asked")
        << "as [gateway] says of clients";
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(why({"x", "--agent", "other"}).at("answer"), "not-shown");
    const auto wrong = home.run({"why", "x", "--agent", "codr"});
    EXPECT_EQ(wrong.exit_code, 6);
    EXPECT_THAT(wrong.err, HasSubstr("did you mean \"coder\""));
}

TEST_F(WhyIsThat, AServerAsAWholeIsJudgedToo) {
    home.add_example("x");
    for (const auto* pattern : {"mcp__x", "mcp__x__*", "mcp__*"}) {
        home.write(home.user_config() / "config.toml",
                   "[permissions]\ndeny = ['" + std::string(pattern) + "']\n");
        EXPECT_EQ(answer("x"), "denied") << pattern;
        EXPECT_EQ(done.exit_code, 7);
    }
}

TEST_F(WhyIsThat, AServerOfWhichSomeToolsAreAllowedMayBeUsed) {
    home.add_example("x");
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    for (const auto* rules : {"[permissions]\nallow = ['mcp__x__echo']\n",
                              "[servers.x]\ntrust = 'untrusted'\nenabled_tools = ['echo']\n"}) {
        home.write(home.user_config() / "config.toml", rules);
        EXPECT_EQ(answer("x"), "allowed") << rules;
        EXPECT_THAT(done.out, HasSubstr("requests of server")) << "what else it has is not";
        EXPECT_EQ(answer("mcp__x__echo"), "allowed") << rules;
    }
}

TEST_F(WhyIsThat, WhatABrokenFileMayHaveIsAFaultOfIt) {
    const auto file = home.write(home.user_config() / "config.toml", "broken = [\n");
    for (const auto* name : {"x", "mcp__x__echo"}) {
        EXPECT_EQ(answer(name), "broken");
        EXPECT_EQ(done.exit_code, 4);
        EXPECT_THAT(done.out, HasSubstr(file + ":"));
    }
}

TEST_F(WhyIsThat, WhereNobodyIsAskedNeedingAnApprovalIsDenied) {
    home.add_example("x");
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    home.write(home.user_config() / "config.toml",
               "[agents.coder]\nservers = ['x']\n[gateway]\napprovals = 'rules'\n");
    EXPECT_EQ(why({"mcp__x__echo", "--agent", "coder"}).at("answer"), "denied");
    EXPECT_EQ(done.exit_code, 7);
}

TEST_F(WhyIsThat, WhatTheRunningHostHasTurnedOffOrCannotStartIsTold) {
    home.add_example("x");
    home.add("broken", {{"url", "http://127.0.0.1:9/mcp"}, {"bearer_token_env_var", "NOT_SET"}});
    RunningHost host(home);
    ASSERT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    EXPECT_EQ(answer("mcp__x__echo"), "allowed");
    ASSERT_EQ(home.run({"mcp", "stop", "x"}).exit_code, 0);
    for (const auto* name : {"x", "mcp__x__echo"}) {
        EXPECT_EQ(answer(name), "turned-off");
        EXPECT_EQ(done.exit_code, 6);
        EXPECT_THAT(done.out, HasSubstr("patchbay mcp start x"));
    }
    home.run({"mcp", "status", "broken"});
    for (const auto* name : {"broken", "mcp__broken__x"}) {
        EXPECT_EQ(answer(name), "down") << done.out;
        EXPECT_EQ(done.exit_code, 5);
        EXPECT_THAT(done.out, HasSubstr("NOT_SET"));
    }
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(WhyIsThat, NoControlCharacterOfAFileReachesATerminal) {
    home.add_example("x");
    home.write(home.user_config() / "config.toml",
               "[servers.x]\n\"x-\\u001b[2J\" = 1\n[permissions]\n"
               "deny = [\"mcp__x__\\u001b]0;PWNED\\u0007*\"]\n");
    for (const auto* name : {"x", "mcp__x__echo"}) {
        const auto told = home.run({"why", name});
        EXPECT_THAT(told.out + told.err, Not(HasSubstr("\x1b"))) << name;
    }
}

TEST_F(WhyIsThat, NothingIsStartedForIt) {
    home.write(home.user_config() / "config.toml",
               "[servers.x]\ncommand = 'sh'\nargs = ['-c', 'echo yes > started']\n");
    EXPECT_EQ(answer("mcp__x__echo"), "unknown");
    EXPECT_FALSE(std::filesystem::exists(home.work() / "started"));
}

TEST_F(WhyIsThat, NoNameOfAToolIsSaidToBeNone) {
    home.add_example("x");
    ASSERT_EQ(home.run({"tools"}).exit_code, 0);
    for (const char* name : {"mcp__x__", "mcp__x__e*"}) {
        const auto none = home.run({"why", name});
        EXPECT_EQ(none.exit_code, 6);
        EXPECT_THAT(none.out, AllOf(HasSubstr("names no tool: expected mcp__x__TOOL"),
                                    HasSubstr("patchbay why x is about the server itself")));
    }
}

TEST_F(WhyIsThat, AWarningIsCalledSoOnce) {
    home.add_example("x", {}, {{"mode", "nix"}});
    const auto told = home.run({"why", "x"});
    EXPECT_THAT(told.out, AllOf(HasSubstr("  warning  user config"), Not(HasSubstr("warning:"))));
}

}  // namespace
}  // namespace patchbay::test
