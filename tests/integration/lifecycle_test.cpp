// How servers start, end and come back under a host that stays, and what ends them.
#include "integration/host_guest.hpp"

#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

namespace patchbay::test {
namespace {

json::object shell(const std::string& program, json::object more = {}) {
    more["command"] = "/bin/sh";
    more["args"] = json::array{"-c", program};
    return more;
}

class Lifecycle : public ::testing::Test {
protected:
    json::object status(const std::string& server) {
        const auto told = home.run({"mcp", "status", server, "--json"});
        const auto status = json::parse(told.out);
        return status.is_object() ? status.as_object() : json::object();
    }
    // A host that is to end by itself.
    Outcome outcome_of(const Words& words) {
        Program program(home.patchbay(words));
        return program.finish();
    }
    Home home;
};

// ---- coming back

TEST_F(Lifecycle, OneThatMustNotComeBackIsStartedByWhoSaysSo) {
    home.add("once", shell("echo . >> starts; exit 3", {{"restart", "never"}}));
    RunningHost host(home);
    const auto told = status("once");
    EXPECT_EQ(told.at("state"), "failed");
    const auto starts = [&] { return read_file(home.work() / "starts").size(); };
    const auto before = starts();
    EXPECT_EQ(status("once").at("state"), "failed");
    EXPECT_EQ(starts(), before) << "who looks does not start it";
    EXPECT_EQ(home.run({"mcp", "start", "once"}).exit_code, 5);
    EXPECT_GT(starts(), before);
    EXPECT_EQ(told.at("last_exit").at("code"), 3);
    EXPECT_EQ(host.end().exit_code, 0);
}

// ---- required

TEST_F(Lifecycle, AHostDoesNotStayWithoutAServerThatIsRequired) {
    home.add_example("fine");
    home.add("needed", shell("echo no database >&2; exit 3", {{"required", true}}));
    for (const auto& words :
         {Words{"run"}, Words{"serve", "--http", "127.0.0.1:0"}, Words{"run", "--detach"}}) {
        const auto ended = outcome_of(words);
        EXPECT_EQ(ended.exit_code, 5) << words[0];
        EXPECT_THAT(ended.err, AllOf(HasSubstr("server \"needed\" is required (user config "),
                                     HasSubstr("cannot be started"), HasSubstr("no database")))
            << words[0];
    }
    EXPECT_EQ(nothing_left(), "");
}

TEST_F(Lifecycle, OverStdioItEndsAsItsClientComes) {
    home.add("needed", shell("exit 3", {{"required", true}}));
    Program serve(home.patchbay({"serve"}));
    serve.send(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
        R"("capabilities":{},"clientInfo":{"name":"c","version":"1"}}})"
        "\n"
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
        "\n"
        R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
        "\n");
    EXPECT_TRUE(serve.wait_until([&] {
        return serve.err().find("server \"needed\" is required") != std::string::npos;
    })) << serve.err();
    EXPECT_EQ(serve.finish().exit_code, 5);
}

TEST_F(Lifecycle, OneThatStartsAndOneThatIsDisabledKeepNobodyFromStaying) {
    home.add_example("needed", {}, {{"required", true}, {"lazy", true}});
    home.add("off", shell("exit 3", {{"required", true}, {"enabled", false}}));
    RunningHost host(home);
    EXPECT_EQ(status("needed").at("state"), "ready");
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Lifecycle, ACommandThatDoesOneThingHasItsOwnErrors) {
    home.add_example("fine");
    home.add("needed", shell("exit 3", {{"required", true}}));
    EXPECT_EQ(home.run({"call", "mcp__fine__echo", "message=hi"}).exit_code, 0);
}

// ---- a start that takes its time

TEST_F(Lifecycle, WhoWaitsForAColdStartHearsWhatItSaidLast) {
    home.add("cold", shell("echo fetching 3 of 9 >&2; echo . >> starts; exec sleep 60"));
    const auto call = home.run({"call", "mcp__cold__x", "--timeout", "2"});
    EXPECT_EQ(call.exit_code, 8);
    EXPECT_THAT(call.err, HasSubstr("last said on stderr: fetching 3 of 9"));
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet("person"));
    guest.send("{\"id\":1,\"op\":\"host/statuses\"}\n");
    EXPECT_THAT(guest.line_with("\"id\":1"), HasSubstr("\"starting\":{\"taken\":"));
    EXPECT_TRUE(wait_for_file(home.work() / "starts", ".\n.\n"));
    host.end();
    EXPECT_EQ(read_file(home.work() / "starts"), ".\n.\n") << "one for each host";
}

// ---- what it may use

TEST_F(Lifecycle, AServerThatExceedsALimitSaysWhich) {
    const std::pair<const char*, json::object> servers[] = {
        // Each of them stays below what one process may have, and stays.
        {"memory",
         shell("for i in 1 2 3; do (head -c 20000000 /dev/zero; sleep 60) | tail & done; wait",
               {{"limits", {{"memory", "32 MiB"}}}})},
        {"cpu_seconds", shell("while :; do :; done", {{"limits", {{"cpu_seconds", 1}}}})},
        {"processes", shell("for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait",
                            {{"limits", {{"processes", 4}}}})},
        {"output_bytes",
         shell("while :; do echo line >&2; done", {{"limits", {{"output_bytes", "10 kB"}}}})}};
    for (const auto& [limit, server] : servers) home.add(limit, server);
    for (const auto& [limit, server] : servers) {
        SCOPED_TRACE(limit);
        const auto told = status(limit);
        EXPECT_EQ(json::value_to<std::string>(told.at("last_exit").at("limit")), limit);
        EXPECT_THAT(json::value_to<std::string>(told.at("last_error")),
                    HasSubstr("it reached its limit (limits." + std::string(limit) + " = "));
    }
    EXPECT_EQ(nothing_left(), "");
}

TEST_F(Lifecycle, AWrongLimitIsTheConfigurationsToMend) {
    home.add("x", shell("exit", {{"limits", {{"memory", "much"}}}}));
    EXPECT_THAT(home.run({"config", "check"}).err,
                HasSubstr("limits.memory: expected bytes, or text such as \"512 MiB\""));
}

TEST_F(Lifecycle, TheBillOfAServerIsInItsStatus) {
    home.add_example("x");
    RunningHost host(home);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto before = status("x");
    const auto& cost = before.at("cost");
    EXPECT_EQ(cost.at("calls"), 2);
    EXPECT_GT(cost.at("sent_bytes").to_number<int>(), 100);
    EXPECT_GT(cost.at("received_bytes").to_number<int>(), 100);
    EXPECT_GT(cost.at("peak_memory_bytes").to_number<int>(), 100'000);
    ::kill(pid_of(home, "x"), SIGKILL);
    EXPECT_TRUE(comes_true([&] { return status("x").at("restarts") != 0; }));
    const auto after = status("x");
    EXPECT_EQ(after.at("last_exit").at("signal"), SIGKILL);
    EXPECT_EQ(after.at("last_exit").at("signal_name"), "SIGKILL");
    EXPECT_GE(after.at("cost").at("sent_bytes").to_number<int>(),
              cost.at("sent_bytes").to_number<int>())
        << "over all starts";
    EXPECT_EQ(host.end().exit_code, 0);
}

// ---- its log

TEST_F(Lifecycle, AFollowedLogGoesOnOverItsFilesUntilItIsInterrupted) {
    home.add("x", shell("i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i of many >&2; "
                        "done; exec sleep 60",
                        {{"startup_timeout_sec", 2}}));
    home.write("../config/patchbay/config.toml", "[log]\nserver_bytes = 500\nserver_files = 100\n");
    home.run({"mcp", "status", "x"});
    Program logs(home.patchbay({"mcp", "logs", "x", "-f", "-n", "1"}));
    ASSERT_TRUE(logs.wait_for_out("line 300 of many")) << logs.err();
    home.run({"mcp", "status", "x"});
    EXPECT_TRUE(logs.wait_until([&] {
        return logs.out().find("line 300 of many") != logs.out().rfind("line 300 of many");
    })) << logs.out();
    EXPECT_THAT(logs.out(),
                AllOf(HasSubstr("stderr line 1 of many"), HasSubstr("stderr line 150 of many")));
    logs.signal(SIGINT);
    EXPECT_EQ(logs.finish().exit_code, 130) << "as of all that is followed";
    EXPECT_GT(
        std::distance(std::filesystem::directory_iterator(home.root() / "state/patchbay/logs"),
                      std::filesystem::directory_iterator()),
        5);
}

}  // namespace
}  // namespace patchbay::test
