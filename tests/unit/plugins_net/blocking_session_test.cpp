// A connection for a library that blocks: what it reads, for how long, and what it does not do.
#include "net/blocking_session.hpp"

#include "support/tls_server.hpp"

#include <Poco/Net/ServerSocket.h>
#include <gtest/gtest.h>

#include <optional>

namespace patchbay::net {
namespace {

using namespace std::chrono_literals;

class BlockingSessionTest : public ::testing::Test {
protected:
    BlockingSessionTest() {
        const auto port = std::to_string(listener_.address().port());
        session_.emplace(dial(endpoint_, Url::parse("ws://127.0.0.1:" + port + "/"), fuse_));
        server_ = listener_.acceptConnection();
        ::fcntl(guard().sockfd(), F_SETFL, O_NONBLOCK);  // as the host's reactor leaves it
    }
    GuardedSocketImpl& guard() { return session_->guard(); }
    std::string received(int most) {
        std::string bytes(static_cast<std::size_t>(most), '\0');
        bytes.resize(static_cast<std::size_t>(guard().receiveBytes(bytes.data(), most, 0)));
        return bytes;
    }
    void say(const std::string& bytes) {
        server_.sendBytes(bytes.data(), static_cast<int>(bytes.size()));
        while (guard().available() < static_cast<int>(bytes.size()))
            ASSERT_TRUE(server_.poll({20, 0}, Poco::Net::Socket::SELECT_WRITE));
    }

    Poco::Net::ServerSocket listener_{Poco::Net::SocketAddress("127.0.0.1", 0)};
    Endpoint endpoint_{Url{}};
    Fuse fuse_;
    std::optional<BlockingSession> session_;
    Poco::Net::StreamSocket server_;
};

TEST_F(BlockingSessionTest, ReadsWhatIsThereOrByteByByte) {
    EXPECT_FALSE(session_->readable());
    say("hello");
    EXPECT_TRUE(session_->readable());
    EXPECT_EQ(guard().available(), 5);
    guard().read_singly(true);
    EXPECT_EQ(received(100), "h");
    EXPECT_EQ(received(1), "e");
    guard().read_singly(false);
    EXPECT_EQ(received(2), "ll");
    EXPECT_EQ(received(100), "o");
    server_.close();
    EXPECT_EQ(received(100), "");
    EXPECT_TRUE(session_->readable()) << "the end is to be read as well";
}

TEST_F(BlockingSessionTest, KeepsTheFirstBytesOfAFrame) {
    say("--0123456789abc");
    EXPECT_EQ(received(2), "--");
    guard().begin_frame();
    EXPECT_EQ(guard().seen(), 0u);
    EXPECT_EQ(guard().beginning(), GuardedSocketImpl::Beginning{});
    EXPECT_EQ(received(3), "012");
    EXPECT_EQ(guard().seen(), 3u);
    EXPECT_EQ(received(100), "3456789abc");
    EXPECT_EQ(guard().seen(), 10u);
    EXPECT_EQ(std::string(guard().beginning().begin(), guard().beginning().end()), "0123456789");
}

TEST_F(BlockingSessionTest, ReadsForAsLongAsItsLimitSays) {
    say("{}");
    guard().limit(Clock::now() - 1ms);
    EXPECT_THROW(received(1), Poco::TimeoutException);
    session_->limit(1h);
    EXPECT_EQ(received(1), "{");
    guard().limit(Clock::now() - 1ms);
    session_->limit({});
    EXPECT_EQ(received(1), "}");
}

TEST_F(BlockingSessionTest, WaitsForWhatIsNotThereYet) {
    session_->limit(1h);
    std::thread later([&] { server_.sendBytes("late", 4); });
    EXPECT_EQ(received(4).front(), 'l');
    later.join();
}

TEST_F(BlockingSessionTest, SendsAllOfItHoweverMuchASocketTakes) {
    const std::string large(8u << 20, 'x');
    std::size_t heard = 0;
    std::thread server([&] {
        char piece[65'536];
        while (heard < large.size())
            heard += static_cast<std::size_t>(server_.receiveBytes(piece, sizeof piece));
    });
    const int size = static_cast<int>(large.size());
    EXPECT_EQ(guard().sendBytes(large.data(), size, 0), size);
    server.join();
    EXPECT_EQ(heard, large.size());
}

TEST_F(BlockingSessionTest, AConnectionThatIsGoneTakesNothing) {
    server_.close();
    listener_.close();
    const auto send = [&] {
        for (int i = 0; i < 1000; ++i) guard().sendBytes("x", 1, 0);
    };
    EXPECT_THROW(send(), Poco::Exception);
}

TEST_F(BlockingSessionTest, AClosedOneIsShutDownForBothSides) {
    guard().close();
    char byte = 0;
    EXPECT_EQ(server_.receiveBytes(&byte, 1), 0);
    EXPECT_EQ(received(1), "");
}

TEST(BlockingSessionOverTls, ReadsAndSendsAlike) {
    const test::TlsServer server({}, [](const std::string&) { return std::string("answer"); });
    Endpoint endpoint{Url{}};
    endpoint.tls.ca_file = server.ca_file();
    Fuse fuse;
    BlockingSession session(dial(endpoint, Url::parse(server.url()), fuse));
    auto& guard = session.guard();
    EXPECT_TRUE(guard.secure());
    session.limit(1h);
    const std::string request = "GET / HTTP/1.1\r\n\r\n";
    const int size = static_cast<int>(request.size());
    EXPECT_EQ(guard.sendBytes(request.data(), size, 0), size);
    guard.begin_frame();
    guard.read_singly(true);
    char bytes[100];
    EXPECT_EQ(guard.receiveBytes(bytes, sizeof bytes, 0), 1);
    EXPECT_EQ(bytes[0], 'a');
    EXPECT_EQ(guard.available(), 5) << "read, but not by us";
    guard.read_singly(false);
    EXPECT_EQ(guard.receiveBytes(bytes, sizeof bytes, 0), 5);
    EXPECT_EQ(guard.seen(), 6u);
}

}  // namespace
}  // namespace patchbay::net
