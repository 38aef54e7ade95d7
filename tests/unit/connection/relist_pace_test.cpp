// How often a server is asked for its list that says again and again that it changed.
#include "connection/relist_pace.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace patchbay::connection {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirst = 1s, kMost = 60s;

// Of a server whose list takes `took`.
RelistPace pace_of(core::Clock::duration took) {
    RelistPace pace(kFirst, kMost);
    const auto then = core::Clock::time_point() + 1h;
    pace.begun(then);
    pace.read(then + took);
    return pace;
}

TEST(RelistPace, IsAtOnceTheFirstTimeAndThenOnceASecond) {
    auto pace = pace_of(1ms);
    EXPECT_EQ(pace.next(1h), 0ms);
    EXPECT_EQ(pace.next(5ms), kFirst);
    EXPECT_EQ(pace.next(5ms), kFirst) << "however often it says so";
}

TEST(RelistPace, AServerThatWasQuietForAPauseIsAskedAtOnce) {
    auto pace = pace_of(1ms);
    EXPECT_EQ(pace.next(0ms), 0ms);
    EXPECT_EQ(pace.next(999ms), kFirst);
    EXPECT_EQ(pace.next(1s), 0ms);
}

TEST(RelistPace, WhatTakesLongRestsFourTimesAsLong) {
    auto pace = pace_of(2s);
    EXPECT_EQ(pace.next(1h), 0ms);
    EXPECT_EQ(pace.next(7s), 8s);
    EXPECT_EQ(pace.next(8s), 0ms);
}

TEST(RelistPace, HoweverLongItTakesAMinuteIsTheMost) {
    auto pace = pace_of(1h);
    EXPECT_EQ(pace.next(59s), 0ms);
    EXPECT_EQ(pace.next(59s), kMost);
}

}  // namespace
}  // namespace patchbay::connection
