// When a host reads its files again; no file, and no clock but the one that is turned.
#include "app/reading_pace.hpp"

#include "support/turned_loop.hpp"

#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace patchbay::app {
namespace {

class ReadingPaceTest : public ::testing::Test {
protected:
    // It takes so long to read them.
    void read(core::Clock::duration span) {
        const auto begun = time_.now();
        time_.turn(span);
        pace_.spend_since(begun);
    }

    using Others = ReadingPace::Others;
    test::HandTime time_;
    ReadingPace pace_{time_};
};

TEST_F(ReadingPaceTest, TheFirstOnesAreReadAtOnce) {
    for (auto spent = 0ms; spent < ReadingPace::kAtOnce; spent += ReadingPace::kPause) {
        EXPECT_EQ(pace_.rest(), 0ms) << spent.count();
        read(0ms);
    }
    EXPECT_EQ(pace_.rest(), 0ms) << "all that may be had in advance is used, and no more";
    read(0ms);
    EXPECT_EQ(pace_.rest(), ReadingPace::kPause);
    time_.turn(ReadingPace::kPause);
    EXPECT_EQ(pace_.rest(), 0ms);
}

TEST_F(ReadingPaceTest, WhoeverWantsItOfPartsOfTheTimeOneIsSpentReading) {
    auto reading = 0ms;
    const auto begun = time_.now();
    for (int i = 0; i < 50; ++i) {
        read(100ms);
        reading += 100ms;
        time_.turn(pace_.rest());
    }
    EXPECT_GE(time_.now() - begun, reading * ReadingPace::kPart - ReadingPace::kAtOnce);
}

TEST_F(ReadingPaceTest, WhoWritesIsWaitedForAndNotForEver) {
    EXPECT_EQ(pace_.put_off(Others::Rest), 0ms);
    EXPECT_EQ(pace_.put_off(Others::Change), ReadingPace::kAtMost);
    time_.turn(ReadingPace::kAtMost - 1ms);
    EXPECT_EQ(pace_.put_off(Others::Change), 1ms);
    time_.turn(1ms);
    EXPECT_EQ(pace_.put_off(Others::Change), 0ms);
    pace_.take();
    EXPECT_EQ(pace_.put_off(Others::Change), ReadingPace::kAtMost) << "of another change";
}

TEST_F(ReadingPaceTest, WhoHasAFileOpenIsWaitedForLonger) {
    EXPECT_EQ(pace_.put_off(Others::HaveOneOpen), ReadingPace::kWhileOpen);
    time_.turn(ReadingPace::kWhileOpen - 1ms);
    EXPECT_EQ(pace_.put_off(Others::HaveOneOpen), 1ms);
    time_.turn(1ms);
    EXPECT_EQ(pace_.put_off(Others::HaveOneOpen), 0ms);
}

TEST_F(ReadingPaceTest, WhatMakesNoSenseIsBelievedWhenItIsTheSameALittleLater) {
    EXPECT_TRUE(pace_.doubts("half"));
    EXPECT_TRUE(pace_.doubts("another half"));
    EXPECT_FALSE(pace_.doubts("another half"));
    pace_.believe();
    EXPECT_TRUE(pace_.doubts("another half")) << "that was another change";
}

TEST_F(ReadingPaceTest, WhatIsAnotherEachTimeIsBelievedInTheEnd) {
    EXPECT_TRUE(pace_.doubts("1"));
    time_.turn(ReadingPace::kAtMost - 1ms);
    EXPECT_TRUE(pace_.doubts("2"));
    time_.turn(1ms);
    EXPECT_FALSE(pace_.doubts("3"));
}

TEST_F(ReadingPaceTest, WhoAsksIsToldAtOnceWhatIsWrong) {
    pace_.ask();
    EXPECT_FALSE(pace_.doubts("wrong"));
    EXPECT_TRUE(pace_.doubts("wrong as well")) << "nobody asked for that";
}

TEST_F(ReadingPaceTest, WhereAFileIsEmptyWhoAsksWaitsForASecondLook) {
    pace_.ask();
    EXPECT_TRUE(pace_.doubts_emptiness("nothing"));
    EXPECT_FALSE(pace_.doubts_emptiness("nothing"));
}

}  // namespace
}  // namespace patchbay::app
