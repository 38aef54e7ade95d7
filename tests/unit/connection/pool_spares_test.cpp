// Connections that wait for the next caller, and starts: how they queue and fail together.
#include "unit/connection/pool_fixture.hpp"

namespace patchbay::connection {
namespace {

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
    pass(1h);
    EXPECT_THAT(call(many[0]), HasSubstr("exited with code 1"));
    EXPECT_EQ(opened, 2u) << "not for ever";
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
