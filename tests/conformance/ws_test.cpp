// The ws plugin against a server that writes its handshake and frames byte by byte.
#include "support/plugin_host.hpp"
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
        server_.emplace(std::move(play));
        ASSERT_EQ(channel_.open("{\"url\":\"" + server_->url() + "\"}"), PATCHBAY_OK);
        look();
        ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    }
    // What other threads do wakes no loop.
    void look() {
        loop_.after(std::chrono::milliseconds(5), [this] { look(); });
    }

    core::Loop loop_;
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
    open(kFine, "\x81\x0b\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""s);
    ASSERT_TRUE(channel_.until([&] { return channel_.message_count() == 1 || channel_.closed(); }));
    EXPECT_FALSE(channel_.closed()) << channel_.end.text;
}

// ---- sending

TEST_F(Ws, WhatIsCancelledWhileItWaitsIsNotSent) {
    open(kFine, {}, false);
    const auto large = "{\"large\":\"" + std::string(8u << 20, 'x') + "\"}";
    ASSERT_GE(channel_.send(large), 0);  // more than the sockets hold, and nobody reads
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
