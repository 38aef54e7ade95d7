// The ws plugin against a server that writes its handshake and frames byte by byte.
#include "support/plugin_host.hpp"
#include "support/tls_server.hpp"
#include "support/ws_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kFine = WsServer::kFine;
// More than the sockets hold when nobody reads.
const std::string kLarge = "{\"large\":\"" + std::string(8u << 20, 'x') + "\"}";

class Ws : public testing::Test {
protected:
    void TearDown() override {
        if (!channel_.closed()) channel_.close();
        EXPECT_TRUE(channel_.until([&] { return channel_.closed(); }));
        channel_.destroy();
        EXPECT_THAT(channel_.faults, IsEmpty());
        EXPECT_EQ(channel_.released, channel_.given) << "bodies are consumed exactly once";
        EXPECT_EQ(host_.misbehaviour(), "");
    }
    void open(const std::string& fields, const std::string& frames = {}, bool reads = true) {
        WsServer::Play play;
        play.fields = fields;
        play.frames = frames;
        play.reads = reads;
        open(std::move(play));
    }
    void open(WsServer::Play play) {
        server_.emplace(std::move(play));
        ASSERT_EQ(channel_.open("{\"url\":\"" + server_->url() + "\"}"), PATCHBAY_OK);
        look();
        ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    }
    // What other threads do wakes no loop.
    void look() {
        loop_.after(std::chrono::milliseconds(5), [this] { look(); });
    }

    // From now on, those that somebody else has.
    void count_turns() {
        loop_.post([this] {
            ++turns_;
            count_turns();
        });
    }

    core::Loop loop_;
    int turns_ = 0;
    std::optional<WsServer> server_;
    PluginHost host_{loop_, "ws"};
    PluginChannel channel_{loop_, host_};
};

// ---- handshakes

struct Handshake {
    const char* name;
    std::string fields, says;
};

class WsHandshake : public Ws, public testing::WithParamInterface<Handshake> {};

TEST_P(WsHandshake, ThatAnswersSomethingElseIsRefusedByName) {
    open(GetParam().fields);
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_FALSE(channel_.opened());
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_PROTOCOL);
    EXPECT_THAT(channel_.end.text, HasSubstr(GetParam().says));
    EXPECT_THAT(channel_.end.text, Not(HasSubstr("101")));
}

INSTANTIATE_TEST_SUITE_P(
    , WsHandshake,
    testing::Values(
        Handshake{"WrongAccept", "Sec-WebSocket-Accept: bm8=\r\n", "Sec-WebSocket-Accept"},
        Handshake{"NoAccept", "", "Sec-WebSocket-Accept"},
        Handshake{"AnExtension", kFine + "Sec-WebSocket-Extensions: permessage-deflate\r\n",
                  "a WebSocket extension, and none was offered"},
        Handshake{"AnotherSubprotocol",
                  "Sec-WebSocket-Accept: ACCEPT\r\nSec-WebSocket-Protocol: chat\r\n",
                  "another WebSocket subprotocol"},
        Handshake{"ASecondSubprotocol", kFine + "Sec-WebSocket-Protocol: chat\r\n",
                  "another WebSocket subprotocol"}),
    [](const auto& each) { return each.param.name; });

TEST_F(Ws, AHandshakeSaysWhatItWantsAndAConnectionWhereItIs) {
    server_.emplace(WsServer::Play());
    // http is another word for ws.
    ASSERT_EQ(channel_.open("{\"url\":\"http" + server_->url().substr(2) +
                                "\",\"headers\":{\"X-Key\":\"k\"}}",
                            {{plugin::str("Authorization"), plugin::str("Bearer b"), 0, 0}}),
              PATCHBAY_OK);
    EXPECT_EQ(channel_.fact("trouble"), "no handshake with " + server_->url() + " yet");
    ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    EXPECT_TRUE(channel_.opened());
    EXPECT_EQ(channel_.fact("trouble"), "");
    EXPECT_EQ("ws://" + channel_.fact("peer") + "/mcp", server_->url());
    for (const char* field : {"Sec-WebSocket-Protocol: mcp\r\n", "X-Key: k\r\n",
                              "Authorization: Bearer b\r\n", "GET /mcp HTTP/1.1\r\n"})
        EXPECT_THAT(server_->head(), HasSubstr(field));
}

TEST_F(Ws, AHandshakeThatIsRefusedSaysHow) {
    const struct {
        std::string status, fields;
        patchbay_status code;
        std::uint32_t flags;
    } refusals[] = {{"401 Unauthorized", "WWW-Authenticate: Bearer\r\n", PATCHBAY_E_AUTH, 0},
                    {"404 Not Found", "", PATCHBAY_E_PROTOCOL, 0},
                    {"503 Busy", "Retry-After: 3\r\n", PATCHBAY_E_IO, PATCHBAY_ERR_RETRYABLE}};
    for (const auto& refusal : refusals) {
        WsServer::Play play;
        play.status = refusal.status;
        play.fields = refusal.fields + "Content-Length: 0\r\n";
        WsServer server(std::move(play));
        PluginChannel channel(loop_, host_);
        ASSERT_EQ(channel.open("{\"url\":\"" + server.url() + "\"}"), PATCHBAY_OK);
        ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
        EXPECT_FALSE(channel.opened());
        EXPECT_EQ(channel.end.status, refusal.code);
        EXPECT_EQ(channel.end.flags, refusal.flags);
        EXPECT_THAT(channel.end.text, HasSubstr("HTTP " + refusal.status));
    }
    open(kFine);
}

TEST_F(Ws, AServerThatDoesNotListenIsAskedFiveTimesMoreAndMoreRarely) {
    host_.turn_timers(100);
    server_.emplace(WsServer::Play());
    const auto url = server_->url();
    server_.reset();
    ASSERT_EQ(channel_.open("{\"url\":\"" + url + "\"}"), PATCHBAY_OK);
    look();
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_IO);
    EXPECT_EQ(channel_.end.flags, PATCHBAY_ERR_RETRYABLE);
    EXPECT_THAT(channel_.end.text, HasSubstr("Connection refused"));
    EXPECT_THAT(channel_.fact("trouble"), HasSubstr("Connection refused"));
    using std::chrono::milliseconds;
    EXPECT_THAT(host_.timers(), testing::ElementsAre(milliseconds(100), milliseconds(200),
                                                     milliseconds(400), milliseconds(800)));
}

// ---- frames

struct Frames {
    const char* name;
    std::string bytes;
    int code;
    std::string says;
};

class WsFrames : public Ws, public testing::WithParamInterface<Frames> {};

TEST_P(WsFrames, ThatAreBrokenEndTheConnectionWithTheirCode) {
    const auto& broken = GetParam();
    open(kFine, broken.bytes);
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_PROTOCOL) << channel_.end.text;
    EXPECT_THAT(channel_.end.text, HasSubstr(broken.says));
    EXPECT_THAT(channel_.messages, IsEmpty());
    const auto close = "8"s + static_cast<char>(broken.code >> 8) + static_cast<char>(broken.code);
    ASSERT_TRUE(channel_.until([&] { return !server_->frames().empty() || server_->ended(); }));
    EXPECT_THAT(server_->frames(), testing::ElementsAre(close));
}

INSTANTIATE_TEST_SUITE_P(
    , WsFrames,
    testing::Values(
        Frames{"ShortLengthInTwoBytes", "\x81\x7e\0\x02{}"s, 1002, "more bytes than it needs"},
        Frames{"ShortLengthInEightBytes", "\x81\x7f\0\0\0\0\0\0\0\x02{}"s, 1002,
               "more bytes than it needs"},
        Frames{"MostOfOneByteInTwo", "\x81\x7e\0\x7d"s + std::string(125, '1'), 1002,
               "more bytes than it needs"},
        Frames{"MostOfTwoBytesInEight", "\x81\x7f\0\0\0\0\0\0\xff\xff"s + std::string(65'535, '1'),
               1002, "more bytes than it needs"},
        Frames{"PingInTwoBytes", "\x89\x7e\0\x02hi"s, 1002, "more bytes than it needs"},
        Frames{"ReservedBit1", "\xc1\x02{}"s, 1002, "an extension that was not agreed on"},
        Frames{"ReservedBit2", "\xa1\x02{}"s, 1002, "an extension that was not agreed on"},
        Frames{"ReservedBit3", "\x91\x02{}"s, 1002, "an extension that was not agreed on"},
        Frames{"ReservedKind", "\x83\x02{}"s, 1002, "a kind that does not exist"},
        Frames{"ReservedControl", "\x8b\x02{}"s, 1002, "a kind that does not exist"},
        Frames{"Binary", "\x82\x02{}"s, 1003, "not text"},
        Frames{"NoUtf8", "\x81\x03\"\xff\""s, 1007, "not UTF-8"},
        Frames{"Overlong", "\x81\x04\"\xc0\xaf\""s, 1007, "not UTF-8"},
        Frames{"Surrogate", "\x81\x05\"\xed\xa0\x80\""s, 1007, "not UTF-8"},
        Frames{"OverlongInThree", "\x81\x05\"\xe0\x9f\xbf\""s, 1007, "not UTF-8"},
        Frames{"OverlongInFour", "\x81\x06\"\xf0\x8f\xbf\xbf\""s, 1007, "not UTF-8"},
        Frames{"BehindTheLast", "\x81\x06\"\xf4\x90\x80\x80\""s, 1007, "not UTF-8"},
        Frames{"TheRestOfACharacter", "\x81\x03\"\x80\""s, 1007, "not UTF-8"},
        Frames{"TwoBytesOfThree", "\x81\x04\"\xe2\x82\""s, 1007, "not UTF-8"},
        Frames{"TwoBytesOfThreeAtTheEnd", "\x81\x03\"\xe2\x82"s, 1007, "not UTF-8"},
        Frames{"LongPing", "\x89\x7e\0\x7e"s + std::string(126, '1'), 1002,
               "a broken control frame"},
        Frames{"PingInParts", "\x09\x02hi"s, 1002, "a broken control frame"},
        Frames{"Masked", "\x81\x82\0\0\0\0{}"s, 1002, "a masked frame"},
        Frames{"RestOfNothing", "\x80\x02{}"s, 1002, "the rest of a message that never began"},
        Frames{"BeginningTwice", "\x01\x01{\x81\x02{}"s, 1002, "a new message inside another"},
        Frames{"CutCharacter", "\x01\x02\"\xc3\x80\x01\""s, 1007, "not UTF-8"},
        Frames{"CloseWithHalfACode", "\x88\x01\x03"s, 1002, "without a valid code"},
        Frames{"CloseWithACodeOfNobody", "\x88\x02\x03\xed"s, 1002, "without a valid code"},
        Frames{"CloseWithoutUtf8", "\x88\x03\x03\xe8\xff"s, 1007, "reason is not UTF-8"}),
    [](const auto& each) { return each.param.name; });

TEST_F(Ws, AnEmptyFrameInTheMiddleOfAMessageIsNotItsEnd) {
    open(kFine, "\x01\x01{\x00\x00\x00\x00\x80\x01}\x01\x00\x80\x02[]"s);
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == 2 || channel_.closed(); }));
    EXPECT_THAT(channel_.messages, testing::ElementsAre("{}", "[]"));
    EXPECT_FALSE(channel_.closed());
}

TEST_F(Ws, TextOfAllPlanesIsTaken) {
    // The first and the last of each length, and those beside the surrogates.
    const std::string text =
        "\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"
        "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"";
    open(kFine, WsServer::text(text));
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == 1 || channel_.closed(); }));
    EXPECT_FALSE(channel_.closed()) << channel_.end.text;
}

TEST_F(Ws, AFrameThatClaimsMoreThanTheLimitIsNotRead) {
    open(kFine, "\x81\x7f\0\0\0\0\x01\0\0\x01"s);
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_LIMIT);
    EXPECT_EQ(channel_.end.flags, 0u);
    ASSERT_TRUE(channel_.until([&] { return !server_->frames().empty(); }));
    EXPECT_EQ(server_->frames()[0], "8\x03\xf1");
}

TEST_F(Ws, AConnectionThatEndsWithinAFrameMayBeMadeAgain) {
    WsServer::Play play;
    play.frames = "\x81\x05{";
    play.leaves = true;
    open(std::move(play));
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end.flags, PATCHBAY_ERR_RETRYABLE);
    EXPECT_THAT(channel_.end.text, HasSubstr("in the middle of a message"));
}

class WsCloseCode : public Ws, public testing::WithParamInterface<int> {
protected:
    static std::string code(int number) {
        return {static_cast<char>(number >> 8), static_cast<char>(number)};
    }
    void end_with(const std::string& payload) {
        open(kFine, "\x88"s + static_cast<char>(payload.size()) + payload);
        ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
        ASSERT_TRUE(channel_.until([&] { return !server_->frames().empty(); }));
    }
};
class WsWrongCloseCode : public WsCloseCode {};

TEST_P(WsCloseCode, IsToldAndAnswered) {
    end_with(code(GetParam()));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end.flags, PATCHBAY_ERR_RETRYABLE);
    EXPECT_EQ(channel_.end.text, "the server closed the connection (WebSocket code " +
                                     std::to_string(GetParam()) + ")");
    EXPECT_EQ(server_->frames()[0], "8" + code(1000));
}
INSTANTIATE_TEST_SUITE_P(, WsCloseCode, testing::Values(1000, 1003, 1007, 1014, 3000, 4999));

TEST_P(WsWrongCloseCode, IsAFaultOfTheServer) {
    end_with(code(GetParam()));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_PROTOCOL);
    EXPECT_EQ(channel_.end.flags, 0u);
    EXPECT_EQ(server_->frames()[0], "8" + code(1002));
}
INSTANTIATE_TEST_SUITE_P(, WsWrongCloseCode,
                         testing::Values(0, 999, 1004, 1005, 1006, 1015, 2999, 5000));

TEST_F(WsCloseCode, MayHaveAReason) {
    end_with(code(1001) + "out of ideas");
    EXPECT_THAT(channel_.end.text, testing::EndsWith("(WebSocket code 1001: out of ideas)"));
}

TEST_F(WsCloseCode, MayBeMissing) {
    end_with("");
    EXPECT_EQ(channel_.end.text, "the server closed the connection");
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
}

TEST_F(Ws, APingIsAnsweredWithItself) {
    const std::string longest(125, 'p');
    open(kFine, "\x89\x7d" + longest + "\x89\x02hi\x8a\x02no"s);
    ASSERT_TRUE(channel_.until([&] { return server_->frames().size() == 2; }));
    EXPECT_THAT(server_->frames(), testing::ElementsAre("10" + longest, "10hi"));
}

TEST_F(Ws, ManyPingsInOnePieceAreAllAnsweredByWhoIsRead) {
    std::string pings;
    for (int i = 0; i < 100; ++i) pings += "\x89\x02hi";
    open(kFine, pings);
    ASSERT_TRUE(channel_.until([&] { return server_->frames().size() == 100; }));
    EXPECT_FALSE(channel_.closed());
}

TEST_F(Ws, SmallFramesHaveManyRoundsAndOthersTheirTurnsInBetween) {
    open(kFine);
    count_turns();
    for (const auto& small : {"\x8a\0"s, "\x81\0"s, "\x89\0"s}) {
        std::string frames;
        for (int i = 0; i < 30'000; ++i) frames += small;
        const auto wanted = channel_.message_count() + 1;
        server_->say(frames + WsServer::text("{}"));
        turns_ = 0;
        ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == wanted; }));
        EXPECT_GE(turns_, 20) << "a thousand a round";
    }
    EXPECT_FALSE(channel_.closed());
}

TEST_F(Ws, AFrameThatDripsHasThirtySecondsAndOneMoreForEvery16KiB) {
    host_.turn_timers(20);
    open(kFine, "\x81\x7f\0\0\0\0\0\x02\0\0{"s);
    ASSERT_TRUE(channel_.until([&] { return host_.timers().size() == 1; }));
    server_->say(std::string(32u << 10, ' '));
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end.flags, PATCHBAY_ERR_RETRYABLE);
    EXPECT_THAT(channel_.end.text, HasSubstr("no frame in time"));
    using std::chrono::seconds;
    EXPECT_THAT(host_.timers(), testing::ElementsAre(seconds(30), seconds(2)));
}

TEST_F(Ws, WhatComesWithinItsTimeHasAllOfItForTheNextFrame) {
    host_.turn_timers(20);
    open(kFine, "\x81\x02{");
    ASSERT_TRUE(channel_.until([&] { return host_.timers().size() == 1; }));
    server_->say("}\x81\x02[");
    ASSERT_TRUE(channel_.until([&] { return host_.timers().size() == 2; }));
    EXPECT_FALSE(channel_.closed());
    EXPECT_EQ(host_.timers()[1], std::chrono::seconds(30));
    server_->say("]");
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == 2; }));
    EXPECT_THAT(channel_.messages, testing::ElementsAre("{}", "[]"));
}

// ---- sending

TEST_F(Ws, WhatIsCancelledWhileItWaitsIsNotSent) {
    open(kFine, {}, false);
    ASSERT_GE(channel_.send(kLarge), 0);
    ASSERT_GE(channel_.send("{\"n\":2}"), 0);
    ASSERT_GE(channel_.send("{\"n\":3}"), 0);
    channel_.cancel(2);
    EXPECT_EQ(channel_.ended_with(PATCHBAY_E_CANCELLED), 1u);
    EXPECT_NE(channel_.last_end().flags & PATCHBAY_ERR_NOT_SENT, 0u);
    server_->read_on();
    ASSERT_TRUE(channel_.until([&] { return channel_.ended_with(PATCHBAY_OK) == 2; }));
    ASSERT_TRUE(channel_.until([&] { return server_->frames().size() == 2; }));
    EXPECT_EQ(server_->frames()[1], "1{\"n\":3}");
}

TEST_F(Ws, SaysWhenTooMuchWaitsAndWhenItDoesNot) {
    open(kFine, {}, false);
    const std::string large(1u << 20, ' ');
    int sent = 0;
    while (channel_.send(large) == PATCHBAY_OK && sent < 100) ++sent;
    EXPECT_LE(sent, 16 + 8) << "what waits, and what the sockets hold";
    EXPECT_EQ(channel_.writable_count(), 0);
    server_->read_on();
    EXPECT_TRUE(channel_.until([&] { return channel_.writable_count() == 1; }));
}

TEST_F(Ws, AServerThatPingsFasterThanItReadsGetsAFewAnswersOnly) {
    open(kFine, {}, false);
    ASSERT_GE(channel_.send(kLarge), 0);
    ASSERT_TRUE(channel_.until([&] { return server_->waited_for(); }));
    std::string pings;
    for (int i = 0; i < 40; ++i) pings += "\x89\x02hi";
    server_->say(pings + WsServer::text("{}"));
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == 1; }));
    channel_.cancel(0);  // nobody's
    server_->read_on();
    ASSERT_TRUE(channel_.until([&] { return channel_.running() == 0; }));
    ASSERT_GE(channel_.send("{}"), 0);
    ASSERT_TRUE(channel_.until([&] {
        const auto frames = server_->frames();
        return !frames.empty() && frames.back() == "1{}";
    }));
    EXPECT_EQ(server_->frames().size(), 1u + 16u + 1u);
}

TEST_F(Ws, WhatWaitsForAConnectionThatBreaksWasNotSent) {
    open(kFine, {}, false);
    ASSERT_GE(channel_.send(kLarge), 0);
    ASSERT_GE(channel_.send("{}"), 0);
    ASSERT_TRUE(channel_.until([&] { return server_->waited_for(); }));
    server_.reset();
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end.flags, PATCHBAY_ERR_RETRYABLE);
    EXPECT_EQ(channel_.end_of_exchange(1)->status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end_of_exchange(1)->flags, 0u);
    EXPECT_EQ(channel_.end_of_exchange(2)->status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_.end_of_exchange(2)->flags, PATCHBAY_ERR_NOT_SENT);
}

TEST_F(Ws, AServerThatTakesNoCloseFrameIsLeftInTwoSeconds) {
    host_.turn_timers(100);
    open(kFine, {}, false);
    ASSERT_GE(channel_.send(kLarge), 0);
    ASSERT_TRUE(channel_.until([&] { return server_->waited_for(); }));
    channel_.close();
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
    EXPECT_THAT(host_.timers(), testing::ElementsAre(std::chrono::seconds(2)));
}

TEST_F(Ws, AServerThatTakesItsCloseFrameLateIsLeftAsSoonAsItHas) {
    host_.turn_timers(TurnedTimers::kNever);
    open(kFine, {}, false);
    ASSERT_GE(channel_.send(kLarge), 0);
    ASSERT_TRUE(channel_.until([&] { return server_->waited_for(); }));
    channel_.close();
    loop_.post([this] { server_->read_on(); });  // behind the end of the channel
    ASSERT_TRUE(channel_.until([&] { return channel_.closed() && server_->ended(); }));
    EXPECT_EQ(channel_.ended_with(PATCHBAY_OK), 1u);
    EXPECT_EQ(server_->frames().back(), "8\x03\xe8");
    EXPECT_EQ(host_.timers().size(), 1u) << "it was waited for";
}

TEST_F(Ws, WhatWasSentJustBeforeClosingLeavesAheadOfTheCloseFrame) {
    host_.turn_timers(1);
    open(kFine);
    ASSERT_EQ(channel_.send("{}"), PATCHBAY_OK);
    channel_.close();
    ASSERT_TRUE(channel_.until([&] { return channel_.closed() && server_->ended(); }));
    EXPECT_EQ(channel_.ended_with(PATCHBAY_OK), 1u);
    EXPECT_THAT(server_->frames(), testing::ElementsAre("1{}", "8\x03\xe8"));
    EXPECT_THAT(host_.timers(), IsEmpty()) << "what has left is not waited for";
}

TEST_F(Ws, OverTlsMessagesOfAnySizeGoBothWays) {
    const std::string large = "[\"" + std::string(300'000, 'x') + "\"]";
    const TlsServer server({}, [&](const std::string& request) {
        return ws_answer(request, kFine) + WsServer::text("{}") + WsServer::text(large);
    });
    ASSERT_EQ(channel_.open("{\"url\":\"wss" + server.url().substr(5) + "\",\"ca_file\":\"" +
                            server.ca_file() + "\"}"),
              PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == 2 || channel_.closed(); }));
    EXPECT_THAT(channel_.messages, testing::ElementsAre("{}", large)) << channel_.end.text;
    ASSERT_GE(channel_.send(kLarge), 0);
    ASSERT_GE(channel_.send("{}"), 0);
    EXPECT_TRUE(channel_.until([&] { return channel_.ended_with(PATCHBAY_OK) == 2; }));
}

TEST_F(Ws, AFileThatIsNotWhatItShouldBeIsRefusedByItsName) {
    const std::string file = PATCHBAY_SOURCE_DIR "/README.md";
    server_.emplace(WsServer::Play());
    for (const char* setting : {"ca_file", "client_certificate"}) {
        PluginChannel refused(loop_, host_);
        EXPECT_EQ(refused.open("{\"url\":\"wss" + server_->url().substr(2) + "\",\"" + setting +
                               "\":\"" + file + "\"}"),
                  PATCHBAY_E_INVALID);
        EXPECT_THAT(refused.refusal, HasSubstr(setting + (" \"" + file) + "\""));
    }
    ASSERT_EQ(channel_.open("{\"url\":\"" + server_->url() + "\"}"), PATCHBAY_OK);
}

}  // namespace
