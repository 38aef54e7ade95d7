// What a new definition, mode or end of the pool does to the connections that are in use.
#include "config/keys.hpp"
#include "support/config_of.hpp"
#include "unit/connection/pool_fixture.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {
namespace {

TEST_F(Pool, WhatIsAppliedWhileItClosesIsNotOpened) {
    long_lived = true;
    connect(first);
    bool all_closed = false;
    pool().close([&] { all_closed = true; });
    auto another = spec;
    another.config.id = another.definition_key = "t";
    another.config.warm = 1;
    pool().apply({spec, another});
    EXPECT_FALSE(pool().lease("t", first));
    EXPECT_TRUE(wait([&] { return all_closed; }));
    pass(5ms);
    EXPECT_EQ(opened, 1u);
}

TEST_F(Pool, ANewDefinitionReachesEveryConnectionThatIsInUse) {
    test::FakeCaller second{callers}, third{callers};
    connect(first);
    connect(second);
    ASSERT_TRUE(pool().lease("s", third)) << "which has not been used";
    spec.config.settings["args"] = "2";
    pool().apply({spec});
    ASSERT_TRUE(wait([&] { return closed == 2 && opened == 4; }));
    EXPECT_EQ(call(first), "3");
    EXPECT_EQ(call(second), "4");
    EXPECT_EQ(opened, 4u);
    pool().apply({});
    EXPECT_TRUE(wait([&] { return closed == 4; }));
    EXPECT_FALSE(pool().lease("s", first));
}

// Each key of a server's entry, and an entry in which it says something else than in one without it.
struct KeyRow {
    const char* key;
    const char* base;
    const char* line;
};
const char* const kProgram = "command = \"run\"\n";
const char* const kUrl = "url = \"https://example.com\"\n";
const KeyRow kKeyRows[] = {
    {"transport", "command = \"run\"\nport = 1\n", "transport = \"tcp\""},
    {"enabled", kProgram, "enabled = false"},
    {"config", kProgram, "config = { args = [\"-v\"] }"},
    {"expand", kProgram, "expand = false"},
    {"auth", kUrl, "auth = \"none\""},
    {"bearer_token_env_var", kUrl, "bearer_token_env_var = \"T\""},
    {"oauth", kUrl, "oauth = { client_id = \"me\" }"},
    {"startup_timeout_sec", kProgram, "startup_timeout_sec = 5"},
    {"startup_timeout_ms", kProgram, "startup_timeout_ms = 5"},
    {"request_timeout_sec", kProgram, "request_timeout_sec = 5"},
    {"request_timeout_ms", kProgram, "request_timeout_ms = 5"},
    {"tool_timeout_sec", kProgram, "tool_timeout_sec = 5"},
    {"tool_timeout_ms", kProgram, "tool_timeout_ms = 5"},
    {"enabled_tools", kProgram, "enabled_tools = [\"x\"]"},
    {"disabled_tools", kProgram, "disabled_tools = [\"x\"]"},
    {"tools", kProgram, "tools = { x = \"deny\" }"},
    {"trust", kProgram, "trust = \"untrusted\""},
    {"pins", kProgram, "pins = \"block\""},
    {"mode", kProgram, "mode = \"shared\""},
    {"lazy", kProgram, "lazy = true"},
    {"idle_timeout_sec", kProgram, "idle_timeout_sec = 5"},
    {"warm", kProgram, "warm = 1"},
    {"protocol", kProgram, "protocol = \"2025-11-25\""},
    {"fallback", kUrl, "fallback = [\"sse\"]"},
    {"forward_headers", kUrl, "forward_headers = [\"x-a\"]"},
    {"required", kProgram, "required = true"},
    {"check_arguments", kProgram, "check_arguments = false"},
    {"restart", kProgram, "restart = \"never\""},
};

class ChangeOf : public Pool, public ::testing::WithParamInterface<KeyRow> {
protected:
    // Over the fake processes, whatever the entry says to connect by.
    std::vector<registry::ServerSpec> specs(const std::string& line) {
        auto config = test::config_of(std::string("[servers.s]\n") + GetParam().base + line);
        EXPECT_EQ(config.servers.size(), 1u) << line;
        if (std::string_view(GetParam().key) != "transport")
            for (auto& server : config.servers) server.transport = "stdio";
        for (auto& server : config.servers) server.local = true;
        return registry::specs_of(config);
    }
};

TEST_P(ChangeOf, AKeyEndsTheConnectionIfItReachesTheTransportAndElseLeavesItAlone) {
    spec = specs("").at(0);
    auto* const before = connect(first);
    pool().apply(specs(GetParam().line));
    const auto effect = config::find_server_key(GetParam().key)->effect;
    if (effect == config::Effect::Restart || effect == config::Effect::Switch) {
        EXPECT_TRUE(wait([&] { return closed == 1; }));
        return;
    }
    pass(5ms);
    EXPECT_EQ(closed, 0u);
    const auto now = pool().lease("s", first);
    ASSERT_TRUE(now) << now.error().message;
    EXPECT_EQ(&now->get(), before);
}

INSTANTIATE_TEST_SUITE_P(Keys, ChangeOf, ::testing::ValuesIn(kKeyRows),
                         [](const auto& test) { return std::string(test.param.key); });

TEST(ChangeOfAKey, IsTriedOfEachThatThereIs) {
    std::set<std::string_view> keys, tried;
    for (const auto& key : config::server_keys()) keys.insert(key.name);
    for (const auto& row : kKeyRows) tried.insert(row.key);
    EXPECT_EQ(tried, keys);
}

TEST_F(Pool, ARestartEndsWhatHangsAndReachesWhoeverSharedTheConnection) {
    stdio_sharing = true;
    spec.config.mode = "shared";
    test::FakeCaller second{callers};
    make = [](FakeServer& server) { server.results.erase("tools/call"); };
    connect(first);
    connect(second);
    std::vector<std::string> ended;
    for (auto* who : {&first, &second})
        pool().lease("s", *who)->get().request(
            *who, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
            [&ended](const Result<Reply>& reply) {
                ended.push_back(reply ? "answered" : reply.error().message);
            });
    ASSERT_TRUE(wait([&] { return processes.at(0).requests("tools/call").size() == 2; }));
    make = {};
    EXPECT_TRUE(pool().find("s")->get().restart(first));
    ASSERT_TRUE(wait([&] { return ended.size() == 2 && closed == 1 && opened == 2; }));
    EXPECT_THAT(ended, ::testing::Each(HasSubstr("closed")));
    EXPECT_EQ(call(first), "2");
    EXPECT_EQ(call(second), "2");
    const auto again = pool().find("s")->get().restart(second);
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error().message, HasSubstr("was restarted a moment ago"));
    EXPECT_EQ(opened, 2u);
}

class WishesOfACaller : public Pool {
protected:
    WishesOfACaller() {
        make = [](FakeServer& server) {
            server.results["initialize"] = [](const auto&) -> json::value {
                return {{"protocolVersion", "2025-11-25"},
                        {"capabilities",
                         {{"tools", json::object()},
                          {"logging", json::object()},
                          {"resources", {{"subscribe", true}}}}},
                        {"serverInfo", {{"name", "fake"}, {"version", "1"}}}};
            };
            for (const auto* method : {"resources/subscribe", "logging/setLevel"})
                server.results[method] = [](const auto&) -> json::value { return json::object(); };
        };
    }
    bool wish(test::FakeCaller& who) {
        auto* const connection = connect(who);
        std::size_t taken = 0;
        connection->subscribe(who, "a:1", true, [&](const auto&) { ++taken; });
        connection->set_log_level(who, "error", [&](const auto&) { ++taken; });
        return wait([&] { return taken == 2; });
    }
    bool are_told_to(std::size_t process) {
        return wait([&] {
            return opened == process + 1 &&
                   processes.at(process).requests("resources/subscribe").size() == 1 &&
                   processes.at(process).requests("logging/setLevel").size() == 1;
        });
    }
};

TEST_F(WishesOfACaller, OutliveARestart) {
    ASSERT_TRUE(wish(first));
    EXPECT_TRUE(pool().find("s")->get().restart(first));
    EXPECT_TRUE(are_told_to(1));
}

TEST_F(WishesOfACaller, OutliveTheDefinitionOfTheirServer) {
    ASSERT_TRUE(wish(first));
    spec.config.settings["args"] = "2";
    pool().apply({spec});
    EXPECT_TRUE(are_told_to(1));
}

TEST_F(Pool, WhatAServerHasCostOutlivesItsConnections) {
    connect(first);
    EXPECT_EQ(call(first), "1");
    processes.at(0).fact("pid", "4194304");
    EXPECT_EQ(status().facts.count("pid"), 1u);
    processes.at(0).fact("cpu_ms", "250");
    processes.at(0).fact("peak_memory_bytes", "7000");
    processes.at(0).fact("exit", "signal 9");
    EXPECT_EQ(status().facts.count("pid"), 0u) << "there is no such process any more";
    EXPECT_TRUE(pool().find("s")->get().restart(first));
    EXPECT_EQ(status().cost.calls, 1u) << "while the old one closes";
    ASSERT_TRUE(wait([&] { return closed == 1 && opened == 2; }));
    EXPECT_EQ(call(first), "2");
    const auto counts = [&](const Status& all) {
        EXPECT_EQ(all.cost.calls, 2u);
        EXPECT_EQ(all.cost.cpu, 250ms);
        EXPECT_EQ(all.cost.peak_memory_bytes, 7000u);
        ASSERT_TRUE(all.last_exit);
        EXPECT_EQ(all.last_exit->signal, 9);
    };
    counts(status());
    pool().apply({});
    ASSERT_TRUE(wait([&] { return closed == 2; }));
    pass(1ms);
    Status stopped;
    stopped.id = "s";
    pool().count_past(stopped);
    counts(stopped);
    pool().apply({spec});
    counts(status());
    EXPECT_EQ(connect(first)->state(), State::Ready);
    counts(status());
}

TEST_F(Pool, ARestartIsOfTheCallersOwnConnectionAndBringsBackOneThatHasFailed) {
    test::FakeCaller second{callers};
    connect(second);
    make = [](FakeServer& server) { server.refuse_open = true; };
    connect(first);
    const auto attempts = opened;
    make = {};
    EXPECT_TRUE(pool().find("s")->get().restart(first));
    ASSERT_TRUE(wait([&] { return opened == attempts + 1; }));
    EXPECT_EQ(call(first), std::to_string(opened));
    EXPECT_EQ(call(second), "1");
}

TEST_F(Pool, AnotherModeLeavesWhoHasAConnectionWithIt) {
    stdio_sharing = true;
    spec.config.mode = "shared";
    std::optional<test::FakeCaller> second(std::in_place, callers);
    test::FakeCaller third{callers};
    connect(first);
    connect(*second);
    spec.config.mode = "per_session";
    pool().apply({spec});
    EXPECT_EQ(call(first), "1");
    EXPECT_EQ(call(third), "2") << "by the new word";
    second.reset();
    pass(1ms);
    EXPECT_EQ(call(first), "1") << "it is held still";
    test::FakeCaller fourth{callers};
    spec.config.mode = "shared";
    pool().apply({spec});
    EXPECT_EQ(call(fourth), "1");
    EXPECT_EQ(call(third), "2");
}

TEST_F(Pool, ASharedOneThatIsNotWantedAnyMoreGoesWithItsLastCaller) {
    stdio_sharing = true;
    spec.config.mode = "shared";
    {
        const test::FakeCaller second{callers};
        connect(second);
        spec.config.mode = "per_session";
        pool().apply({spec});
        pass(1ms);
        EXPECT_EQ(closed, 0u);
    }
    EXPECT_TRUE(wait([&] { return closed == 1; }));
}

// Asks over the caller's connection to `server` and says how that ended.
class PoolInTheMiddle : public Pool {
protected:
    registry::ServerSpec named(const char* id) const {
        auto other = spec;
        other.config.id = other.definition_key = id;
        return other;
    }
    // It waits for a start that does not come, and hears of the end from inside what ends it.
    void ask(const char* server, std::function<void(const std::string&)> ended) {
        auto leased = pool().lease(server, first);
        ASSERT_TRUE(leased);
        leased->get().request(
            first, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
            [ended](const Result<Reply>& reply) { ended(reply ? "" : reply.error().message); });
    }
};

TEST_F(PoolInTheMiddle, OfOneApplyTheNewestIsWhatHoldsInTheEnd) {
    pool().apply({named("s"), named("t"), named("u")});
    int told = 0;
    ask("s", [&](const std::string&) {
        ++told;
        pool().apply({named("v")});
        pool().apply({named("u")});
    });
    pool().apply({named("t")});
    EXPECT_EQ(told, 1);
    EXPECT_THAT(pool().ids(), ElementsAre("u"));
    EXPECT_TRUE(pool().lease("u", first));
}

TEST_F(PoolInTheMiddle, OfClosingWhatIsLateServersMayGo) {
    pool().apply({named("s"), named("t"), named("u")});
    std::vector<std::string> ended;
    for (const char* each : {"s", "t", "u"})
        ask(each, [&](const std::string& why) {
            ended.push_back(why);
            pool().apply({});
        });
    pool().close_late();
    EXPECT_EQ(ended.size(), 3u);
    EXPECT_THAT(pool().ids(), IsEmpty());
}

// What is left of an old definition ends where it is, and does not come back.
TEST_F(Pool, OneThatIsRetiredAndDiesIsNotStartedAgainForWhatItsServerNeverGot) {
    long_lived = true;
    make = [](FakeServer& server) { server.results.erase("tools/call"); };
    auto* const old = connect(first);
    auto& process = processes.at(0);
    process.full = true;
    std::vector<std::string> ended;
    std::string late;
    for (int i = 0; i < 2; ++i)
        old->request(first, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
                     [&](const Result<Reply>& reply) {
                         ended.push_back(reply ? "answered" : reply.error().message);
                         old->request(first, {"tools/call", {"\"name\":\"b\"", ""}, {}, {}},
                                      [&](const Result<Reply>& again) {
                                          late = again ? "answered" : again.error().message;
                                      });
                     });
    ASSERT_TRUE(wait([&] { return process.requests("tools/call").size() == 1; }))
        << "the other one waits in the outbox";
    spec.config.settings["args"] = "2";
    pool().apply({spec});
    ASSERT_TRUE(wait([&] { return status().state == State::Ready; }));
    process.crash("gone");
    ASSERT_TRUE(wait([&] { return ended.size() == 2; }));
    const std::string lost = "server \"s\": connection lost: gone; see patchbay mcp logs s";
    EXPECT_THAT(ended, ElementsAre(lost + "; the request may have been carried out", lost));
    pass(20ms);
    EXPECT_EQ(opened, 2u) << "the old one and the new one";
    EXPECT_EQ(late, "server \"s\": the connection is closed")
        << "for who asks when told of the end";
}

TEST_F(Pool, WhatASharedOneSaysIsForThoseWhoHoldItWhateverTheModeIsNow) {
    stdio_sharing = true;
    spec.config.mode = "shared";
    test::FakeCaller second{callers}, third{callers};
    connect(first);
    connect(second);
    spec.config.mode = "per_session";
    pool().apply({spec});
    connect(third);
    processes.at(0).say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    processes.at(0).say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error"}})");
    ASSERT_TRUE(wait([&] { return first.heard.size() == 2 && second.heard.size() == 2; }));
    EXPECT_THAT(third.heard, IsEmpty()) << "it has one of its own";
    processes.at(1).say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    ASSERT_TRUE(wait([&] { return third.heard.size() == 1; }));
    EXPECT_EQ(first.heard.size(), 2u);
}

}  // namespace
}  // namespace patchbay::connection
