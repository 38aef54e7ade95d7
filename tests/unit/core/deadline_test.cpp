#include "core/deadline.hpp"

#include "support/turned_loop.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace patchbay::core {
namespace {

using namespace std::chrono_literals;

class DeadlineTest : public ::testing::Test {
protected:
    test::TurnedLoop loop;
    int passed = 0;
    Deadline deadline{loop, [this] { ++passed; }};
};

TEST_F(DeadlineTest, PassesOnceAtTheTimeThatWasSetLast) {
    deadline.set(10s);
    loop.pass(9s);
    deadline.set(10s);
    loop.pass(9s);
    EXPECT_EQ(passed, 0) << "it was put off";
    EXPECT_TRUE(deadline.is_set());
    loop.pass(1s);
    EXPECT_EQ(passed, 1);
    EXPECT_FALSE(deadline.is_set());
    loop.pass(100s);
    EXPECT_EQ(passed, 1);
}

TEST_F(DeadlineTest, ThatIsBroughtForwardPassesSooner) {
    deadline.set(60s);
    deadline.set(5s);
    loop.pass(5s);
    EXPECT_EQ(passed, 1);
    loop.pass(60s);
    EXPECT_EQ(passed, 1);
}

TEST_F(DeadlineTest, NeverPassesOnceItIsCleared) {
    deadline.set(5s);
    deadline.clear();
    EXPECT_FALSE(deadline.is_set());
    loop.pass(60s);
    EXPECT_EQ(passed, 0);
    deadline.set(5s);
    loop.pass(5s);
    EXPECT_EQ(passed, 1) << "and may be set again";
}

TEST_F(DeadlineTest, PutOffManyTimesItTakesOneTimerAtATime) {
    for (int i = 0; i < 1'000; ++i) deadline.set(10s);
    const auto first = loop.next_due();
    loop.pass(1s);
    deadline.set(10s);
    EXPECT_EQ(loop.next_due(), first);
    loop.pass(10s);
    EXPECT_EQ(passed, 1);
}

TEST(Deadline, MayBeSetAgainAndMayEndItsOwnerAsItPasses) {
    test::TurnedLoop loop;
    std::unique_ptr<Deadline> deadline;
    int passed = 0;
    deadline = std::make_unique<Deadline>(loop, [&] {
        if (++passed == 1)
            deadline->set(1s);
        else
            deadline.reset();
    });
    deadline->set(1s);
    loop.pass(2s);
    EXPECT_EQ(passed, 2);
    EXPECT_FALSE(deadline);
}

}  // namespace
}  // namespace patchbay::core
