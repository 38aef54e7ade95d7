// What the stdio transport makes of the end of its server, with a host that is turned by hand: an
// exit and the end of the output come in any order.
#include "stdio_transport.hpp"

#include "unit/plugins_common/program_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

using namespace patchbay;
using namespace patchbay::transport;
using namespace patchbay::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

class StdioTransportTest : public ProgramTest {
protected:
    StdioTransportTest() {
        open_ends();
        reading_ = host_.child_fds[1];
        ::signal(SIGPIPE, SIG_IGN);
    }
    ~StdioTransportTest() override {
        if (!exited_) exit(0);
        channel_.reset();
    }
    void open(const std::string& config = R"({"command":"x"})") {
        auto params = host_.params();
        params.config = sdk::str(config);
        channel_ = stdio::StdioTransport::open(params);
    }
    void say(const std::string& text) { write(output_, text); }
    void hang_up() { ::close(std::exchange(output_, -1)); }
    void read() { host_.ready(reading_, ChannelCore::kReadable); }
    void exit(std::int32_t code) {
        exited_ = true;
        ProgramTest::exit(code);
    }
    void close() {
        channel_->close();
        host_.run_posted();
    }
    patchbay_status send(std::uint64_t exchange, const std::string& text) {
        patchbay_message message{};
        message.struct_size = sizeof message;
        message.exchange = exchange;
        return channel_->send(
            message, sdk::Body({reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                text.size(), nullptr, nullptr}));
    }
    // How the channel was closed; empty: it was not.
    std::string closed() const {
        for (const auto& line : host_.told)
            if (line.starts_with("closed")) return line;
        return {};
    }

    std::unique_ptr<sdk::Channel> channel_;
    bool exited_ = false;
    int reading_ = -1;
};

TEST_F(StdioTransportTest, IsOpenAtOnce) {
    open();
    EXPECT_THAT(host_.told, ElementsAre("opened"));
}

TEST_F(StdioTransportTest, WhatWasSaidBeforeAnExitIsHandedOn) {
    open();
    say("{\"n\":1}\n{\"n\":2}\n");
    exit(3);
    EXPECT_THAT(host_.told, ElementsAre("opened", "message {\"n\":1}", "message {\"n\":2}",
                                        "closed -7 server process exited with code 3 /1"));
}

TEST_F(StdioTransportTest, HalfAMessageBeforeAnExitIsShownAndSaid) {
    open();
    say("{\"n\"");
    exit(256 + 9);
    EXPECT_THAT(host_.told, ElementsAre("opened", "output 2 {\"n\"",
                                        "closed -7 server process was killed by signal 9 "
                                        "(SIGKILL) in the middle of a message /1"));
}

TEST_F(StdioTransportTest, AnExitWaitsForWhatTheHostDoesNotTakeYet) {
    open();
    host_.message_status = PATCHBAY_PAUSE;
    say("{\"n\":1}\n{\"n\":2}\n");
    exit(0);
    EXPECT_THAT(host_.told, ElementsAre("opened", "message {\"n\":1}"));
    host_.message_status = PATCHBAY_OK;
    channel_->resume();
    while (host_.fire_timer()) {
    }
    EXPECT_THAT(host_.told, ElementsAre("opened", "message {\"n\":1}", "message {\"n\":2}",
                                        "closed -7 server process exited with code 0 /1"));
}

TEST_F(StdioTransportTest, AServerThatClosesItsOutputIsStoppedAndItsExitTold) {
    open(R"({"command":"x","stop_grace_ms":60000})");
    hang_up();
    read();
    EXPECT_EQ(closed(), "") << "its exit says more";
    EXPECT_THAT(host_.stops, ElementsAre(testing::EndsWith(" 60000")));
    EXPECT_EQ(send(1, "{}"), PATCHBAY_E_CLOSED);
    exit(3);
    EXPECT_EQ(closed(), "closed -7 server process exited with code 3 /1");
}

TEST_F(StdioTransportTest, AServerThatIsKilledForItsClosedOutputIsOneThatClosedIt) {
    open(R"({"command":"x","stop_grace_ms":0})");
    say("{\"n\"");
    hang_up();
    read();
    read();
    exit(256 + 9);
    EXPECT_EQ(closed(), "closed -7 server closed its stdout in the middle of a message /1");
}

TEST_F(StdioTransportTest, AServerThatTakesNoInputIsStoppedAndMayBeStartedAgain) {
    open(R"({"command":"x","stop_grace_ms":0})");
    ::close(std::exchange(input_, -1));
    EXPECT_EQ(send(1, "{}"), PATCHBAY_OK);
    host_.run_posted();
    EXPECT_THAT(host_.told, ElementsAre("opened", HasSubstr("done 1 -7")));
    EXPECT_THAT(host_.stops, ElementsAre(testing::EndsWith(" 0")));
    exit(256 + 9);
    EXPECT_EQ(closed(), "closed -7 server closed its stdin: Broken pipe /1");
}

TEST_F(StdioTransportTest, AServerThatSaysTooMuchIsKilledAndNotStartedAgain) {
    host_.message_bytes = 40;
    open();
    say(std::string(10'000, '{') + "\n");
    for (int i = 0; i < 10; ++i) read();
    EXPECT_THAT(host_.stops, ElementsAre(testing::EndsWith(" 0"))) << "without grace";
    exit(0);
    EXPECT_THAT(closed(), testing::StartsWith("closed -10 server sent "));
    EXPECT_THAT(closed(), testing::EndsWith("(limit message_bytes)")) << "no exit explains that";
}

TEST_F(StdioTransportTest, IsClosedWhenItsServerIsGone) {
    open();
    EXPECT_EQ(send(1, "{}"), PATCHBAY_OK);
    close();
    close();
    EXPECT_THAT(host_.told, ElementsAre("opened", "done 1"));
    EXPECT_THAT(host_.stops, ElementsAre(testing::EndsWith(" 2000"))) << "what is usual, once";
    EXPECT_EQ(send(2, "{}"), PATCHBAY_E_CLOSED);
    say("{\"n\":1}\nstray\n");
    read();
    EXPECT_THAT(host_.told, ElementsAre("opened", "done 1", "output 2 stray"))
        << "what it says then is nobody's";
    exit(1);
    EXPECT_EQ(closed(), "closed");
}

TEST_F(StdioTransportTest, IsClosedAtOnceWhereTheServerIsGoneAlready) {
    open();
    host_.message_status = PATCHBAY_PAUSE;
    say("{\"n\":1}\n{\"n\":2}\n");
    exit(0);
    EXPECT_EQ(closed(), "");
    close();
    EXPECT_EQ(closed(), "closed");
    EXPECT_THAT(host_.operations, IsEmpty());
}

TEST_F(StdioTransportTest, WhatIsCancelledBeforeItIsSentIsNotSent) {
    open();
    EXPECT_EQ(send(1, "{}"), PATCHBAY_OK);
    channel_->cancel(1);
    host_.run_posted();
    EXPECT_THAT(host_.told, ElementsAre("opened", HasSubstr("done 1 -4")));
    char byte;
    EXPECT_EQ(::read(input_, &byte, 1), -1);
}

TEST_F(StdioTransportTest, SaysThatTheHostWatchesNothing) {
    host_.refuses = true;
    open();
    host_.refuses = false;
    EXPECT_THAT(host_.told, IsEmpty());
    EXPECT_THAT(host_.stops, ElementsAre(testing::EndsWith(" 0")));
    exit(0);
    EXPECT_EQ(closed(), "closed -6 the host cannot watch the pipe to the server process /1");
}

TEST_F(StdioTransportTest, RefusesAGraceThatCannotBe) {
    for (const char* config :
         {R"({"command":"x","stop_grace_ms":-1})", R"({"command":"x","stop_grace_ms":60001})"})
        EXPECT_THROW(open(config), sdk::Failure);
    open(R"({"command":"x","stop_grace_ms":0})");
}

}  // namespace
