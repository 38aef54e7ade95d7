#include "core/timer.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace patchbay::core {
namespace {

using namespace std::chrono_literals;

class TimerTest : public ::testing::Test {
protected:
    // Until everything that was due before now has happened.
    void look() {
        bool looked = false;
        loop.after(5ms, [&] { looked = true; });
        EXPECT_TRUE(loop.run_until([&] { return looked; }, Clock::now() + 20s));
    }

    Loop loop;
    int fired = 0;
};

TEST_F(TimerTest, FiresOnceAndIsNotRunningAnyMore) {
    Timer timer(loop);
    timer.start(0ms, [&] {
        ++fired;
        EXPECT_FALSE(timer.running());
    });
    EXPECT_TRUE(timer.running());
    look();
    EXPECT_EQ(fired, 1);
    EXPECT_FALSE(timer.running());
}

TEST_F(TimerTest, EndsWithItsOwner) {
    {
        Timer timer(loop);
        timer.start(0ms, [&] { ++fired; });
    }
    look();
    EXPECT_EQ(fired, 0);
}

TEST_F(TimerTest, DoesWhatItWasToldLastAndNothingOnceItIsStopped) {
    Timer timer(loop);
    timer.start(0ms, [&] { fired += 10; });
    timer.start(0ms, [&] { ++fired; });
    look();
    EXPECT_EQ(fired, 1);
    timer.start(0ms, [&] { fired += 10; });
    timer.stop();
    look();
    EXPECT_EQ(fired, 1);
}

TEST_F(TimerTest, MayBeStartedAgainOrEndedByWhatItDoes) {
    std::optional<Timer> timer(std::in_place, loop);
    const auto again = [&](const auto& self) -> void {
        if (++fired < 3) return timer->start(0ms, [&, self] { self(self); });
        timer.reset();
    };
    timer->start(0ms, [&] { again(again); });
    EXPECT_TRUE(loop.run_until([&] { return !timer; }, Clock::now() + 20s));
    EXPECT_EQ(fired, 3);
}

}  // namespace
}  // namespace patchbay::core
