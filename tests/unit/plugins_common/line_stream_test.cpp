// Lines over two descriptors, with a host that is turned by hand and real descriptors.
#include "line_stream.hpp"

#include "unit/plugins_common/scripted_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace patchbay;
using namespace patchbay::transport;
using namespace patchbay::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

struct Ends final : LineStream::Listener {
    std::vector<std::string> lines;
    bool throws = false;
    void input_ended(std::string_view rest) override {
        if (throws) throw std::runtime_error("oh");
        lines.push_back("ended " + std::string(rest));
    }
    void input_broken(patchbay_status code, const std::string& text) override {
        lines.push_back("broken " + std::to_string(code) + " " + text);
    }
    void output_broken(int error) override { lines.push_back("output " + std::to_string(error)); }
};

class LineStreamTest : public testing::Test {
protected:
    using Turn = ChannelCore::Turn;

    ~LineStreamTest() override {
        {
            const Turn turn(*core_);
            stream_->end_reading();
            stream_->end_writing();
        }
        host_.run_posted();
        stream_.reset();
        for (const int fd : {peer_in_, peer_out_})
            if (fd >= 0) ::close(fd);
    }
    // The peer writes to peer_out_ and reads from peer_in_.
    void start() {
        int to_us[2], from_us[2];
        ASSERT_EQ(::pipe2(to_us, O_CLOEXEC | O_NONBLOCK), 0);
        ASSERT_EQ(::pipe2(from_us, O_CLOEXEC | O_NONBLOCK), 0);
        peer_out_ = to_us[1];
        peer_in_ = from_us[0];
        start(to_us[0], from_us[1]);
    }
    void start(int reading, int writing) {
        core_.emplace(host_.params());
        stream_.emplace(*core_, listener_);
        reading_ = reading;
        writing_ = writing;
        const Turn turn(*core_);
        ASSERT_TRUE(stream_->start(reading, writing));
    }
    // Reads from a file that says `text`; the number of another descriptor of it.
    int start_with(const std::string& text) {
        const int file = ::memfd_create("said", MFD_CLOEXEC);
        EXPECT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        EXPECT_EQ(::lseek(file, 0, SEEK_SET), 0);
        int from_us[2];
        EXPECT_EQ(::pipe2(from_us, O_CLOEXEC | O_NONBLOCK), 0);
        peer_in_ = from_us[0];
        peer_out_ = ::dup(file);
        start(file, from_us[1]);
        return peer_out_;
    }
    void say(const std::string& text) {
        ASSERT_EQ(::write(peer_out_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void hang_up() { ::close(std::exchange(peer_out_, -1)); }
    bool read() { return host_.ready(reading_, ChannelCore::kReadable); }
    void read_all() {
        for (int i = 0; i < 50 && read(); ++i) {
        }
    }
    patchbay_status send(std::uint64_t exchange, const std::string& text) {
        const Turn turn(*core_);
        const patchbay_buf lent{reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                text.size(), nullptr, nullptr};
        return stream_->send(exchange, sdk::Body(lent));
    }
    std::string heard() {
        std::string text(1u << 20, '\0');
        const auto got = ::read(peer_in_, text.data(), text.size());
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }
    template <class Work>
    void in_turn(Work work) {
        const Turn turn(*core_);
        work(*stream_);
    }
    std::size_t messages() const {
        return static_cast<std::size_t>(
            std::count_if(host_.told.begin(), host_.told.end(),
                          [](const std::string& line) { return line.starts_with("message"); }));
    }

    ScriptedHost host_;
    Ends listener_;
    std::optional<ChannelCore> core_;
    std::optional<LineStream> stream_;
    int reading_ = -1, writing_ = -1, peer_in_ = -1, peer_out_ = -1;
};

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

TEST_F(LineStreamTest, SaysThatTheHostTakesNoTimerForTheNextRound) {
    start();
    std::string lines;
    for (int i = 0; i < 65; ++i) lines += "{}\n";
    say(lines);
    host_.refuses = true;
    read();
    EXPECT_THAT(listener_.lines, ElementsAre(HasSubstr("the host takes no timer")));
    EXPECT_FALSE(stream_->reading());
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
    in_turn([](LineStream& stream) { stream.resume(); });
    EXPECT_EQ(messages(), 1u) << "told from inside resume";
    EXPECT_EQ(host_.watch_of(reading_)->events, 1u);
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_EQ(messages(), 2u);
    in_turn([](LineStream& stream) { stream.resume(); });
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
    EXPECT_FALSE(stream_->reading());
}

TEST_F(LineStreamTest, TellsTheEndAfterWhatCameBeforeItAndTheRest) {
    start();
    say("{}\nhalf a li");
    hang_up();
    read_all();
    EXPECT_THAT(host_.told, ElementsAre("message {}"));
    EXPECT_THAT(listener_.lines, ElementsAre("ended half a li"));
    EXPECT_FALSE(stream_->reading());
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
        stream.resume();
        stream.end_reading();
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
    in_turn([](LineStream& stream) { stream.resume(); });
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
    in_turn([](LineStream& stream) { stream.discard(); });
    ASSERT_TRUE(host_.fire_timer());
    EXPECT_THAT(host_.told, ElementsAre("message {}", "output 2 stray"));
}

TEST_F(LineStreamTest, DrainsWhatIsThereAndDoesNotWaitForMore) {
    start();
    say("{}\nrest");
    in_turn([](LineStream& stream) { stream.drain(); });
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
    in_turn([](LineStream& stream) { stream.drain(); });
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
    in_turn([](LineStream& stream) { stream.drain(); });
    for (int i = 0; i < 2000 && host_.fire_timer(); ++i) {
    }
    EXPECT_EQ(::lseek(file, 0, SEEK_CUR), (4 << 20) + (64 << 10));
    EXPECT_THAT(listener_.lines, ElementsAre("ended "));
    EXPECT_FALSE(stream_->reading());
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

TEST_F(LineStreamTest, WritesWhatWasSentOnceTheHostCallsBack) {
    start();
    EXPECT_EQ(send(1, "{\"a\":1}"), PATCHBAY_OK);
    EXPECT_EQ(send(2, "{}"), PATCHBAY_OK);
    EXPECT_THAT(host_.posted, SizeIs(1));
    EXPECT_EQ(heard(), "");
    host_.run_posted();
    EXPECT_EQ(heard(), "{\"a\":1}\n{}\n");
    EXPECT_THAT(host_.told, ElementsAre("done 1", "done 2"));
    EXPECT_EQ(send(3, "{}"), PATCHBAY_OK);
    host_.run_posted();
    EXPECT_EQ(heard(), "{}\n");
}

TEST_F(LineStreamTest, CancelsWhatHasNotLeft) {
    start();
    send(1, "{\"a\":1}");
    send(2, "{}");
    in_turn([](LineStream& stream) {
        stream.cancel(1);
        stream.cancel(9);
    });
    EXPECT_THAT(host_.told, ElementsAre("done 1 -4 cancelled before it was sent /2"));
    host_.run_posted();
    EXPECT_EQ(heard(), "{}\n");
    in_turn([](LineStream& stream) { stream.cancel(2); });
    EXPECT_THAT(host_.told, SizeIs(2)) << "it has been sent";
}

TEST_F(LineStreamTest, EndsAPauseWhenWhatFilledTheQueueIsCancelled) {
    start();
    EXPECT_EQ(send(1, std::string((1u << 20) + 1, 'x')), PATCHBAY_PAUSE);
    in_turn([](LineStream& stream) { stream.cancel(1); });
    EXPECT_THAT(host_.told, ElementsAre(HasSubstr("done 1 -4"), "writable"));
}

TEST_F(LineStreamTest, WaitsForAPeerThatDoesNotRead) {
    start();
    const std::string large(2u << 20, 'x');
    EXPECT_EQ(send(1, large), PATCHBAY_PAUSE);
    host_.run_posted();
    ASSERT_NE(host_.watch_of(writing_), nullptr);
    EXPECT_EQ(host_.watch_of(writing_)->events, 2u);
    EXPECT_EQ(send(2, "{}"), PATCHBAY_PAUSE);
    EXPECT_THAT(host_.posted, IsEmpty()) << "the kernel says when there is room";
    EXPECT_THAT(host_.told, IsEmpty());
    std::size_t all = heard().size();
    for (int i = 0; i < 200 && host_.ready(writing_, ChannelCore::kWritable); ++i)
        all += heard().size();
    all += heard().size();
    EXPECT_EQ(all, large.size() + 1 + 3);
    EXPECT_THAT(host_.told, testing::UnorderedElementsAre("done 1", "writable", "done 2"));
    EXPECT_EQ(host_.watch_of(writing_)->events, 0u) << "nothing waits any more";
    send(3, "{}");
    host_.run_posted();
    EXPECT_EQ(heard(), "{}\n");
}

TEST_F(LineStreamTest, SaysWhatOfTheUnsentHadBegun) {
    start();
    send(1, std::string(2u << 20, 'x'));
    send(2, "{}");
    host_.run_posted();
    in_turn([](LineStream& stream) { stream.end_writing(); });
    EXPECT_THAT(host_.told,
                ElementsAre("done 1 -7 the connection closed while the message was being sent",
                            "done 2 -7 the connection closed before the message was sent /2"));
    EXPECT_EQ(send(3, "{}"), PATCHBAY_E_CLOSED);
}

TEST_F(LineStreamTest, WritesWhatTheKernelTakesAtTheEnd) {
    start();
    send(1, "{}");
    in_turn([](LineStream& stream) {
        stream.end_writing();
        stream.end_writing();
    });
    EXPECT_THAT(host_.told, ElementsAre("done 1"));
    EXPECT_EQ(heard(), "{}\n");
    char byte;
    EXPECT_EQ(::read(peer_in_, &byte, 1), 0) << "the peer sees the end";
    host_.run_posted();  // the flush that was asked for finds nothing
    EXPECT_THAT(listener_.lines, IsEmpty());
}

TEST_F(LineStreamTest, TellsThatThePeerTakesNoMore) {
    struct sigaction former {};
    ::sigaction(SIGPIPE, nullptr, &former);
    ::signal(SIGPIPE, SIG_IGN);
    start();
    ::close(std::exchange(peer_in_, -1));
    send(1, "{}");
    host_.run_posted();
    EXPECT_THAT(listener_.lines, ElementsAre("output " + std::to_string(EPIPE)));
    EXPECT_THAT(host_.told, ElementsAre(HasSubstr("done 1 -7")));
    EXPECT_EQ(send(2, "{}"), PATCHBAY_E_CLOSED);
    ::sigaction(SIGPIPE, &former, nullptr);
}

TEST_F(LineStreamTest, TakesNothingThatTheHostWillNotCallBackFor) {
    start();
    host_.refuses = true;
    EXPECT_EQ(send(1, "{}"), PATCHBAY_E_CLOSED);
}

TEST_F(LineStreamTest, TellsThatTheHostWatchesNoMore) {
    start();
    send(1, std::string(2u << 20, 'x'));
    host_.refuses = true;
    host_.run_posted();
    EXPECT_THAT(listener_.lines, ElementsAre("output " + std::to_string(ENOMEM)));
    EXPECT_THAT(host_.told, ElementsAre(HasSubstr("done 1 -7")));
    EXPECT_EQ(send(2, "{}"), PATCHBAY_E_CLOSED);
}

TEST_F(LineStreamTest, KeepsASocketOpenForReadingWhenWritingHasEnded) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    peer_in_ = ::dup(ends[1]);
    peer_out_ = ends[1];
    start(ends[0], ends[0]);
    send(1, "{}");
    in_turn([](LineStream& stream) { stream.end_writing(); });
    EXPECT_EQ(heard(), "{}\n");
    char byte;
    EXPECT_EQ(::read(peer_in_, &byte, 1), 0);
    say("{\"b\":1}\n");
    read();
    EXPECT_THAT(host_.told, ElementsAre("done 1", "message {\"b\":1}"));
    in_turn([](LineStream& stream) { stream.end_reading(); });
}

// MSG_NOSIGNAL: the host may not ignore SIGPIPE for sockets.
TEST_F(LineStreamTest, GetsNoSignalFromASocket) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    struct sigaction former {};
    ::sigaction(SIGPIPE, nullptr, &former);
    static volatile sig_atomic_t signals = 0;
    ::signal(SIGPIPE, [](int) { signals = signals + 1; });
    start(ends[0], ends[0]);
    ::close(ends[1]);
    send(1, "{}");
    host_.run_posted();
    EXPECT_THAT(listener_.lines, ElementsAre("output " + std::to_string(EPIPE)));
    EXPECT_EQ(signals, 0);
    ::sigaction(SIGPIPE, &former, nullptr);
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
