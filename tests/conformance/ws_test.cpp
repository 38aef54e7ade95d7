// The ws plugin against a server that writes its handshake and frames byte by byte.
#include "support/plugin_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string accept_for(const std::string& key) {
    const auto text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char digest[SHA_DIGEST_LENGTH];
    ::SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
    unsigned char encoded[64];
    const int size = ::EVP_EncodeBlock(encoded, digest, sizeof digest);
    return {reinterpret_cast<char*>(encoded), static_cast<std::size_t>(size)};
}

// One connection, on a thread of its own that ends with the object.
class WsServer {
public:
    // The handshake's fields, of which "ACCEPT" stands for the right answer; then `frames`.
    WsServer(std::string fields, std::string frames, bool reads_at_once = true)
        : fields_(std::move(fields)), frames_(std::move(frames)), reads_(reads_at_once) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int small = 64 << 10;
        ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 8) != 0 ||
            ::getsockname(listener_, any, &size) != 0)
            std::abort();
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~WsServer() {
        stopping_ = true;
        thread_.join();
        ::close(listener_);
    }
    std::string url() const { return "ws://127.0.0.1:" + std::to_string(port_) + "/mcp"; }
    void read_on() { reads_ = true; }
    bool ended() const { return ended_; }
    // Payloads of the client's frames, each behind its opcode: "1{}", "8" and the close code.
    std::vector<std::string> frames() const {
        const std::scoped_lock lock(mutex_);
        return taken_;
    }

private:
    // False: stopped.
    bool readable(int fd) const {
        for (pollfd wait{fd, POLLIN, 0}; !stopping_; wait.revents = 0)
            if (::poll(&wait, 1, 10) > 0) return true;
        return false;
    }
    // What is whole of what came.
    void take() {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(received_[i]); };
        while (received_.size() >= 6) {
            std::size_t size = byte(1) & 0x7f, at = 2;
            if (const std::size_t more = size == 126 ? 2 : size == 127 ? 8 : 0) {
                if (received_.size() < at + more) return;
                for (size = 0; at < 2 + more; ++at) size = size << 8 | byte(at);
            }
            if (received_.size() < at + 4 + size) return;
            std::string frame = std::to_string(byte(0) & 15);
            for (std::size_t i = 0; i < size; ++i)
                frame += static_cast<char>(byte(at + 4 + i) ^ byte(at + i % 4));
            received_.erase(0, at + 4 + size);
            const std::scoped_lock lock(mutex_);
            taken_.push_back(std::move(frame));
        }
    }
    void serve() {
        if (!readable(listener_)) return;
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        std::string head;
        for (char byte; head.find("\r\n\r\n") == head.npos && readable(fd);) {
            if (::recv(fd, &byte, 1, 0) != 1) break;
            head += byte;
        }
        const auto at = head.find("Sec-WebSocket-Key: ");
        auto answer = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
                      fields_ + "\r\n";
        if (const auto place = answer.find("ACCEPT"); at != head.npos && place != answer.npos)
            answer.replace(place, 6,
                           accept_for(head.substr(at + 19, head.find('\r', at) - at - 19)));
        answer += frames_;
        static_cast<void>(!::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL));
        while (!stopping_) {
            if (!reads_) {
                ::poll(nullptr, 0, 5);
                continue;
            }
            if (!readable(fd)) break;
            char piece[65536];
            const auto got = ::recv(fd, piece, sizeof piece, 0);
            if (got <= 0) break;
            received_.append(piece, static_cast<std::size_t>(got));
            take();
        }
        ::close(fd);
        ended_ = true;
    }

    const std::string fields_, frames_;
    std::atomic<bool> reads_, stopping_{false}, ended_{false};
    int listener_ = -1, port_ = 0;
    std::string received_;
    mutable std::mutex mutex_;  // guards taken_
    std::vector<std::string> taken_;
    std::thread thread_;
};

const std::string kFine = "Sec-WebSocket-Accept: ACCEPT\r\nSec-WebSocket-Protocol: mcp\r\n";

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
        server_.emplace(fields, frames, reads);
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
    server_.emplace(kFine, "");
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
