// Which callers share a connection when they are of different eras.
#include "unit/connection/pool_fixture.hpp"

namespace patchbay::connection {
namespace {

using protocol::Era;

class PoolOfEras : public Pool {
protected:
    // A server behind a network, shared by all callers, that speaks these.
    PoolOfEras() {
        spec.config.local = false;
        spec.config.protocol = "auto";
        eras.remembers = true;
        old.prefer(Era::Legacy);
    }
    void speaks(bool legacy, bool modern) {
        make = [legacy, modern](FakeServer& server) {
            if (modern) {
                server.be_modern({tool_named("a")});
                server.errors.erase("server/discover");
            }
            if (!legacy) server.results.erase("initialize");
            if (!legacy) server.errors["initialize"] = {-32601, "Method not found"};
        };
    }
    std::string spoken_with(const Caller& who) { return connect(who)->status().protocol; }

    test::FakeCaller old{callers};  // of the legacy era; `first` is of the modern one
};

TEST_F(PoolOfEras, CallersOfEitherEraGetTheirOwnOfAServerThatSpeaksBoth) {
    speaks(true, true);
    EXPECT_EQ(spoken_with(first), "2026-07-28");
    EXPECT_EQ(spoken_with(old), "2025-11-25");
    EXPECT_TRUE(processes.at(1).requests("server/discover").empty()) << "it began with its own";
    EXPECT_THAT(uses(), ElementsAre("shared ready", "shared ready"));
    test::FakeCaller next{callers}, next_old{callers};
    next_old.prefer(Era::Legacy);
    EXPECT_EQ(connect(next), connect(first));
    EXPECT_EQ(connect(next_old), connect(old));
    EXPECT_EQ(opened, 2u);
}

TEST_F(PoolOfEras, TheyShareTheOneOfAServerOfOneEraOnceThatIsKnown) {
    struct Row {
        bool legacy, modern, old_first;
        std::size_t opened;  // while it is not known
        const char* revision;
    };
    const Row rows[] = {
        {true, false, false, 1, "2025-11-25"},  // the first has found out
        {true, false, true, 2, "2025-11-25"},   // it got what it prefers, and asked no further
        {false, true, false, 2, "2026-07-28"},
        {false, true, true, 1, "2026-07-28"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.revision) + (row.old_first ? " old first" : " old last"));
        pool_.reset();
        eras.known.clear();
        processes.clear();
        opened = closed = 0;
        speaks(row.legacy, row.modern);
        test::FakeCaller modern{callers}, legacy{callers};
        legacy.prefer(Era::Legacy);
        for (const auto* each :
             row.old_first ? std::array{&legacy, &modern} : std::array{&modern, &legacy})
            EXPECT_EQ(spoken_with(*each), row.revision);
        EXPECT_EQ(opened, row.opened);
        test::FakeCaller next{callers}, next_old{callers};
        next_old.prefer(Era::Legacy);
        EXPECT_EQ(connect(next), connect(next_old)) << "it is known now";
        EXPECT_EQ(opened, row.opened);
    }
}

TEST_F(PoolOfEras, WhatIsKnownFromEarlierIsEnough) {
    speaks(false, true);
    eras.known[{"s", Era::Legacy}] = {"2026-07-28", ""};
    EXPECT_EQ(spoken_with(first), "2026-07-28");
    EXPECT_EQ(connect(old), connect(first));
    EXPECT_EQ(opened, 1u);
}

TEST_F(PoolOfEras, OneTooManyClosesWithItsLastCaller) {
    speaks(false, true);
    connect(first);
    {
        test::FakeCaller legacy{callers};
        legacy.prefer(Era::Legacy);
        connect(legacy);
        EXPECT_EQ(opened, 2u);
    }
    ASSERT_TRUE(wait([&] { return closed == 1; }));
    EXPECT_EQ(connect(old), connect(first));
    EXPECT_EQ(opened, 2u);
}

TEST_F(PoolOfEras, OneThatTheOtherEraHasNothingOfIsKeptAsAnyShared) {
    speaks(true, true);
    connect(first);
    {
        test::FakeCaller legacy{callers};
        legacy.prefer(Era::Legacy);
        connect(legacy);
    }
    pass(1s);
    EXPECT_EQ(closed, 0u);
    EXPECT_EQ(spoken_with(old), "2025-11-25");
    EXPECT_EQ(opened, 2u);
}

TEST_F(PoolOfEras, APinnedRevisionIsEverybodys) {
    for (const char* pinned : {"2025-11-25", "2026-07-28"}) {
        pool_.reset();
        opened = 0;
        speaks(true, true);
        spec.config.protocol = pinned;
        EXPECT_EQ(spoken_with(first), pinned);
        EXPECT_EQ(spoken_with(old), pinned);
        EXPECT_EQ(opened, 1u);
    }
}

TEST_F(PoolOfEras, WithoutRoomForAnotherTheyShare) {
    limits.connections_per_server = 1;
    speaks(true, true);
    EXPECT_EQ(spoken_with(first), "2026-07-28");
    EXPECT_EQ(spoken_with(old), "2026-07-28");
    EXPECT_EQ(opened, 1u);
}

TEST_F(PoolOfEras, AProgramThatIsSharedByItsUsersWishStaysOneProcess) {
    spec.config.local = true;
    spec.config.mode = "shared";
    stdio_sharing = true;
    speaks(true, true);
    EXPECT_EQ(spoken_with(old), "2025-11-25") << "who comes first says it";
    EXPECT_EQ(spoken_with(first), "2025-11-25");
    EXPECT_EQ(opened, 1u);
}

TEST_F(PoolOfEras, EachKeepsItsEraWhenTheDefinitionChanges) {
    speaks(true, true);
    connect(first);
    connect(old);
    spec.config.settings["args"] = "2";
    pool().apply({spec});
    EXPECT_EQ(spoken_with(first), "2026-07-28");
    EXPECT_EQ(spoken_with(old), "2025-11-25");
    EXPECT_EQ(opened, 4u);
}

TEST_F(PoolOfEras, ASpareIsOfTheEraOfWhoCameLast) {
    spec.config.local = true;
    spec.config.warm = 1;
    long_lived = true;
    speaks(true, true);
    EXPECT_EQ(spoken_with(first), "2026-07-28");
    ASSERT_TRUE(wait([&] { return opened == 2; }));
    EXPECT_EQ(spoken_with(old), "2025-11-25") << "and does not take the spare of the other era";
    ASSERT_TRUE(wait([&] { return opened == 4 && closed == 1; })) << "which makes room";
    test::FakeCaller next{callers};
    next.prefer(Era::Legacy);
    EXPECT_EQ(spoken_with(next), "2025-11-25");
    EXPECT_THAT(uses(), ::testing::Contains("own ready").Times(3));
}

}  // namespace
}  // namespace patchbay::connection
