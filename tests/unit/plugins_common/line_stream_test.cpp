// What a line stream reads.
#include "unit/plugins_common/line_stream_fixture.hpp"

#include <sys/ioctl.h>

namespace patchbay::transport {
namespace {

TEST_F(LineStreamTest, TellsMessagesFromStrayLinesAndLeavesEmptyOnesOut) {
    start();
    say("{\"a\":1}\n\n  \nhello\n[1]\n");
    read();
    EXPECT_THAT(host_.told, ElementsAre("message {\"a\":1}", "output 2 hello", "message [1]"));
    EXPECT_THAT(listener_.lines, IsEmpty());
}

TEST_F(LineStreamTest, CutsAStrayLine) {
    host_.message_bytes = 20'000;
    start();
    say(std::string(8193, 'x') + "\n");
    read_all();
    EXPECT_THAT(host_.told, ElementsAre("output 2 " + std::string(8192, 'x')));
}

TEST_F(LineStreamTest, HandsOnNoMoreThan64LinesARound) {
    start();
    std::string lines;
    for (int i = 0; i < 65; ++i) lines += "{}\n";
    say(lines);
    read();
    EXPECT_EQ(messages(), 64u);
    EXPECT_EQ(host_.timers(), 1u);
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_EQ(messages(), 65u);
    EXPECT_EQ(host_.timers(), 0u);
}

TEST_F(LineStreamTest, NeedsNoSecondRoundForExactly64Lines) {
    start();
    std::string lines;
    for (int i = 0; i < 64; ++i) lines += "{}\n";
    say(lines + "{");
    read();
    EXPECT_EQ(messages(), 64u);
    EXPECT_EQ(host_.timers(), 0u);
    say("}\n");
    read();
    EXPECT_EQ(messages(), 65u) << "it reads on";
}

TEST_F(LineStreamTest, ReadsNothingWhileLinesOfTheLastReadAreLeft) {
    std::string lines;
    while (lines.size() < 1u << 20) lines += "{}\n";
    const int file = start_with(lines);
    const auto were_read = [&] { return ::lseek(file, 0, SEEK_CUR); };
    ASSERT_TRUE(read());
    const auto once = were_read();
    ASSERT_LT(once, static_cast<::off_t>(lines.size()));
    const auto in_it = static_cast<std::size_t>(once) / 3;
    while (messages() + 64 <= in_it) {
        const auto before = messages();
        ASSERT_TRUE(read());
        EXPECT_EQ(messages(), before + 64) << "but hands them on";
        ASSERT_EQ(were_read(), once);
    }
    ASSERT_TRUE(read());
    EXPECT_EQ(messages(), in_it);
    ASSERT_TRUE(read());
    EXPECT_GT(were_read(), once);
}

TEST_F(LineStreamTest, HandsOnNoMoreThan256KilobytesARound) {
    for (const std::size_t size : {(256u << 10) - 1, 256u << 10}) {
        host_.message_bytes = 1u << 20;
        host_.told.clear();
        // After the first line no read ends where the large one does.
        start_with("{}\n{" + std::string(size - 1, 'x') + "\n{}\n");
        while (messages() < 2) ASSERT_TRUE(read());
        const bool full = size == 256u << 10;
        EXPECT_EQ(messages(), full ? 2u : 3u) << size;
        EXPECT_EQ(host_.timers(), full ? 1u : 0u) << size;
        if (full) {
            ASSERT_TRUE(host_.fire_timer());
            EXPECT_EQ(messages(), 3u);
            continue;
        }
        stream_.reset();
        for (int* fd : {&peer_in_, &peer_out_}) ::close(std::exchange(*fd, -1));
        host_.operations.clear();
    }
}

TEST_F(LineStreamTest, APipeThatOneLongLineFilledHoldsWhatOneReadTakes) {
    host_.message_bytes = 1u << 20;
    start();
    const auto holds = [this] { return ::fcntl(peer_out_, F_GETPIPE_SZ); };
    if (holds() != 64 << 10) GTEST_SKIP() << "this user has too many pipes for one of usual size";
    say("{}\n");
    read();
    say(std::string((64u << 10) - 1, ' ') + "\n");
    ASSERT_TRUE(read());
    EXPECT_EQ(holds(), 64 << 10) << "whole lines need no more";
    say("{" + std::string((64u << 10) - 1, 'x'));
    ASSERT_TRUE(read());
    EXPECT_EQ(holds(), 256 << 10);
    say(std::string(100u << 10, 'x') + "}\n");
    read_all();
    EXPECT_EQ(messages(), 2u) << "nothing was lost on the way";
}

TEST_F(LineStreamTest, SaysThatTheHostTakesNoTimerForTheNextRound) {
    start();
    std::string lines;
    for (int i = 0; i < 65; ++i) lines += "{}\n";
    say(lines);
    host_.refuses = true;
    read();
    EXPECT_THAT(listener_.lines, ElementsAre(HasSubstr("the host takes no timer")));
    EXPECT_FALSE(stream_->in.open());
    EXPECT_EQ(host_.watch_of(reading_), nullptr);
}

TEST_F(LineStreamTest, StopsReadingWhileTheHostPausesIt) {
    start();
    host_.message_status = PATCHBAY_PAUSE;
    say("{}\n{\"b\":1}\n");
    read();
    EXPECT_EQ(messages(), 1u);
    EXPECT_EQ(host_.watch_of(reading_)->events, 0u);
    host_.message_status = PATCHBAY_OK;
    in_turn([](LineStream& stream) { stream.in.resume(); });
    EXPECT_EQ(messages(), 1u) << "told from inside resume";
    EXPECT_EQ(host_.watch_of(reading_)->events, 1u);
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_EQ(messages(), 2u);
    in_turn([](LineStream& stream) { stream.in.resume(); });
    EXPECT_EQ(host_.timers(), 0u) << "it was not paused";
}

TEST_F(LineStreamTest, TakesAMessageOfTheLimitAndNoneBeyond) {
    host_.message_bytes = 40;
    start();
    const auto message = [](std::size_t size) {
        return "{\"a\":\"" + std::string(size - 8, 'x') + "\"}";
    };
    say(message(40) + "\n");
    read_all();
    EXPECT_EQ(messages(), 1u);
    EXPECT_THAT(listener_.lines, IsEmpty());
    say(message(41) + "\n");
    read_all();
    EXPECT_EQ(messages(), 1u);
    ASSERT_THAT(listener_.lines, SizeIs(1));
    EXPECT_THAT(listener_.lines[0],
                testing::AllOf(HasSubstr("broken -10 sent"), HasSubstr("limit message_bytes")));
    EXPECT_FALSE(stream_->in.open());
}

TEST_F(LineStreamTest, TellsTheEndAfterWhatCameBeforeItAndTheRest) {
    start();
    say("{}\nhalf a li");
    hang_up();
    read_all();
    EXPECT_THAT(host_.told, ElementsAre("message {}"));
    EXPECT_THAT(listener_.lines, ElementsAre("ended half a li"));
    EXPECT_FALSE(stream_->in.open());
}

TEST_F(LineStreamTest, AnEventThatWasOnItsWayReadsNothingOfWhatIsPausedOrEnded) {
    start();
    const auto watch = *host_.watch_of(reading_);
    const auto unread = [&] {
        int bytes = 0;
        EXPECT_EQ(::ioctl(reading_, FIONREAD, &bytes), 0);
        return bytes;
    };
    host_.message_status = PATCHBAY_PAUSE;
    say("{}\n");
    read();
    say("{\"a\":1}\n");
    watch.ready(watch.ctx, ChannelCore::kReadable);
    EXPECT_EQ(unread(), 8);
    EXPECT_EQ(messages(), 1u);
    in_turn([](LineStream& stream) {
        stream.in.resume();
        stream.in.end();
    });
    watch.ready(watch.ctx, ChannelCore::kReadable);
    EXPECT_EQ(messages(), 1u);
    EXPECT_THAT(listener_.lines, IsEmpty());
}

TEST_F(LineStreamTest, TellsTheEndOnlyWhenThePauseIsOver) {
    start();
    host_.message_status = PATCHBAY_PAUSE;
    say("{}\n{\"b\":1}\n");
    hang_up();
    read();
    read();
    EXPECT_THAT(listener_.lines, IsEmpty());
    host_.message_status = PATCHBAY_OK;
    in_turn([](LineStream& stream) { stream.in.resume(); });
    ASSERT_TRUE(host_.fire_timer());
    read_all();
    EXPECT_EQ(messages(), 2u);
    EXPECT_THAT(listener_.lines, ElementsAre("ended "));
}

TEST_F(LineStreamTest, DiscardsMessagesButShowsStrayLines) {
    start();
    host_.message_status = PATCHBAY_PAUSE;
    say("{}\n{\"b\":1}\nstray\n");
    read();
    in_turn([](LineStream& stream) { stream.in.discard(); });
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_THAT(host_.told, ElementsAre("message {}", "output 2 stray"));
}

TEST_F(LineStreamTest, DrainsWhatIsThereAndDoesNotWaitForMore) {
    start();
    say("{}\nrest");
    in_turn([](LineStream& stream) { stream.in.drain(); });
    EXPECT_THAT(host_.told, ElementsAre("message {}"));
    EXPECT_THAT(listener_.lines, ElementsAre("ended rest"));
    EXPECT_EQ(host_.watch_of(reading_), nullptr);
}

// In rounds as well, and more than one read.
TEST_F(LineStreamTest, DrainsAsManyLinesAsThereAre) {
    start();
    std::string lines;
    for (int i = 0; i < 600; ++i) lines += "{\"a\":\"" + std::string(90, 'x') + "\"}\n";
    say(lines);
    hang_up();
    in_turn([](LineStream& stream) { stream.in.drain(); });
    for (int i = 0; i < 50 && host_.fire_timer(); ++i) {
    }
    EXPECT_EQ(messages(), 600u);
    EXPECT_THAT(listener_.lines, ElementsAre("ended "));
}

// 64 KiB a read, of lines that are handed on to nobody.
TEST_F(LineStreamTest, DrainsFourMebibytesAndGivesAPeerUpThatGoesOnWriting) {
    std::string said;
    for (int i = 0; i < 66 * 1024; ++i) said += std::string(63, ' ') + "\n";
    const int file = start_with(said);
    in_turn([](LineStream& stream) { stream.in.drain(); });
    for (int i = 0; i < 2000 && host_.fire_timer(); ++i) {
    }
    EXPECT_EQ(::lseek(file, 0, SEEK_CUR), (4 << 20) + (64 << 10));
    EXPECT_THAT(listener_.lines, ElementsAre("ended "));
    EXPECT_FALSE(stream_->in.open());
}

TEST_F(LineStreamTest, CountsOnlyWhatItDrains) {
    const int file = start_with(std::string(5u << 20, '\n'));
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(read());
        while (host_.fire_timer()) {
        }
    }
    EXPECT_EQ(::lseek(file, 0, SEEK_CUR), 10 * (64 << 10));
    EXPECT_THAT(listener_.lines, IsEmpty());
}

TEST_F(LineStreamTest, CutsTheRestThatItShows) {
    host_.message_bytes = 20'000;
    start();
    say(std::string(8193, 'x'));
    hang_up();
    read_all();
    EXPECT_THAT(listener_.lines, ElementsAre("ended " + std::string(8192, 'x')));
}

TEST_F(LineStreamTest, TakesAnErrorOfReadingForTheEnd) {
    int from_us[2];
    ASSERT_EQ(::pipe2(from_us, O_CLOEXEC | O_NONBLOCK), 0);
    peer_in_ = from_us[0];
    start(::open("/", O_RDONLY | O_CLOEXEC), from_us[1]);
    ASSERT_TRUE(read());
    EXPECT_THAT(listener_.lines, ElementsAre("ended "));
}

TEST_F(LineStreamTest, ClosesItsDescriptorsWhenItGoes) {
    start();
    stream_.reset();
    EXPECT_EQ(::fcntl(reading_, F_GETFD), -1);
    EXPECT_EQ(::fcntl(writing_, F_GETFD), -1);
    stream_.emplace(*core_, listener_);
}

TEST_F(LineStreamTest, WhatItsListenerThrowsEndsTheChannelAlone) {
    start();
    listener_.throws = true;
    hang_up();
    read();
    EXPECT_THAT(host_.logged, ElementsAre("5 internal error: reading lines threw: oh"));
    EXPECT_TRUE(core_->over());
}

}  // namespace
}  // namespace patchbay::transport
