#include "connection/pending_requests.hpp"

#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The clock stands until the test turns it.
class PendingTest : public ::testing::Test {
protected:
    PendingRequest& add(RequestId id, std::chrono::milliseconds wall,
                        std::chrono::milliseconds idle = 0ms, std::size_t bytes = 1) {
        PendingRequest entry;
        entry.deadline = loop.now() + wall;
        entry.wall = wall;
        entry.idle = idle;
        entry.bytes = bytes;
        return pending.add(id, std::move(entry));
    }
    void look() { loop.pass(0ms); }

    test::TurnedLoop loop;
    std::vector<RequestId> expired;
    PendingRequests pending{loop, [this](RequestId id) {
                                expired.push_back(id);
                                pending.take(id);
                            }};
};

TEST_F(PendingTest, ProgressMovesTheIdleLimit) {
    auto& entry = add(1, 10s, 40ms);
    for (int i = 0; i < 3; ++i) {
        loop.turn(39ms);
        pending.touch(entry);
        look();
        ASSERT_THAT(expired, IsEmpty());
    }
    loop.turn(40ms);
    look();
    EXPECT_THAT(expired, ElementsAre(1));
}

TEST_F(PendingTest, ProgressDoesNotMoveTheWallClock) {
    auto& entry = add(1, 50ms, 40ms);
    loop.turn(30ms);
    pending.touch(entry);
    look();
    ASSERT_THAT(expired, IsEmpty());
    loop.turn(20ms);
    pending.touch(entry);
    look();
    EXPECT_THAT(expired, ElementsAre(1));
}

TEST_F(PendingTest, EndsWhatIsDueInOrderAndLeavesTheRest) {
    add(3, 20ms);
    add(2, 30ms);
    add(1, 40ms);
    loop.turn(30ms);
    look();
    EXPECT_THAT(expired, ElementsAre(2, 3));
    EXPECT_THAT(pending.ids(), ElementsAre(1));
}

TEST_F(PendingTest, TheTimeOfSomebodyWhoIsAskedIsGivenBack) {
    auto& entry = add(1, 40ms, 30ms);
    loop.turn(10ms);
    pending.hold(entry, 1h);
    loop.turn(59min);
    look();
    ASSERT_THAT(expired, IsEmpty());
    pending.release(entry);
    EXPECT_EQ(entry.deadline, loop.now() + 30ms) << "what was left of it";
    EXPECT_EQ(entry.idle_deadline, loop.now() + 30ms);
    loop.turn(30ms);
    look();
    EXPECT_THAT(expired, ElementsAre(1));
}

TEST_F(PendingTest, TheTimeOfSomebodyWhoIsAskedHasAnEndToo) {
    auto& entry = add(1, 40ms);
    pending.hold(entry, 1h);
    loop.turn(1h);
    look();
    EXPECT_THAT(expired, ElementsAre(1));
}

TEST_F(PendingTest, ATimeOutOfTheCallersOwnGoesOnMeanwhile) {
    auto& entry = add(1, 40ms);
    entry.request.timeout = 40ms;
    const auto due = entry.deadline;
    pending.hold(entry, 1h);
    loop.turn(30ms);
    pending.release(entry);
    EXPECT_EQ(entry.deadline, due);
}

TEST_F(PendingTest, CountsTheBytesOfWhatIsThere) {
    add(1, 1h, 0ms, 100);
    add(2, 1h, 0ms, 10);
    EXPECT_EQ(pending.bytes(), 110u);
    pending.take(1);
    EXPECT_EQ(pending.bytes(), 10u);
    pending.take(2);
    EXPECT_EQ(pending.bytes(), 0u);
}

TEST_F(PendingTest, IsFoundByTheLastIdOnTheWireOnly) {
    add(1, 1h);
    EXPECT_EQ(pending.id_of_wire(1), 1u);
    pending.set_wire_id(1, 7);
    EXPECT_EQ(pending.id_of_wire(1), 0u);
    EXPECT_EQ(pending.id_of_wire(7), 1u);
    pending.set_wire_id(1, 9);
    EXPECT_EQ(pending.id_of_wire(7), 0u);
    EXPECT_EQ(pending.find_wire(9), pending.find(1));
    pending.take(1);
    EXPECT_EQ(pending.id_of_wire(9), 0u);
}

TEST_F(PendingTest, AreDrainedOnceTheLastThatHasBegunIsTakenAndItsHandlerIsThrough) {
    for (const RequestId id : {1, 2, 3, 4}) add(id, 10s).caller = id == 4 ? 0 : 1;
    for (const RequestId id : {1, 2, 4}) pending.find(id)->stage = Stage::Sent;
    int drained = 0;
    EXPECT_FALSE(pending.draining());
    pending.drain([&] { ++drained; });
    EXPECT_TRUE(pending.draining());
    pending.take(1);
    look();
    EXPECT_EQ(drained, 0);
    pending.take(2);
    EXPECT_EQ(drained, 0) << "not before who took it has returned";
    look();
    EXPECT_EQ(drained, 1) << "what waits and what is the connection's own does not count";
}

}  // namespace
}  // namespace patchbay::connection
