// What a line stream writes.
#include "unit/plugins_common/line_stream_fixture.hpp"

#include <cerrno>
#include <csignal>
#include <sys/socket.h>

namespace patchbay::transport {
namespace {

using testing::UnorderedElementsAre;

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
        stream.out.cancel(1);
        stream.out.cancel(9);
    });
    EXPECT_THAT(host_.told, ElementsAre("done 1 -4 cancelled before it was sent /2"));
    host_.run_posted();
    EXPECT_EQ(heard(), "{}\n");
    in_turn([](LineStream& stream) { stream.out.cancel(2); });
    EXPECT_THAT(host_.told, SizeIs(2)) << "it has been sent";
}

TEST_F(LineStreamTest, EndsAPauseWhenWhatFilledTheQueueIsCancelled) {
    start();
    EXPECT_EQ(send(1, std::string((1u << 20) + 1, 'x')), PATCHBAY_PAUSE);
    in_turn([](LineStream& stream) { stream.out.cancel(1); });
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
    EXPECT_THAT(host_.told, UnorderedElementsAre("done 1", "writable", "done 2"));
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
    in_turn([](LineStream& stream) { stream.out.end(); });
    EXPECT_THAT(host_.told,
                ElementsAre("done 1 -7 the connection closed while the message was being sent",
                            "done 2 -7 the connection closed before the message was sent /2"));
    EXPECT_EQ(send(3, "{}"), PATCHBAY_E_CLOSED);
}

TEST_F(LineStreamTest, WritesWhatTheKernelTakesAtTheEnd) {
    start();
    send(1, "{}");
    in_turn([](LineStream& stream) {
        stream.out.end();
        stream.out.end();
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
    in_turn([](LineStream& stream) { stream.out.end(); });
    EXPECT_EQ(heard(), "{}\n");
    char byte;
    EXPECT_EQ(::read(peer_in_, &byte, 1), 0);
    say("{\"b\":1}\n");
    read();
    EXPECT_THAT(host_.told, ElementsAre("done 1", "message {\"b\":1}"));
    in_turn([](LineStream& stream) { stream.in.end(); });
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

}  // namespace
}  // namespace patchbay::transport
