// Servers of a host that runs, turned by commands: stopped, started, restarted, disabled and enabled.
#include "integration/asked.hpp"
#include "integration/scripted_mcp.hpp"

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

TEST_F(Asked, OfSeveralServersNoneIsTurnedWhereOneIsNotThere) {
    home.add_example("x");
    RunningHost host(home);
    const auto done = home.run({"mcp", "stop", "x", "none"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_GT(pid_of(home, "x"), 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, ADisabledServerIsNotStartedBeforeItIsEnabled) {
    home.add_example("x");
    home.add_example("y");
    RunningHost host(home);
    EXPECT_EQ(home.run({"mcp", "disable", "x"}).exit_code, 0);
    EXPECT_EQ(pid_of(home, "x"), 0);
    const auto call = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(call.exit_code, 6);
    EXPECT_THAT(call.err, HasSubstr("`patchbay mcp enable x` enables it"));
    EXPECT_EQ(home.run({"mcp", "stop", "--all"}).exit_code, 0);
    EXPECT_THAT(home.run({"mcp", "stop", "--all"}).err, HasSubstr("there is no server to stop"));
    EXPECT_EQ(home.run({"mcp", "start", "--all"}).exit_code, 0);
    EXPECT_GT(pid_of(home, "y"), 0);
    EXPECT_EQ(home.run({"mcp", "stop", "y"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "disable", "--all"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "start", "--all"}).exit_code, 0);
    EXPECT_EQ(pid_of(home, "y"), 0) << "one that was stopped is disabled as well";
    EXPECT_EQ(home.run({"mcp", "enable", "y"}).exit_code, 0);
    const auto started = home.run({"mcp", "start", "x"});
    EXPECT_EQ(started.exit_code, 6);
    EXPECT_THAT(started.err, HasSubstr("mcp enable x"));
    EXPECT_EQ(home.run({"mcp", "restart", "x"}).exit_code, 6);
    EXPECT_EQ(pid_of(home, "x"), 0);
    EXPECT_EQ(home.run({"mcp", "enable", "x"}).exit_code, 0);
    EXPECT_GT(pid_of(home, "x"), 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AServerIsStoppedStartedAndRestartedAsItRuns) {
    home.add_example("x");
    home.add_example("y");
    home.add("off", {{"command", "true"}, {"enabled", false}});
    RunningHost host(home);
    const auto pid = [&](const std::string& server) { return pid_of(home, server); };
    const int x = pid("x"), y = pid("y");
    ASSERT_GT(x, 0);
    const auto stopped = home.run({"mcp", "stop", "x"});
    EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
    EXPECT_THAT(stopped.out, HasSubstr("disabled"));
    EXPECT_EQ(pid("x"), 0);
    const auto call = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_EQ(call.exit_code, 6);
    EXPECT_THAT(call.err, HasSubstr("`patchbay mcp start x` starts it"));
    for (const Words& words : {Words{"tools", "--server", "x"}, Words{"tools", "mcp__x__echo"},
                               Words{"tools", "mcp__x__*"}}) {
        const auto tools = home.run(words);
        EXPECT_EQ(tools.exit_code, 6) << tools.err;
        EXPECT_THAT(tools.err, HasSubstr("`patchbay mcp start x` starts it"));
    }
    const auto all = home.run({"tools"});
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_THAT(all.out, HasSubstr("mcp__y__echo"));
    EXPECT_EQ(home.run({"call", "mcp__y__echo", "message=hi"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "stop", "x"}).exit_code, 0) << "it is";
    const auto started = home.run({"mcp", "start", "x", "--json"});
    EXPECT_EQ(started.exit_code, 0) << started.err;
    EXPECT_EQ(json::parse(started.out).as_array().at(0).at("state"), "ready");
    const auto restarted = home.run({"mcp", "restart", "--all"});
    EXPECT_EQ(restarted.exit_code, 0) << restarted.err;
    EXPECT_NE(pid("y"), y);
    EXPECT_NE(pid("x"), x);
    const auto again = pid("y");
    EXPECT_EQ(home.run({"mcp", "stop", "--all"}).exit_code, 0);
    EXPECT_EQ(pid("y"), 0);
    EXPECT_EQ(home.run({"mcp", "start", "--all"}).exit_code, 0);
    EXPECT_NE(pid("y"), again);
    for (const char* verb : {"stop", "start", "restart"}) {
        EXPECT_EQ(home.run({"mcp", verb, "none"}).exit_code, 6) << verb;
        EXPECT_EQ(home.run({"mcp", verb}).exit_code, 3) << verb;
        EXPECT_EQ(home.run({"mcp", verb, "x", "--all"}).exit_code, 3) << verb;
    }
    EXPECT_THAT(home.run({"mcp", "start", "off"}).err, HasSubstr("set enabled = true"));
    EXPECT_EQ(host.end().exit_code, 0);
    const auto nobody = home.run({"mcp", "stop", "x"});
    EXPECT_EQ(nobody.exit_code, 5);
    EXPECT_THAT(nobody.err, HasSubstr("`patchbay run` starts one"));
}

TEST_F(Asked, WhatAServerHasCostIsKnownAfterItWasRestartedOrStopped) {
    home.add_example("x");
    RunningHost host(home);
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto calls = [&] {
        const auto status = json::parse(home.run({"mcp", "list", "--json"}).out).as_array().at(0);
        const auto* cost = status.as_object().if_contains("cost");
        return cost ? cost->at("calls").to_number<int>() : -1;
    };
    EXPECT_EQ(calls(), 1);
    for (const char* turn : {"restart", "stop", "start"}) {
        EXPECT_EQ(home.run({"mcp", turn, "x"}).exit_code, 0);
        EXPECT_EQ(calls(), 1) << turn;
    }
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, AServerThatMustNotComeBackDoesSoForWhoStartsItAlone) {
    home.add_example("x", {}, {{"restart", "never"}});
    RunningHost host(home);
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const int pid = pid_of(home, "x");
    ASSERT_GT(pid, 0);
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    const auto state = [&] {
        const auto all = json::parse(home.run({"mcp", "list", "--json"}).out);
        return std::string(all.at(0).at("state").as_string());
    };
    EXPECT_TRUE(comes_true([&] { return state() == "failed"; }));
    for (const auto& words :
         {Words{"call", "mcp__x__echo", "message=hi"}, {"mcp", "status", "x"}}) {
        const auto down = home.run(words);
        EXPECT_EQ(down.exit_code, 5) << down.err;
        EXPECT_THAT(down.out + down.err, HasSubstr("`patchbay mcp start x` starts it again"));
    }
    EXPECT_EQ(home.run({"mcp", "start", "x"}).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asked, WhoEnablesAServerInAFileIsToldThatTheHostKeepsItOff) {
    home.add_example("x");
    RunningHost host(home);
    EXPECT_EQ(home.run({"mcp", "enable", "x", "--scope", "user"}).err.find("running host"),
              std::string::npos);
    EXPECT_EQ(home.run({"mcp", "disable", "x"}).exit_code, 0);
    const auto enabled = home.run({"mcp", "enable", "x", "--scope", "user"});
    EXPECT_EQ(enabled.exit_code, 0) << enabled.err;
    EXPECT_THAT(enabled.err, AllOf(HasSubstr("note: in the running host server \"x\" is disabled"),
                                   HasSubstr("`patchbay mcp enable x` enables it")));
    EXPECT_EQ(home.run({"mcp", "enable", "x"}).exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
