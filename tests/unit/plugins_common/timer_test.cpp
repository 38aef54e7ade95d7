// One timer of a channel, with a host that is turned by hand.
#include "timer.hpp"

#include "unit/plugins_common/scripted_host.hpp"

#include <gtest/gtest.h>

#include <memory>

using namespace patchbay;
using namespace patchbay::transport;
using namespace patchbay::test;
using namespace std::chrono_literals;

namespace {

class TimerTest : public testing::Test {
protected:
    bool start(std::chrono::nanoseconds delay) {
        const ChannelCore::Turn turn(core_);
        return timer_->start(delay);
    }
    void stop() {
        const ChannelCore::Turn turn(core_);
        timer_->stop();
    }

    ScriptedHost host_;
    ChannelCore core_{host_.params()};
    int times_ = 0;
    std::unique_ptr<Timer> timer_ = std::make_unique<Timer>(core_, [this] { ++times_; });
};

TEST_F(TimerTest, FiresOnceForEachStart) {
    ASSERT_TRUE(start(5ms));
    EXPECT_TRUE(timer_->running());
    ASSERT_EQ(host_.timers(), 1u);
    EXPECT_EQ(host_.operations.begin()->second.delay_ns, 5'000'000u);
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_FALSE(timer_->running());
    EXPECT_EQ(times_, 1);
    EXPECT_FALSE(host_.fire_timer());
    ASSERT_TRUE(start(-1ms)) << "what is late is due at once";
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_EQ(times_, 2);
}

TEST_F(TimerTest, StoppedItFiresNoMore) {
    stop();
    ASSERT_TRUE(start(5ms));
    stop();
    EXPECT_FALSE(timer_->running());
    EXPECT_EQ(host_.timers(), 0u);
    EXPECT_EQ(times_, 0);
}

TEST_F(TimerTest, KeepsItsChannelFromItsEnd) {
    ASSERT_TRUE(start(5ms));
    {
        const ChannelCore::Turn turn(core_);
        core_.finish(PATCHBAY_OK, {});
    }
    EXPECT_TRUE(host_.told.empty());
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_EQ(host_.told.size(), 1u);
}

TEST_F(TimerTest, MayBeDestroyedByWhatItCalls) {
    timer_ = std::make_unique<Timer>(core_, [this] {
        timer_.reset();
        ++times_;
    });
    ASSERT_TRUE(start(5ms));
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_EQ(times_, 1);
}

TEST_F(TimerTest, SaysWhenTheHostTakesNone) {
    host_.refuses = true;
    EXPECT_FALSE(start(5ms));
    EXPECT_FALSE(timer_->running());
}

TEST_F(TimerTest, WhatItCallsMayThrowAndEndsTheChannelAlone) {
    timer_ = std::make_unique<Timer>(core_, [] { throw std::runtime_error("oh"); });
    ASSERT_TRUE(start(5ms));
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_FALSE(timer_->running());
    EXPECT_EQ(host_.logged, std::vector<std::string>{"5 internal error: a timer threw: oh"});
    EXPECT_EQ(host_.told.size(), 1u) << "closed";
}

}  // namespace
