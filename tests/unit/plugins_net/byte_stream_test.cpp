// A connection as bytes: what it sends and reads without waiting, and how its end is told.
#include "net/byte_stream.hpp"

#include "support/tls_server.hpp"

#include <Poco/Net/ServerSocket.h>
#include <gmock/gmock.h>

#include <optional>
#include <poll.h>

namespace patchbay::net {
namespace {

using namespace std::chrono_literals;

constexpr int kPatienceMs = 20'000;

class ByteStreamTest : public ::testing::Test {
protected:
    ByteStreamTest() {
        const auto port = std::to_string(listener_.address().port());
        stream_.emplace(dial(endpoint_, Url::parse("ws://127.0.0.1:" + port + "/"), fuse_));
        server_ = listener_.acceptConnection();
    }
    bool ready_for(short events) const {
        pollfd wait{stream_->fd(), events, 0};
        return ::poll(&wait, 1, kPatienceMs) > 0;
    }
    std::optional<std::string> received() {
        const auto piece = stream_->receive(buffer_);
        if (!piece) return std::nullopt;
        return std::string(*piece);
    }
    // How much of it the sockets hold.
    std::size_t fill() {
        const std::string piece(64u << 10, 'x');
        std::size_t sent = 0;
        while (const auto put = stream_->write(piece)) {
            if (*put == 0) return sent;
            sent += *put;
        }
        ADD_FAILURE() << "the connection takes no more";
        return sent;
    }

    Poco::Net::ServerSocket listener_{Poco::Net::SocketAddress("127.0.0.1", 0)};
    Endpoint endpoint_{Url{}};
    Fuse fuse_;
    std::optional<ByteStream> stream_;
    Poco::Net::StreamSocket server_;
    char buffer_[ByteStream::kPiece];
};

TEST_F(ByteStreamTest, TellsWhatHasComeThatNothingHasAndTheEnd) {
    EXPECT_EQ(received(), std::nullopt);
    server_.sendBytes("hello", 5);
    ASSERT_TRUE(ready_for(POLLIN));
    EXPECT_EQ(received(), "hello");
    EXPECT_EQ(received(), std::nullopt);
    server_.close();
    ASSERT_TRUE(ready_for(POLLIN));
    EXPECT_EQ(received(), "");
}

TEST_F(ByteStreamTest, SendsWhatTheSocketTakesAndGoesOnWhenItIsWritable) {
    EXPECT_EQ(stream_->write("x"), 1u);
    EXPECT_FALSE(stream_->wants_to_write());
    auto left = fill() + 1;
    EXPECT_TRUE(stream_->wants_to_write());
    char piece[65'536];
    while (left > 0) left -= static_cast<std::size_t>(server_.receiveBytes(piece, sizeof piece));
    ASSERT_TRUE(ready_for(POLLOUT));
    EXPECT_EQ(stream_->write("y"), 1u);
    EXPECT_FALSE(stream_->wants_to_write());
}

TEST_F(ByteStreamTest, AConnectionThatIsGoneTakesNothingAndSaysWhyWhenItIsRead) {
    stream_->write("unread");
    ASSERT_TRUE(server_.poll({20, 0}, Poco::Net::Socket::SELECT_READ));
    server_.close();  // which resets it
    ASSERT_TRUE(ready_for(POLLIN));
    try {
        received();
        FAIL();
    } catch (const Trouble& trouble) {
        EXPECT_EQ(trouble.code, PATCHBAY_E_CLOSED);
        EXPECT_EQ(trouble.text, "Connection reset by peer");
    }
    EXPECT_EQ(stream_->write("x"), std::nullopt);
}

TEST_F(ByteStreamTest, APeerThatTakesNothingForTooLongIsLeftByTheKernel) {
    fill();
    stream_->limit_standstill(100ms);
    ASSERT_TRUE(ready_for(POLLIN)) << "the end is to be read";
    try {
        received();
        FAIL();
    } catch (const Trouble& trouble) {
        EXPECT_EQ(trouble.text, "Connection timed out");
    }
}

TEST_F(ByteStreamTest, AnEndIsOneForBothSides) {
    stream_->end();
    char byte = 0;
    EXPECT_EQ(server_.receiveBytes(&byte, 1), 0);
    EXPECT_EQ(received(), "");
    EXPECT_EQ(stream_->write("x"), std::nullopt);
}

TEST(ByteStreamOverTls, ReadsAndSendsAlikeAndTellsTheEnd) {
    test::TlsServer::Play play;
    play.leaves = true;
    const test::TlsServer server(std::move(play),
                                 [](const std::string&) { return std::string("answer"); });
    Endpoint endpoint{Url{}};
    endpoint.tls.ca_file = server.ca_file();
    Fuse fuse;
    ByteStream stream(dial(endpoint, Url::parse(server.url()), fuse));
    EXPECT_TRUE(stream.secure());
    const std::string request = "GET / HTTP/1.1\r\n\r\n";
    EXPECT_EQ(stream.write(request), request.size());
    std::string answer;
    char buffer[ByteStream::kPiece];
    while (answer.size() < 6) {
        pollfd wait{stream.fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&wait, 1, kPatienceMs), 1);
        if (const auto piece = stream.receive(buffer)) answer += *piece;
    }
    EXPECT_EQ(answer, "answer");
    EXPECT_FALSE(stream.wants_to_write());
    std::optional<std::string_view> last;
    for (int pieces = 0; !last && pieces < 100; ++pieces) {
        pollfd wait{stream.fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&wait, 1, kPatienceMs), 1);
        last = stream.receive(buffer);
    }
    EXPECT_EQ(last, "");
}

}  // namespace
}  // namespace patchbay::net
