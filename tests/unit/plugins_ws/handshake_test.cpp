// The opening handshake: what is asked, and which answers are one.
#include "handshake.hpp"

#include "net/refusal.hpp"
#include "net/trouble.hpp"
#include "support/ws_handshake.hpp"

#include <Poco/Net/ServerSocket.h>
#include <gmock/gmock.h>

#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace patchbay::ws {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HandshakeTest : public ::testing::Test {
protected:
    static net::Head head_of(const std::string& answer) {
        net::HeadParser parser;
        std::string_view bytes = answer;
        EXPECT_TRUE(parser.feed(bytes));
        return parser.take();
    }
    std::string judged(const net::Head& head) const {
        try {
            handshake_.judge(head);
            return "";
        } catch (const net::Trouble& trouble) {
            EXPECT_EQ(trouble.code, PATCHBAY_E_PROTOCOL);
            return trouble.text;
        } catch (const net::Refusal& refusal) {
            return std::to_string(refusal.code) + ": " + refusal.text();
        }
    }
    std::string judged(const std::string& answer) const { return judged(head_of(answer)); }
    // With the right one in place of ACCEPT.
    std::string answered(const std::string& fields) const {
        return judged(test::ws_answer(handshake_.request({}), fields));
    }

    const net::Url url_ = net::Url::parse("ws://mcp.example:81/a?key=k");
    const Handshake handshake_{url_};
    const std::string kAccept = "Sec-WebSocket-Accept: ACCEPT\r\n";
};

TEST_F(HandshakeTest, AsksForAWebSocketWithTheFieldsOfTheServerAndAKeyOfItsOwn) {
    net::HeaderList fields;
    fields.set("X-Key", "k");
    fields.set("Sec-WebSocket-Key", "mine");
    const auto request = handshake_.request(fields);
    for (const char* part : {"GET /a?key=k HTTP/1.1\r\n", "Host: mcp.example:81\r\n",
                             "X-Key: k\r\n", "Connection: Upgrade\r\n", "Upgrade: websocket\r\n",
                             "Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Protocol: mcp\r\n"})
        EXPECT_THAT(request, HasSubstr(part));
    EXPECT_THAT(request, Not(HasSubstr("mine")));
    EXPECT_THAT(request, testing::EndsWith("\r\n\r\n"));
    const auto key = request.find("Sec-WebSocket-Key: ");
    ASSERT_NE(key, request.npos);
    EXPECT_EQ(request.substr(key + 19 + 22, 4), "==\r\n") << "sixteen bytes";
    EXPECT_NE(request, Handshake(url_).request(fields));
}

TEST_F(HandshakeTest, TakesTheAnswerToItsKeyAndTheSubprotocolOrNone) {
    EXPECT_EQ(answered(kAccept), "");
    EXPECT_EQ(answered(kAccept + "Sec-WebSocket-Protocol: mcp\r\n"), "");
    EXPECT_EQ(answered(kAccept + "Sec-WebSocket-Extensions:\r\nconnection: keep-alive\r\n"), "");
    net::Head head = head_of(test::ws_answer(handshake_.request({}), kAccept));
    for (auto& [name, value] : head.fields) {
        if (name == "Connection") value = "keep-alive, upgrade";
        if (name == "Upgrade") value = "WebSocket";
    }
    EXPECT_EQ(judged(head), "");
}

TEST_F(HandshakeTest, RefusesWhatItDidNotAskForByName) {
    EXPECT_THAT(answered(""), HasSubstr("Sec-WebSocket-Accept does not answer the key"));
    EXPECT_THAT(answered("Sec-WebSocket-Accept: bm8=\r\n"), HasSubstr("does not answer the key"));
    EXPECT_THAT(answered(kAccept + "Sec-WebSocket-Extensions: x\r\n"),
                HasSubstr("a WebSocket extension, and none was offered"));
    EXPECT_THAT(answered(kAccept + "Sec-WebSocket-Protocol: MCP\r\n"),
                HasSubstr("another WebSocket subprotocol"));
    for (const std::string missing : {"Connection", "Upgrade"}) {
        auto head = head_of(test::ws_answer(handshake_.request({}), kAccept));
        for (auto& [name, value] : head.fields)
            if (name == missing) value = "no" + value;
        EXPECT_EQ(judged(head),
                  "the WebSocket handshake failed: the server does not say that it "
                  "upgrades the connection to a WebSocket");
    }
}

TEST_F(HandshakeTest, AnAnswerThatIsAnErrorIsTheServersRefusal) {
    EXPECT_EQ(judged(std::string("HTTP/1.1 401 No\r\n\r\n")),
              std::to_string(PATCHBAY_E_AUTH) + ": HTTP 401 No from ws://mcp.example:81/a");
    EXPECT_EQ(judged(std::string("HTTP/1.1 302 There\r\nLocation: /b\r\n\r\n")),
              std::to_string(PATCHBAY_E_PROTOCOL) + ": HTTP 302 There from ws://mcp.example:81/a");
    EXPECT_EQ(judged(std::string("HTTP/1.1 200 OK\r\n\r\n")),
              "the WebSocket handshake failed: the server answered HTTP 200 OK, which opens no "
              "WebSocket");
}

// On a connection, with a server that the test plays.
class HandshakeOnAConnection : public HandshakeTest {
protected:
    HandshakeOnAConnection() {
        const auto port = std::to_string(listener_.address().port());
        stream_.emplace(net::dial(endpoint_, net::Url::parse("ws://127.0.0.1:" + port), fuse_));
        server_ = listener_.acceptConnection();
    }
    // What came behind the answer, or why there was none. `limit`: more than any test takes.
    std::string performed(std::chrono::milliseconds limit = std::chrono::seconds(20)) {
        try {
            return handshake_.perform(*stream_, {}, limit);
        } catch (const net::Trouble& trouble) {
            EXPECT_EQ(trouble.code, PATCHBAY_E_PROTOCOL);
            return trouble.text;
        }
    }
    void say(const std::string& bytes) {
        server_.sendBytes(bytes.data(), static_cast<int>(bytes.size()));
    }

    Poco::Net::ServerSocket listener_{Poco::Net::SocketAddress("127.0.0.1", 0)};
    net::Endpoint endpoint_{net::Url{}};
    net::Fuse fuse_;
    std::optional<net::ByteStream> stream_;
    Poco::Net::StreamSocket server_;
};

TEST_F(HandshakeOnAConnection, ReadsAnAnswerInPartsAndKeepsWhatCameBehindIt) {
    std::thread server([this] {
        char request[4096];
        const int got = server_.receiveBytes(request, sizeof request);
        const auto answer =
            test::ws_answer(std::string(request, static_cast<std::size_t>(got)), kAccept);
        say(answer.substr(0, 30));
        say(answer.substr(30) + "\x81\x02{}");
    });
    EXPECT_EQ(performed(), "\x81\x02{}");
    server.join();
}

TEST_F(HandshakeOnAConnection, AServerThatDoesNotAnswerHasItsTime) {
    say("HTTP/1.1 101 Swi");
    EXPECT_EQ(performed(std::chrono::milliseconds(30)),
              "the WebSocket handshake failed: no answer in time");
}

TEST_F(HandshakeOnAConnection, AnAnswerHasASecondMoreForEvery16KiB) {
    std::string fields = kAccept;
    for (int i = 0; i < 40; ++i) fields += "X-Long: " + std::string(1000, 'x') + "\r\n";
    const auto answer = test::ws_answer(handshake_.request({}), fields);
    say(answer);
    const int all = static_cast<int>(answer.size());
    ASSERT_EQ(::setsockopt(stream_->fd(), SOL_SOCKET, SO_RCVLOWAT, &all, sizeof all), 0);
    pollfd arrived{stream_->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&arrived, 1, 20'000), 1);
    EXPECT_EQ(performed(std::chrono::milliseconds(0)), "");
}

TEST_F(HandshakeOnAConnection, AServerThatLeavesInsteadIsSaidToHaveLeft) {
    server_.shutdownSend();
    EXPECT_EQ(performed(),
              "the WebSocket handshake failed: the server closed the connection without an answer");
}

TEST_F(HandshakeOnAConnection, WhatIsNoHttpIsSaidToBeNone) {
    say("220 smtp.example ready\r\n");
    EXPECT_THAT(performed(),
                testing::StartsWith("the WebSocket handshake failed: the answer is not HTTP: "));
}

}  // namespace
}  // namespace patchbay::ws
