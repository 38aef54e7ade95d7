// Whose connection is whose, how many there are, and when they go.
#include "unit/connection/pool_fixture.hpp"

namespace patchbay::connection {
namespace {

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
    EXPECT_EQ(call(first), "1");
    EXPECT_EQ(call(*second), "2");
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

// Most clients connect all servers before they call anything, and many of them never do.
TEST_F(Pool, WhereThereIsNoRoomOneThatNobodyHasUsedMakesIt) {
    limits.connections_per_server = 2;
    test::FakeCaller second{callers}, third{callers};
    connect(first);
    connect(second);
    EXPECT_EQ(call(second), "2");
    EXPECT_EQ(call(third), "3") << "in the place of the first one's";
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    pass(1ms);
    EXPECT_EQ(call(first), "server \"s\": 2 connections are open (limit connections_per_server)")
        << "both are in use";
    EXPECT_EQ(call(second), "2");
}

TEST_F(Pool, WhoeverHasLostOneThatWasNotUsedHasAnotherWhenItIs) {
    limits.connections_per_server = 2;
    test::FakeCaller second{callers}, third{callers};
    for (const auto* each : {&first, &second, &third}) connect(*each);
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    pass(1ms);
    EXPECT_EQ(call(first), "4");
    ASSERT_TRUE(wait([&] { return closed == 2; }));
    pass(1ms);
    EXPECT_EQ(call(third), "3");
}

TEST_F(Pool, WhoeverWishesForSomethingOfAConnectionUsesIt) {
    limits.connections_per_server = 1;
    test::FakeCaller second{callers};
    connect(first)->set_log_level(first, "info", [](const auto&) {});
    EXPECT_THAT(call(second), HasSubstr("1 connections are open"));
}

TEST_F(Pool, NoMoreThanAFewMakeRoomAtATime) {
    limits.connections_per_server = 1;
    make = [](FakeServer& server) { server.holds_on = true; };
    std::deque<test::FakeCaller> many;
    for (int i = 0; i < 20; ++i) {
        bool settled = false;
        pool().connect(many.emplace_back(callers), {"s"}, [&] { settled = true; });
        EXPECT_TRUE(wait([&] { return settled; }));
    }
    EXPECT_EQ(opened, 1 + ServerConnections::kMostMakingRoom);
    for (auto& process : processes) process.let_go();
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

}  // namespace
}  // namespace patchbay::connection
