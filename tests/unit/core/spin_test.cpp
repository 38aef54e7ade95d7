#include "core/spin.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace patchbay::core {
namespace {

using namespace std::chrono_literals;

constexpr auto kWorthIt = 60us;  // with the time to wake up in it

Spin after(int sleeps, std::chrono::nanoseconds each) {
    Spin spin(50us);
    for (int i = 0; i < sleeps; ++i) spin.slept(each);
    return spin;
}

TEST(Spin, BeginsAfterAFewSleepsThatItWouldHaveSpared) {
    EXPECT_FALSE(after(3, kWorthIt).pays());
    EXPECT_TRUE(after(4, kWorthIt).pays());
    EXPECT_TRUE(after(4, 100us).pays());
}

TEST(Spin, DoesNotBeginWhereAnswersTakeLonger) {
    EXPECT_FALSE(after(1000, 101us).pays());
    EXPECT_FALSE(after(1000, 10ms).pays());
}

TEST(Spin, DoesNotBeginWhereBothEndsShareACore) {
    EXPECT_FALSE(after(1000, 3us).pays());
}

TEST(Spin, CountsOnlySleepsInARow) {
    auto spin = after(3, kWorthIt);
    spin.slept(1s);
    for (int i = 0; i < 3; ++i) spin.slept(kWorthIt);
    EXPECT_FALSE(spin.pays());
    spin.slept(kWorthIt);
    EXPECT_TRUE(spin.pays());
}

TEST(Spin, EndsAfterTwoMissesInARow) {
    auto spin = after(4, kWorthIt);
    spin.polled(false);
    spin.polled(true);
    spin.polled(false);
    EXPECT_TRUE(spin.pays());
    spin.polled(false);
    EXPECT_FALSE(spin.pays());
}

TEST(Spin, ThatMissedNeedsTwiceAsMuchToBeginAgainEachTime) {
    auto spin = after(4, kWorthIt);
    for (const int needed : {8, 16, 32, 64, 128, 256, 512, 1024, 1024}) {
        spin.polled(false);
        spin.polled(false);
        for (int i = 0; i < needed - 1; ++i) spin.slept(kWorthIt);
        EXPECT_FALSE(spin.pays()) << needed;
        spin.slept(kWorthIt);
        EXPECT_TRUE(spin.pays()) << needed;
    }
    spin.polled(true);  // all is forgiven
    spin.polled(false);
    spin.polled(false);
    for (int i = 0; i < 8; ++i) spin.slept(kWorthIt);
    EXPECT_TRUE(spin.pays());
}

TEST(Spin, IsOffWhenNoTimeIsGiven) {
    Spin spin(0ns);
    for (int i = 0; i < 100; ++i) spin.slept(0ns);
    EXPECT_FALSE(spin.pays());
}

}  // namespace
}  // namespace patchbay::core
