// `patchbay serve` over stdio beside `patchbay run`: the host answers its client, as serve itself would.
#include "integration/host_guest.hpp"
#include "integration/mcp_client.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

class RunServe : public ::testing::TestWithParam<bool> {
protected:
    RunServe() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    ~RunServe() override { EXPECT_EQ(nothing_left(), ""); }
    McpClient client(Words flags = {}) const {
        return McpClient(home, GetParam(), "{}", std::move(flags));
    }
    // What a client is answered, by whoever.
    std::string answers(Words flags) const {
        auto one = client(std::move(flags));
        one.greet();
        std::string all;
        for (const auto& [method, params] : std::vector<std::pair<std::string, json::object>>{
                 {"tools/list", {}},
                 {"tools/call", {{"name", "mcp__x__echo"}, {"arguments", {{"message", "hi"}}}}},
                 {"tools/call", {{"name", "mcp__x__fail"}}},
                 {"tools/call", {{"name", "mcp__x__none"}}},
                 {"resources/list", {}},
                 {"resources/read", {{"uri", "example://text"}}},
                 {"prompts/list", {}},
                 {"prompts/get", {{"name", "mcp__x__simple"}}},
                 {"none/such", {}}})
            all += method + " " + json::serialize(one.ask(method, params)) + "\n";
        const auto done = one.finish();
        EXPECT_EQ(done.exit_code, 0) << done.err;
        // How long a list may be kept depends on when its server has listed it.
        static const std::regex kept("\"ttlMs\":[0-9]+,\"cacheScope\":\"[a-z]+\"");
        return std::regex_replace(all, kept, "KEPT");
    }
    Home home;
};

TEST_P(RunServe, AClientIsAnsweredAsByServeAlone) {
    home.add_example("x");
    RunningHost host(home);
    EXPECT_EQ(answers({}), answers({"--alone"}));
    EXPECT_EQ(answers({"--tools", "mcp__x__e*"}), answers({"--alone", "--tools", "mcp__x__e*"}));
    auto told = client({"-v"});
    told.greet();
    const auto done = told.finish();
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_THAT(done.err, HasSubstr(" is asked\n"));
    EXPECT_EQ(home.run({"serve", "--servers", "none"}).exit_code, 6);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_P(RunServe, APatternThatShowsNothingIsToldOfAsAlone) {
    home.add_example("x");
    EXPECT_EQ(home.run({"--alone", "tools"}).exit_code, 0);
    RunningHost host(home);
    auto shown = client({"-v", "--tools", "mcp__x__nothing*"});
    shown.greet();
    const auto done = shown.finish();
    EXPECT_THAT(done.err, AllOf(HasSubstr(" is asked\n"), HasSubstr("warning: "),
                                HasSubstr("mcp__x__nothing*")));
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_P(RunServe, SeveralClientsShareWhatIsShared) {
    home.write("stdio.toml", "[host]\nstdio_sharing = true\n");
    home.add_example("x", {}, {{"mode", "shared"}});
    RunningHost host(home, {"--config", (home.work() / "stdio.toml").string()});
    const Words with{"--config", (home.work() / "stdio.toml").string()};
    auto first = client(with), second = client(with);
    for (auto* each : {&first, &second}) {
        each->greet();
        EXPECT_EQ(at(each->ask("tools/call",
                               {{"name", "mcp__x__echo"}, {"arguments", {{"message", "hi"}}}}),
                     "/result/content/0/text"),
                  "hi");
    }
    auto words = with;
    words.insert(words.end(), {"mcp", "status", "x", "--json"});
    const auto status = home.run(words);
    EXPECT_FALSE(json::parse(status.out).as_object().contains("connections"))
        << "there is one for all: " << status.out;
    EXPECT_EQ(first.finish().exit_code, 0);
    EXPECT_EQ(second.finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

// It says what it can once, as a legacy server is told it as it is greeted.
TEST_P(RunServe, AServerThatIsAClientsOwnIsToldWhatThatClientCan) {
    home.add_example("own", {"--era", "legacy"}, {{"warm", 1}});
    RunningHost host(home);
    McpClient able(home, GetParam(), R"({"elicitation":{}})");
    auto unable = client();
    able.greet();
    unable.greet();
    const json::object ask{{"name", "mcp__own__ask"}};
    const json::object given{{"action", "accept"}, {"content", {{"name", "Ada"}}}};
    const auto asked = able.asked(ask, given);
    EXPECT_EQ(asked.method, "elicitation/create");
    EXPECT_THAT(asked.outcome, HasSubstr("Ada"));
    EXPECT_EQ(text_in(unable.ask("tools/call", ask)), "the client has no elicitation");
    McpClient late(home, GetParam(), R"({"elicitation":{}})");
    late.greet();
    EXPECT_THAT(late.asked(ask, given).outcome, HasSubstr("Ada"))
        << "the spare was for one that can less";
    for (auto* each : {&able, &unable, &late}) EXPECT_EQ(each->finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_P(RunServe, EachOfSeveralClientsHasWhatTheModeOfAServerSays) {
    const auto settings = home.write("modes.toml", "[host]\nstdio_sharing = true\n");
    home.add_example("auto");
    home.add_example("own", {}, {{"mode", "per_session"}, {"warm", 1}});
    home.add_example("shared", {},
                     {{"mode", "shared"}, {"lazy", true}, {"idle_timeout_sec", 0.01}});
    const Words with{"--config", settings};
    RunningHost host(home, with);
    HostGuest looker(host.socket());
    ASSERT_TRUE(looker.greet());
    const auto status_of = [&](const std::string& server) {
        const auto answer = looker.ask({{"op", "status"}});
        for (const auto& each : answer.at("result").at("servers").as_array())
            if (each.at("id").as_string() == server) return each.as_object();
        return json::object();
    };
    // `own own spare`: whose connections there are.
    const auto uses = [&](const std::string& server) {
        std::multiset<std::string> sorted;
        const auto status = status_of(server);
        if (const auto* all = status.if_contains("connections"))
            for (const auto& each : all->as_array()) sorted.emplace(each.at("use").as_string());
        std::string told;
        for (const auto& each : sorted) told += (told.empty() ? "" : " ") + each;
        return told;
    };
    const auto comes_to = [&](const std::function<bool()>& holds) {
        const auto end = std::chrono::steady_clock::now() + kDeadline;
        while (!holds() && std::chrono::steady_clock::now() < end) looker.ask({{"op", "status"}});
        return holds();
    };
    auto first = client(with), second = client(with), third = client(with);
    for (auto* each : {&first, &second, &third}) {
        each->greet();
        for (const char* server : {"auto", "own", "shared"})
            EXPECT_EQ(
                at(each->ask("tools/call", {{"name", std::string("mcp__") + server + "__echo"},
                                            {"arguments", {{"message", "hi"}}}}),
                   "/result/content/0/text"),
                "hi");
    }
    // And the person's, for whom those that are not lazy are connected from the start.
    EXPECT_EQ(uses("auto"), "own own own own") << "as for each program of this machine";
    EXPECT_TRUE(comes_to([&] { return uses("own") == "own own own own spare"; })) << uses("own");
    EXPECT_EQ(uses("shared"), "");
    EXPECT_EQ(status_of("shared").at("state"), "ready");
    EXPECT_EQ(first.finish().exit_code, 0);
    EXPECT_TRUE(comes_to([&] { return uses("own") == "own own own spare"; })) << uses("own");
    EXPECT_EQ(status_of("shared").at("state"), "ready") << "others hold it";
    for (auto* each : {&second, &third}) EXPECT_EQ(each->finish().exit_code, 0);
    EXPECT_TRUE(comes_to([&] { return status_of("shared").at("state") == "idle"; }));
    EXPECT_TRUE(comes_to([&] { return uses("own") == "own spare"; })) << uses("own");
    EXPECT_TRUE(comes_to([&] { return uses("auto").empty(); })) << uses("auto") << ": one is left";
    EXPECT_EQ(host.end().exit_code, 0);
}

// What is narrowed counts for those who are there, too.
TEST_P(RunServe, AClientIsShownWhatTheConfigurationSaysByNow) {
    home.add_example("a");
    home.add_example("b");
    const auto agents = [this](const std::string& text) {
        home.write(home.user_config() / "config.toml", text);
    };
    agents("[agents.r]\nservers = ['a', 'b']\n");
    RunningHost host(home);
    auto mine = client({"--agent", "r"}), plain = client();
    const auto can = [](McpClient& who, const std::string& server) {
        const auto answer = who.call("mcp__" + server + "__echo", R"({"message":"hi"})");
        return at(answer, "/result/content/0/text") == "hi";
    };
    // Each is told of it; who has not heard yet asks again.
    const auto in_the_end = [&](McpClient& who, const std::string& server, bool wanted) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (can(who, server) != wanted)
            if (std::chrono::steady_clock::now() > deadline) return false;
        return true;
    };
    for (auto* each : {&mine, &plain}) {
        each->greet();
        EXPECT_TRUE(can(*each, "a"));
        EXPECT_TRUE(can(*each, "b"));
    }
    const auto own = "priv = { command = '" + example_server() + "' }";
    agents("[agents.r]\nservers = ['a']\n[agents.o]\nservers = { a = true, " + own + " }\n");
    EXPECT_TRUE(in_the_end(mine, "b", false)) << "its agent is shown less";
    EXPECT_TRUE(can(mine, "a"));
    EXPECT_TRUE(can(plain, "b")) << "who comes as none is shown all";
    EXPECT_FALSE(can(plain, "priv")) << "but for what is an agent's own";
    EXPECT_FALSE(can(mine, "priv"));
    if (!GetParam()) mine.wait_for_method("notifications/tools/list_changed");
    EXPECT_THAT(json::serialize(mine.ask("tools/list")),
                AllOf(HasSubstr("mcp__a__echo"), Not(HasSubstr("mcp__b__"))));
    agents("[agents.r]\nenabled = false\n");
    EXPECT_TRUE(in_the_end(mine, "a", false)) << "its agent is turned off";
    agents("[agents.r]\nservers = ['a', 'b']\n");
    EXPECT_TRUE(in_the_end(mine, "b", true)) << "and is there again";
    EXPECT_EQ(mine.finish().exit_code, 0);
    EXPECT_EQ(plain.finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

// What was asked before and waits, for an approval or for its server, is judged by what is shown when it is sent.
TEST_P(RunServe, WhatWaitsWhileItsAgentIsNarrowedIsNotSent) {
    if (GetParam()) GTEST_SKIP() << "its client asks again, as any new call";
    home.add_example("a");
    home.add_example("b", {}, {{"tools", {{"echo", "require-approval"}}}});
    const auto agents = [this](const std::string& text) {
        home.write(home.user_config() / "config.toml", text);
    };
    agents("[agents.r]\nservers = ['a', 'b']\n");
    RunningHost host(home);
    McpClient mine(home, false, R"({"elicitation":{}})", {"--agent", "r"});
    mine.greet();
    const auto call =
        mine.begin("tools/call", {{"name", "mcp__b__echo"}, {"arguments", {{"message", "hi"}}}});
    const auto question = mine.wait_for_request();
    ASSERT_EQ(at(question, "/method"), "elicitation/create");
    agents("[agents.r]\nservers = ['a']\n");
    mine.wait_for_method("notifications/tools/list_changed");
    mine.write(json::serialize(
        json::object{{"jsonrpc", "2.0"},
                     {"id", question.at("id")},
                     {"result", {{"action", "accept"}, {"content", {{"decision", "once"}}}}}}));
    const auto answer = json::serialize(mine.wait_for(call));
    EXPECT_THAT(answer, AllOf(HasSubstr("shown here"), Not(HasSubstr("\"hi\""))));
    EXPECT_EQ(mine.finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

// A question of a server that its client is shown no more is not answered for it.
TEST_P(RunServe, NoAnswerReachesAServerThatIsNotShownAnyMore) {
    if (GetParam()) GTEST_SKIP() << "its client asks again, as any new call";
    home.add_example("b", {"--era", "modern"}, {{"mode", "per_session"}});
    const auto agents = [this](const std::string& text) {
        home.write(home.user_config() / "config.toml", text);
    };
    home.add_example("a");
    agents("[agents.r]\nservers = ['a', 'b']\n");
    RunningHost host(home);
    McpClient mine(home, false, R"({"elicitation":{}})", {"--agent", "r"});
    mine.greet();
    const auto call =
        mine.begin("tools/call", {{"name", "mcp__b__ask"}, {"arguments", json::object{}}});
    const auto question = mine.wait_for_request();
    ASSERT_EQ(at(question, "/method"), "elicitation/create");
    agents("[agents.r]\nservers = ['a']\n");
    mine.wait_for_method("notifications/tools/list_changed");
    mine.write(json::serialize(
        json::object{{"jsonrpc", "2.0"},
                     {"id", question.at("id")},
                     {"result", {{"action", "accept"}, {"content", {{"name", "hunter2"}}}}}}));
    EXPECT_THAT(json::serialize(mine.wait_for(call)), Not(HasSubstr("hunter2")));
    EXPECT_EQ(mine.finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_P(RunServe, AClientIsToldWhenTheHostHasGone) {
    home.add_example("x");
    RunningHost host(home);
    auto one = client();
    one.greet();
    EXPECT_NE(at(one.ask("tools/list"), "/result/tools/0/name"), json::value());
    host.program().signal(SIGKILL);
    host.program().finish();
    const auto done = one.finish();
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("has gone; with --alone"));
}

// Else a server that a person has stopped would run all the same.
TEST_P(RunServe, AServerThatWasStoppedInTheHostIsNotBridgedBesideIt) {
    home.add_example("x");
    home.add_example("y");
    RunningHost host(home);
    EXPECT_EQ(home.run({"mcp", "stop", "x"}).exit_code, 0);
    for (const auto& words : {Words{"serve", "--only", "x"}, {"serve", "--servers", "x,y"}}) {
        const auto done = home.run(words);
        EXPECT_NE(done.exit_code, 0);
        EXPECT_THAT(done.err, HasSubstr("the running host: "));
        EXPECT_THAT(done.err, HasSubstr("server \"x\""));
        EXPECT_THAT(done.err, HasSubstr("mcp start x"));
    }
    EXPECT_EQ(home.run({"mcp", "start", "x"}).exit_code, 0);
    auto bridge = client({"--only", "x"});
    bridge.greet();
    EXPECT_THAT(json::serialize(bridge.ask("tools/call", {{"name", "ecko"}})),
                AllOf(HasSubstr("did you mean \\\"echo\\\""), Not(HasSubstr("mcp__"))));
    EXPECT_EQ(bridge.finish().exit_code, 0);
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_P(RunServe, WhatCannotBeReadOfWhatIsShownShowsNothing) {
    home.add_example("x");
    RunningHost host(home);
    for (const char* shown : {"{\"server\":[\"x\"]}", "{\"servers\":\"x\"}", "{\"tools\":[1]}",
                              "[]", "{\"servers\":[\"none\"]}", "{\"agent\":\"nobody\"}"}) {
        HostGuest guest(host.socket());
        guest.send("{\"patchbay\":{\"protocol\":1,\"as\":\"client\",\"shown\":" +
                   std::string(shown) + "}}\n");
        EXPECT_THAT(guest.line(), HasSubstr("\"error\"")) << shown;
        EXPECT_EQ(guest.line(), "") << shown;
    }
    HostGuest guest(host.socket());
    guest.send("{\"patchbay\":{\"protocol\":1,\"as\":\"client\"}}\nno json\n");
    EXPECT_THAT(guest.line(), HasSubstr("\"fits\":true"));
    EXPECT_THAT(guest.line(), HasSubstr("-32700"));
    EXPECT_EQ(host.end().exit_code, 0) << "it does not wait for a client that asks nothing";
}

INSTANTIATE_TEST_SUITE_P(Eras, RunServe, ::testing::Bool());

}  // namespace
}  // namespace patchbay::test
