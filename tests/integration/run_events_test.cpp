// `patchbay events`: what happens in a host that runs, told to who asks.
#include "integration/host_guest.hpp"
#include "support/result_schema.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace patchbay::test {
namespace {

class Events : public ::testing::Test {
protected:
    Events() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    ~Events() override { EXPECT_EQ(nothing_left(), ""); }

    // Those that `patchbay events` prints.
    std::vector<json::object> told(Words more = {}) const {
        more.insert(more.begin(), "events");
        const auto done = home.run(more);
        EXPECT_EQ(done.exit_code, 0) << done.err;
        std::vector<json::object> events;
        for (const auto& line : Lines(done.out).all) {
            events.push_back(line);
            EXPECT_TRUE(is_a("event", line));
        }
        return events;
    }
    // Until there is one of that kind.
    std::vector<json::object> told_with(const std::string& kind) const {
        std::vector<json::object> events;
        EXPECT_TRUE(comes_true([&] {
            events = told();
            return !of(events, kind).empty();
        })) << "no "
            << kind;
        return events;
    }
    static std::vector<json::object> of(std::vector<json::object> events, const std::string& kind) {
        std::erase_if(events,
                      [&](const auto& each) { return each.at("event").as_string() != kind; });
        return events;
    }
    Home home;
};

TEST_F(Events, AStartIsToldOfEachServerAndWhenAllAreThereOrHaveFailed) {
    home.add_example("x");
    home.add("bad", {{"command", "/nonexistent/server"}, {"restart", false}});
    home.add_example("later", {}, {{"lazy", true}});
    RunningHost host(home);
    const auto events = told_with("mcp_startup_complete");
    const auto done = of(events, "mcp_startup_complete").at(0);
    EXPECT_EQ(done.at("ready"), json::array({"x"}));
    ASSERT_EQ(done.at("failed").as_array().size(), 1u);
    EXPECT_EQ(done.at("failed").at(0).at("server"), "bad");
    EXPECT_NE(done.at("failed").at(0).at("error"), "");
    std::vector<std::string> of_x;
    for (const auto& each : of(events, "mcp_startup_update"))
        if (each.at("server") == "x") of_x.emplace_back(each.at("status").as_string());
    EXPECT_THAT(of_x, ::testing::ElementsAre("starting", "ready"));
    for (const auto& each : told({"--server", "x"})) EXPECT_EQ(each.at("server"), "x");
    EXPECT_EQ(home.run({"events", "--server", "none"}).exit_code, 6);
    EXPECT_EQ(host.end().exit_code, 0);
}

// The program that is restarted does not leave when it is told to: the next one is there before.
TEST_F(Events, TheLastWordOfARestartIsOfTheStartThatItBrings) {
    home.add_example("x", {"--stubborn"});
    RunningHost host(home);
    told_with("mcp_startup_complete");
    EXPECT_EQ(home.run({"mcp", "restart", "x"}).exit_code, 0);
    const auto is_over = [](const auto& each) { return each.at("state") == "stopped"; };
    std::vector<json::object> events;
    EXPECT_TRUE(comes_true([&] {
        events = told({"--server", "x"});
        const auto states = of(events, "server_state");
        return std::any_of(states.begin(), states.end(), is_over);
    }));
    std::vector<std::string> starts;
    for (const auto& each : of(events, "mcp_startup_update"))
        starts.push_back(std::to_string(each.at("start_number").to_number<int>()) + " " +
                         std::string(each.at("status").as_string()));
    EXPECT_THAT(starts, ::testing::ElementsAre("1 starting", "1 ready", "2 starting", "2 ready"));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Events, ACallIsToldOfWithoutWhatItSays) {
    home.add_example("x");
    RunningHost host(home);
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=tell-nobody"}).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__x__fail"}).exit_code, 2);
    EXPECT_EQ(
        Lines(
            home.run({"batch"}, "{\"id\":1,\"op\":\"tools/call\",\"name\":\"mcp__x__none\"}\n").out)
            .kind(1),
        "not_found");
    const auto events = told();
    const auto begun = of(events, "mcp_tool_call_begin");
    const auto ended = of(events, "mcp_tool_call_end");
    ASSERT_EQ(begun.size(), 3u);
    ASSERT_EQ(ended.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(begun[i].at("call"), ended[i].at("call"));
        EXPECT_EQ(begun[i].at("server"), "x");
        EXPECT_LT(begun[i].at("number").as_int64(), ended[i].at("number").as_int64());
    }
    EXPECT_EQ(ended[0].at("outcome"), "result");
    EXPECT_EQ(ended[0].at("is_error"), false);
    EXPECT_EQ(ended[1].at("is_error"), true);
    EXPECT_EQ(ended[2].at("outcome"), "error");
    EXPECT_EQ(ended[2].at("error").at("kind"), "not_found");
    EXPECT_EQ(home.run({"events"}).out.find("tell-nobody"), std::string::npos);
    const auto behind = told({"--after", std::to_string(begun[1].at("number").as_int64())});
    ASSERT_FALSE(behind.empty());
    EXPECT_EQ(behind.front().at("number"), begun[1].at("number").as_int64() + 1);
    EXPECT_EQ(host.end().exit_code, 0);
}

// Says on stderr which tool it is asked for.
constexpr const char* kTalker = R"sh(#!/bin/sh
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
        *'"tools/list"'*) result='{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}';;
        *'"tools/call"'*) printf '%s\n' "$line" | sed -n 's/.*"name":"\([a-z]*\)".*/asked for \1/p' >&2
            result='{"content":[]}';;
        *) if [ -n "$id" ]; then echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}"; fi; continue;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
)sh";

TEST_F(Events, EverythingOfOneCallIsShownByItsNumber) {
    home.add("s", {{"command", "/bin/sh"}, {"args", {home.write("talker.sh", kTalker)}}});
    home.add_example("x");
    RunningHost host(home);
    EXPECT_EQ(home.run({"call", "mcp__s__one"}).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 0);
    const auto begun = of(told(), "mcp_tool_call_begin");
    ASSERT_EQ(begun.size(), 2u);
    const auto call = std::to_string(begun.at(0).at("call").to_number<int>());
    const auto shown = home.run({"mcp", "logs", "--call", call});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("mcp_tool_call_begin name=mcp__s__one"),
                                 HasSubstr("Z stderr asked for one\n"),
                                 HasSubstr("mcp_tool_call_end name=mcp__s__one"),
                                 Not(HasSubstr("mcp__x__echo"))));
    const auto entries = json::parse(home.run({"mcp", "logs", "s", "--call", call, "--json"}).out);
    EXPECT_EQ(entries.as_array().front().at("event"), "mcp_tool_call_begin");
    EXPECT_EQ(entries.as_array().back().at("event"), "mcp_tool_call_end");
    const auto other = home.run({"mcp", "logs", "x", "--call", call});
    EXPECT_EQ(other.exit_code, 6);
    EXPECT_THAT(other.err, HasSubstr("call " + call + " was of server \"s\""));
    EXPECT_EQ(home.run({"mcp", "logs", "--call", "99999"}).exit_code, 6);
    EXPECT_EQ(home.run({"mcp", "logs", "--call", "0"}).exit_code, 3);
    EXPECT_EQ(home.run({"mcp", "logs"}).exit_code, 3);
    EXPECT_EQ(host.end().exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "logs", "--call", call}).exit_code, 5) << "no host runs";
}

TEST_F(Events, BehindANumberOfAnEarlierHostAllAreToldAndThatTheyBeganAnew) {
    home.add_example("x");
    RunningHost host(home);
    const auto all = told_with("mcp_startup_complete");
    ASSERT_FALSE(all.empty());
    const auto last = all.back().at("number").as_int64();
    EXPECT_TRUE(told({"--after", std::to_string(last)}).empty());
    const auto anew = Lines(home.run({"events", "--after", std::to_string(last + 1000)}).out).all;
    ASSERT_GT(anew.size(), 1u);
    EXPECT_TRUE(is_a("anew", anew.front()));
    EXPECT_EQ(anew[1].at("number"), 1);
    Program follower(home.patchbay({"events", "--follow", "--after", std::to_string(last + 1000)}));
    EXPECT_TRUE(follower.wait_for_out("\"number\":1,")) << follower.out();
    EXPECT_THAT(follower.out(), ::testing::StartsWith("{\"event\":\"anew\","));
    follower.signal(SIGINT);
    EXPECT_EQ(follower.finish().exit_code, 130);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Events, WhoFollowsHearsOfAChangeUntilTheHostEnds) {
    home.add_example("x");
    RunningHost host(home);
    Program follower(home.patchbay({"events", "--follow"}));
    EXPECT_TRUE(follower.wait_until(
        [&] { return follower.out().find("mcp_startup_complete") != std::string::npos; }));
    home.add_example("y");
    EXPECT_TRUE(follower.wait_until([&] {
        return follower.out().find("\"start\":[\"y\"]") != std::string::npos;
    })) << follower.out();
    home.write(home.user_config() / "mcp.json", "{");
    EXPECT_TRUE(follower.wait_until([&] {
        return follower.out().find("configuration_refused") != std::string::npos;
    })) << follower.out();
    EXPECT_EQ(host.end().exit_code, 0);
    const auto done = follower.finish();
    EXPECT_EQ(done.exit_code, 0) << done.err;
    std::int64_t last = 0;
    std::int64_t numbered = 0;
    for (const auto& line : Lines(done.out).all) {
        EXPECT_TRUE(is_a("event", line));
        EXPECT_EQ(line.at("number"), ++last) << line;
        if (line.at("event") == "configuration") numbered = line.at("configuration").as_int64();
    }
    EXPECT_EQ(numbered, 2);
}

TEST_F(Events, WhoDoesNotReadLosesSomeAndIsToldHowManyAndHoldsUpNoCall) {
    home.add_example("x");
    RunningHost host(home);
    HostGuest deaf(host.socket()), busy(host.socket());
    ASSERT_TRUE(deaf.greet());
    ASSERT_TRUE(busy.greet());
    deaf.send("{\"id\":7,\"op\":\"events\",\"follow\":true}\n");
    // Names are told as they were asked for, so that few calls make much to tell.
    const std::string name(60'000, 'n');
    for (int i = 0; i < 4'000; ++i) {
        const auto id = std::to_string(i);
        busy.send("{\"id\":" + id + ",\"op\":\"tools/call\",\"name\":\"mcp__x__" +
                  name.substr(0, 2'000) + "\",\"arguments\":{}}\n");
        ASSERT_NE(busy.line_with("\"id\":" + id + ","), "") << i;
    }
    deaf.end_input();
    const auto dropped = deaf.line_with("\"event\":\"dropped\"");
    ASSERT_NE(dropped, "");
    EXPECT_TRUE(is_a("dropped", json::parse(dropped))) << dropped;
    EXPECT_EQ(json::parse(dropped).at("id"), 7);
    EXPECT_NE(deaf.line_with("\"id\":7,\"ok\":true"), "");
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Events, WithoutAHostThereAreNone) {
    home.add_example("x");
    EXPECT_EQ(home.run({"events"}).exit_code, 5);
    EXPECT_EQ(home.run({"events", "--after", "-1"}).exit_code, 3);
    const auto alone = home.run({"batch"}, "{\"id\":1,\"op\":\"events\"}\n");
    EXPECT_EQ(Lines(alone.out).kind(1), "unsupported");
}

TEST_F(Events, WhoFollowsThemAgainAndAgainIsToldToCancelOne) {
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    for (const char* id : {"1", "2", "3", "4", "5"})
        guest.send(std::string("{\"id\":") + id + ",\"op\":\"events\",\"follow\":true}\n");
    EXPECT_THAT(guest.line_with("\"id\":5,\"ok\""), HasSubstr("\"kind\":\"limit\""));
    guest.send("{\"id\":6,\"op\":\"cancel\",\"target\":1}\n");
    EXPECT_NE(guest.line_with("\"id\":6,\"ok\":true"), "");
    guest.send("{\"id\":7,\"op\":\"events\",\"follow\":true}\n{\"id\":8,\"op\":\"status\"}\n");
    std::string answers;
    for (auto line = guest.line(); !line.empty(); line = guest.line()) {
        answers += line + "\n";
        if (line.find("\"id\":8,\"ok\"") != line.npos) break;
    }
    EXPECT_THAT(answers,
                AllOf(HasSubstr("\"id\":8,\"ok\":true"), Not(HasSubstr("\"id\":7,\"ok\""))));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Events, ACancelledRequestForThemIsOver) {
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    guest.send(
        "{\"id\":1,\"op\":\"events\",\"follow\":true}\n{\"id\":2,\"op\":\"cancel\",\"target\":1}"
        "\n");
    EXPECT_NE(guest.line_with("\"id\":2,\"ok\":true"), "");
    EXPECT_THAT(guest.line_with("\"id\":1,\"ok\""), HasSubstr("cancelled"));
    guest.send("{\"id\":3,\"op\":\"events\",\"after\":\"x\"}\n");
    EXPECT_THAT(guest.line_with("\"id\":3"), HasSubstr("number of an event"));
    EXPECT_EQ(host.end().exit_code, 0);
}

}  // namespace
}  // namespace patchbay::test
