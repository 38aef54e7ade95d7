// Whose connection is whose, how many there are, and when they go.
#include "connection/connection_pool.hpp"
#include "support/fake_caller.hpp"
#include "support/fake_channel.hpp"
#include "support/fake_sources.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace patchbay::connection {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using test::FakeServer;
using test::tool_named;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each connection to server "s" is a process of its own, in the order in which they are opened.
class Pool : public ::testing::Test, protected test::PoolParts {
protected:
    Pool() {
        health.reconnect_first = 1ms;
        health.reconnect_most = 5ms;
        spec.config.id = "s";
        spec.config.transport = "stdio";
        spec.config.local = true;
        spec.definition_key = "s";
    }

    ConnectionPool& pool() {
        if (!pool_) {
            Terms terms;
            terms.health = health;
            terms.limits = limits;
            terms.long_lived = long_lived;
            terms.more_callers = more_callers;
            terms.stdio_sharing = stdio_sharing;
            pool_.emplace(context(loop, transports, std::move(terms)));
            pool_->apply({spec});
        }
        return *pool_;
    }
    bool wait(const std::function<bool()>& done) { return loop.run_until(done); }
    // Lets every timer that is due until then fire, and what was deferred run.
    void pass(std::chrono::milliseconds time) { loop.pass(time); }
    Connection* connect(const Caller& who) {
        bool settled = false;
        pool().connect(who, {"s"}, [&] { settled = true; });
        EXPECT_TRUE(wait([&] { return settled; }));
        auto leased = pool().lease("s", who);
        EXPECT_TRUE(leased) << leased.error().message;
        return leased ? &leased->get() : nullptr;
    }
    // How the one caller's call ends: with the number of the server that answered, or why not.
    std::string call(Caller& who) {
        std::optional<std::string> ended;
        auto leased = pool().lease("s", who);
        if (!leased) return leased.error().message;
        leased->get().request(
            who, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
            [&ended](const Result<Reply>& reply) {
                ended = reply ? json::serialize(json::parse(reply->result).at("number"))
                              : reply.error().message;
            });
        EXPECT_TRUE(wait([&] { return ended.has_value(); }));
        return ended.value_or("never");
    }
    Status status() { return pool().statuses().at(0); }
    std::vector<std::string> uses() {
        std::vector<std::string> uses;
        for (const auto& one : status().connections)
            uses.push_back(one.use + " " + name_of(one.state));
        return uses;
    }

    // Tells of the end of the channel.
    struct Counted final : plugin::ChannelEvents {
        Counted(Pool& of, plugin::ChannelEvents& to) : test(of), events(to) {}
        void on_opened() override { events.on_opened(); }
        void on_message(plugin::ExchangeId exchange, core::Buffer body) override {
            events.on_message(exchange, std::move(body));
        }
        void on_done(plugin::ExchangeId exchange, const plugin::Problem* problem) override {
            events.on_done(exchange, problem);
        }
        void on_challenge(const plugin::Problem& problem) override { events.on_challenge(problem); }
        void on_writable() override { events.on_writable(); }
        void on_output(unsigned stream, std::string_view line) override {
            events.on_output(stream, line);
        }
        void on_fact(std::string_view name, std::string_view value) override {
            events.on_fact(name, value);
        }
        void on_closed(const plugin::Problem* problem) override {
            ++test.closed;
            events.on_closed(problem);
        }
        Pool& test;
        plugin::ChannelEvents& events;
    };
    Result<std::unique_ptr<plugin::Channel>> open_another(plugin::ChannelEvents& on) {
        auto& server = processes.emplace_back(loop);
        server.be_legacy({tool_named("a")});
        const auto number = processes.size();
        server.results["tools/call"] = [number](const auto&) -> json::value {
            return {{"number", number}};
        };
        if (make) make(server);
        ++opened;
        return server.open(heard.emplace_back(*this, on));
    }

    test::TurnedLoop loop;
    std::deque<FakeServer> processes;
    std::deque<Counted> heard;
    std::function<void(FakeServer&)> make;  // what is different about the next ones
    std::size_t opened = 0, closed = 0;
    test::FakeTransports transports{[this](const plugin::ChannelOptions&,
                                           plugin::ChannelEvents& on) { return open_another(on); }};
    test::FakeCaller first{callers};
    config::HealthSettings health;
    core::Limits limits;
    bool long_lived = false, more_callers = true, stdio_sharing = false;
    registry::ServerSpec spec;
    std::optional<ConnectionPool> pool_;
};

TEST_F(Pool, GivesEachCallerWhatTheModeSays) {
    struct Row {
        const char* mode;
        bool local, sharing;
        std::size_t processes;  // of two callers
    };
    const Row rows[] = {
        {"", true, false, 2},
        {"", false, false, 1},
        {"auto", true, true, 2},
        {"auto", false, false, 1},
        {"shared", true, false, 2},
        {"shared", true, true, 1},
        {"shared", false, false, 1},
        {"per_session", true, true, 2},
        {"per_session", false, false, 2},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.mode) + (row.local ? " local" : " remote"));
        pool_.reset();
        opened = 0;
        spec.config.mode = row.mode;
        spec.config.local = row.local;
        stdio_sharing = row.sharing;
        test::FakeCaller second{callers};
        auto* const one = connect(first);
        auto* const other = connect(second);
        EXPECT_EQ(opened, row.processes);
        EXPECT_EQ(one == other, row.processes == 1);
        EXPECT_EQ(connect(first), one) << "a lease stays";
        EXPECT_EQ(opened, row.processes);
    }
}

TEST_F(Pool, AConnectionOfOnesOwnGoesWithItsCallerAndTheOthersStay) {
    std::optional<test::FakeCaller> second(std::in_place, callers);
    connect(first);
    connect(*second);
    EXPECT_THAT(uses(), ElementsAre("own ready", "own ready"));
    second.reset();
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    EXPECT_EQ(call(first), "1");
    EXPECT_THAT(status().connections, IsEmpty()) << "of one alone there is nothing to list";
}

TEST_F(Pool, WhatACallerHasInFlightIsCancelledBeforeItsConnectionCloses) {
    make = [](FakeServer& server) { server.results.erase("tools/call"); };
    std::optional<test::FakeCaller> second(std::in_place, callers);
    bool told = false;
    connect(*second)->request(*second, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
                              [&](const auto&) { told = true; });
    auto& process = processes.at(0);
    ASSERT_TRUE(wait([&] { return !process.requests("tools/call").empty(); }));
    second.reset();
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    EXPECT_EQ(process.requests("notifications/cancelled").size(), 1u);
    EXPECT_FALSE(told);
}

TEST_F(Pool, OneThatCrashesLeavesTheOthersAlone) {
    long_lived = true;
    test::FakeCaller second{callers};
    connect(first);
    connect(second);
    processes.at(0).crash("gone");
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    EXPECT_EQ(call(second), "2");
    EXPECT_EQ(status().state, State::Ready) << "the best of them";
    EXPECT_EQ(call(first), "3") << "its own came back";
    EXPECT_EQ(status().restarts, 1u) << "of all of them";
}

TEST_F(Pool, AChangedListIsToldToThoseWhomItsConnectionServes) {
    const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
    for (const bool shared : {false, true}) {
        pool_.reset();
        const auto before = processes.size();
        stdio_sharing = shared;
        spec.config.mode = "shared";
        test::FakeCaller second{callers};
        first.heard.clear();
        connect(first);
        connect(second);
        processes.at(before).say(changed);
        ASSERT_TRUE(wait([&] { return !first.heard.empty(); }));
        EXPECT_EQ(second.heard.size(), shared ? 1u : 0u);
    }
}

TEST_F(Pool, AQuestionOnAConnectionOfOnesOwnIsThatCallersThoughOthersAreThere) {
    test::FakeCaller second{callers};
    connect(first);
    connect(second);
    processes.at(1).say(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
    ASSERT_TRUE(wait([&] { return !second.asked.empty(); }));
    EXPECT_THAT(first.asked, IsEmpty());
}

TEST_F(Pool, ASharedOneThatNobodyHoldsClosesAfterItsTimeAndComesBack) {
    spec.config.local = false;
    spec.config.idle_timeout = 1ms;
    {
        const test::FakeCaller second{callers}, third{callers};
        connect(second);
        connect(third);
    }
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    EXPECT_EQ(status().state, State::Idle);
    EXPECT_EQ(call(first), "2");
    pass(20ms);
    EXPECT_EQ(closed, 1u) << "it is held";
}

TEST_F(Pool, ASharedOneIsKeptByDefaultUnlessItsServerIsLazy) {
    spec.config.local = false;
    for (const bool lazy : {false, true}) {
        pool_.reset();
        spec.config.lazy = lazy;
        connect(test::FakeCaller(callers));
        EXPECT_EQ(status().state, State::Ready) << "ten minutes are not over";
        auto changed = spec;
        changed.config.idle_timeout = 0ms;
        pool().apply({changed});
        pass(5ms);
        EXPECT_EQ(status().state, State::Ready) << "0 is for ever";
    }
    auto changed = spec;
    changed.config.idle_timeout = 1ms;
    const auto before = closed;
    pool().apply({changed});
    EXPECT_TRUE(wait([&] { return closed == before + 1; })) << "a new time counts at once";
}

TEST_F(Pool, SomebodyWhoComesBackInTimeFindsTheSame) {
    spec.config.local = false;
    spec.config.idle_timeout = 1h;
    connect(test::FakeCaller(callers));
    EXPECT_EQ(call(first), "1");
}

TEST_F(Pool, OneCallerMoreThanTheLimitIsRefusedAndTheOthersGoOn) {
    limits.connections_per_server = 2;
    std::optional<test::FakeCaller> second(std::in_place, callers);
    test::FakeCaller third{callers};
    connect(first);
    connect(*second);
    processes.at(1).holds_on = true;
    EXPECT_EQ(call(third), "server \"s\": 2 connections are open (limit connections_per_server)");
    bool settled = false;
    pool().connect(third, {"s"}, [&] { settled = true; });
    EXPECT_TRUE(wait([&] { return settled; })) << "and keeps nobody waiting";
    second.reset();
    EXPECT_THAT(call(third), HasSubstr("2 connections are open, 1 of which are closing (limit"));
    processes.at(1).let_go();
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    pass(1ms);
    EXPECT_EQ(call(third), "3");
    EXPECT_EQ(call(first), "1");
}

TEST_F(Pool, ASpareWaitsForTheNextCallerWhoStartsNothing) {
    long_lived = true;
    spec.config.warm = 1;
    pool();
    ASSERT_TRUE(wait([&] { return status().state == State::Ready; })) << "before anybody came";
    ASSERT_EQ(opened, 1u);
    EXPECT_EQ(call(first), "1");
    ASSERT_TRUE(wait([&] { return opened == 2; })) << "the next one's";
    ASSERT_TRUE(wait([&] {
        return uses() == std::vector<std::string>{"own ready", "spare ready"};
    }));
    test::FakeCaller second{callers};
    auto* const taken = connect(second);
    EXPECT_EQ(taken->state(), State::Ready);
    EXPECT_EQ(call(second), "2");
    processes.at(1).say(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
    ASSERT_TRUE(wait([&] { return !second.asked.empty(); })) << "it is this caller's by now";
}

TEST_F(Pool, OfALazyServerASpareIsKeptOnceItIsUsed) {
    long_lived = true;
    spec.config.warm = 1;
    spec.config.lazy = true;
    pool();
    pass(5ms);
    EXPECT_EQ(opened, 0u);
    EXPECT_EQ(call(first), "1");
    EXPECT_TRUE(wait([&] { return opened == 2; }));
}

TEST_F(Pool, NoSpareIsKeptByACommandThatEndsOrWhereCallersShare) {
    spec.config.warm = 1;
    for (const bool shared : {false, true}) {
        pool_.reset();
        opened = 0;
        long_lived = shared;
        spec.config.local = !shared;
        connect(first);
        pass(5ms);
        EXPECT_EQ(opened, 1u);
    }
    pool_.reset();
    opened = 0;
    spec.config.local = true;
    more_callers = false;
    connect(first);
    pass(5ms);
    EXPECT_EQ(opened, 1u) << "and where no other caller comes";
}

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

TEST_F(Pool, ASpareOfAServerThatEndsAtOnceIsNotStartedOverAndOver) {
    long_lived = true;
    health.reconnect_attempts = 2;
    spec.config.warm = 1;
    spec.config.protocol = "2025-11-25";  // without a probe, after which it would try again
    make = [](FakeServer& server) {
        server.results.clear();
        server.crash("exited with code 1");
    };
    pool();
    ASSERT_TRUE(wait([&] { return status().state == State::Failed; }));
    const auto of_the_spare = opened;
    EXPECT_EQ(of_the_spare, 3u) << "the first and two more";
    pass(50ms);
    pool().apply({spec});
    pass(50ms);
    EXPECT_EQ(opened, of_the_spare) << "to be told its rules begins nothing either";
    EXPECT_THAT(call(first), HasSubstr("exited with code 1")) << "the caller takes it as it is";
    pass(50ms);
    EXPECT_LE(opened, of_the_spare + 3) << "and no spare follows from what failed";
    EXPECT_THAT(status().connections, IsEmpty());
}

TEST_F(Pool, StartsOfAllKindsQueueTogether) {
    long_lived = true;
    limits.local_starts = 1;
    spec.config.warm = 1;
    std::size_t starting = 0, most = 0;
    make = [&](FakeServer& server) {
        most = std::max(most, ++starting);
        server.results["tools/list"] = [&](const auto&) -> json::value {
            --starting;
            return {{"tools", {tool_named("a")}}};
        };
    };
    std::deque<test::FakeCaller> many;
    int settled = 0;
    for (int i = 0; i < 5; ++i)
        pool().connect(many.emplace_back(callers), {"s"}, [&] { ++settled; });
    ASSERT_TRUE(wait([&] { return settled == 5 && opened == 6; }));
    EXPECT_EQ(most, 1u);
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

TEST_F(Pool, OpensNothingMoreOnceItCloses) {
    long_lived = true;
    spec.config.warm = 1;
    connect(first);
    ASSERT_TRUE(wait([&] { return opened == 2; }));
    bool gone = false;
    pool().close([&] { gone = true; });
    const test::FakeCaller second{callers}, third{callers};
    EXPECT_TRUE(pool().lease("s", second)) << "the spare, which is closing";
    const auto refused = pool().lease("s", third);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "server \"s\": the host is closing");
    ASSERT_TRUE(wait([&] { return gone; }));
    EXPECT_EQ(opened, 2u);
    EXPECT_EQ(closed, 2u);
}

// A handler of the one may end the other, in the middle of the first one's end.
TEST_F(Pool, CallersMayEndEachOther) {
    spec.config.local = false;
    spec.config.idle_timeout = 1ms;
    make = [](FakeServer& server) { server.results.erase("tools/call"); };
    std::optional<test::FakeCaller> second(std::in_place, callers), third(std::in_place, callers);
    connect(*second);
    auto* const connection = connect(*third);
    const auto told = std::make_shared<int>(0);
    connection->request(*third, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
                        [&, told](const auto&) {
                            ++*told;
                            second.reset();
                        });
    auto& process = processes.at(0);
    ASSERT_TRUE(wait([&] { return !process.requests("tools/call").empty(); }));
    process.crash("gone");
    ASSERT_TRUE(wait([&] { return *told == 1; }));
    third.reset();
    pass(5ms);
    EXPECT_EQ(status().state, State::Idle);
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
    for (int i = 0; i < 2; ++i)
        old->request(first, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
                     [&](const Result<Reply>& reply) {
                         ended.push_back(reply ? "answered" : reply.error().message);
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

// ---- starts that fail

class FailedStarts : public Pool {
protected:
    FailedStarts() {
        limits.local_starts = 64;
        spec.config.protocol = "2025-11-25";  // without a probe, after which it would try again
        make = [](FakeServer& server) {
            server.results.clear();
            server.crash("exited with code 1");
        };
        for (int i = 0; i < 16; ++i) many.emplace_back(callers);
    }
    // All of them want it at once.
    void connect_all() {
        std::size_t settled = 0;
        for (const auto& each : many) pool().connect(each, {"s"}, [&] { ++settled; });
        ASSERT_TRUE(wait([&] { return settled == many.size(); }));
    }
    std::deque<test::FakeCaller> many;
};

TEST_F(FailedStarts, AreSharedByAllWhoWantedTheServerMeanwhile) {
    connect_all();
    EXPECT_EQ(opened, 1u);
    for (const auto& each : many)
        EXPECT_THAT(pool().held("s", each.number())->status().last_error,
                    HasSubstr("exited with code 1"));
    connect_all();
    EXPECT_EQ(opened, 2u) << "who asks begins another, for all of them";
    make = {};
    connect_all();
    EXPECT_EQ(opened, 2u + many.size());
    for (const auto& each : many) EXPECT_EQ(pool().held("s", each.number())->state(), State::Ready);
}

TEST_F(FailedStarts, AreRepeatedAsForOneCaller) {
    long_lived = true;
    health.reconnect_attempts = 3;
    connect_all();
    ASSERT_TRUE(wait([&] { return status().state == State::Failed; }));
    pass(50ms);
    EXPECT_GE(opened, 4u);
    EXPECT_LE(opened, 8u) << "one caller's would be 4";
}

TEST_F(FailedStarts, PutOffTheRequestsOfOthersToo) {
    health.reconnect_most = 1h;
    EXPECT_THAT(call(first), HasSubstr("exited with code 1"));
    EXPECT_THAT(call(many[0]), HasSubstr("exited with code 1"));
    EXPECT_EQ(opened, 1u);
}

TEST_F(FailedStarts, OfASpareArePutOffAsWell) {
    long_lived = true;
    health.reconnect_attempts = 0;
    health.reconnect_most = 1h;
    spec.config.warm = 1;
    spec.config.lazy = true;
    make = [this](FakeServer& server) {
        if (processes.size() == 2) server.results.erase("initialize");
        if (processes.size() == 3) server.crash("no more of me");
    };
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(pool().lease("s", many[i]));
    ASSERT_TRUE(wait([&] { return closed == 1; })) << "the spare that follows from the first";
    auto& late = processes.at(1);
    ASSERT_TRUE(wait([&] { return !late.requests("initialize").empty(); }));
    late.answer(late.requests("initialize").at(0).at("id").as_int64(),
                R"({"protocolVersion":"2025-11-25","capabilities":{}})");
    ASSERT_TRUE(wait([&] { return pool().held("s", many[1].number())->state() == State::Ready; }));
    pass(5ms);
    EXPECT_EQ(opened, 3u);
}

}  // namespace
}  // namespace patchbay::connection
