#include "net/pace.hpp"

#include <gtest/gtest.h>

namespace patchbay::net {
namespace {

using namespace std::chrono_literals;

TEST(Pace, StreamsThatEndAtOnceAreAskedForLessAndLessOften) {
    Pace pace;
    auto now = Pace::Clock::now();
    for (const auto expected : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
        pace.began(now);
        EXPECT_EQ(pace.pause(0ms, now + 10ms), expected);
        now += 10s;
    }
    pace.began(now);
    EXPECT_EQ(pace.pause(0ms, now + 1s), Pace::kLeast) << "this one lasted";
}

TEST(Pace, TheServerMayWantMore) {
    Pace pace;
    const auto now = Pace::Clock::now();
    pace.began(now);
    EXPECT_EQ(pace.pause(700ms, now), 700ms);
    pace.began(now);
    EXPECT_EQ(pace.pause(1h, now), 1h);
}

}  // namespace
}  // namespace patchbay::net
