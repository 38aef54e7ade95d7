// What the tcp transport does beyond the suite: which addresses it takes, how it waits for a
// server.
#include "conformance/peers.hpp"
#include "support/plugin_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <netinet/tcp.h>
#include <numeric>
#include <thread>
#include <utility>

// getaddrinfo() cannot be cancelled: a process that ends meanwhile leaves the resolver's buffer.
extern "C" const char* __lsan_default_suppressions() {
    return "leak:__res_context_send";
}

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Tcp : public testing::Test {
protected:
    void TearDown() override { EXPECT_THAT(channel_.faults, IsEmpty()); }
    // What timers were asked for, in milliseconds.
    static std::vector<int> waits(const PluginHost& host) {
        std::vector<int> all;
        for (const auto each : host.timers()) all.push_back(static_cast<int>(each.count()));
        return all;
    }
    bool over() {
        return channel_.until([&] { return channel_.closed(); });
    }

    core::Loop loop_;
    PluginHost host_{loop_, "tcp"};
    PluginChannel channel_{loop_, host_};
};

// A listener of this test; what it takes is the test's.
class Listener {
public:
    Listener() {
        ::bind(fd_, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
        socklen_t size = sizeof address_;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address_), &size);
        ::listen(fd_, 0);
    }
    ~Listener() {
        for (const int fd : {fd_, taken_, filling_})
            if (fd >= 0) ::close(fd);
    }
    std::string port() const { return std::to_string(ntohs(address_.sin_port)); }
    int take() { return taken_ = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }
    void leave() { ::close(std::exchange(taken_, -1)); }
    // From now on it answers nobody.
    void fill() {
        filling_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(
            ::connect(filling_, reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    }

private:
    static sockaddr_in of_loopback() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }
    sockaddr_in address_ = of_loopback();
    const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int taken_ = -1, filling_ = -1;
};

// Of the plugin, which runs in this process.
int descriptor_to(const Listener& listener) {
    for (int fd = 3; fd < 1024; ++fd) {
        sockaddr_in6 peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
            std::to_string(ntohs(peer.sin6_port)) == listener.port())
            return fd;
    }
    return -1;
}

TEST_F(Tcp, RefusesSettingsThatCannotBe) {
    for (const char* settings :
         {R"({})", R"({"port":0})", R"({"port":65536})", R"({"port":1,"connect_timeout_ms":-1})",
          R"({"port":1,"connect_timeout_ms":60001})", R"({"port":1,"stop_grace_ms":60001})"}) {
        EXPECT_EQ(channel_.open(settings), PATCHBAY_E_INVALID) << settings;
        EXPECT_NE(channel_.refusal, "");
    }
    EXPECT_EQ(channel_.open(
                  R"({"port":65535,"connect_timeout_ms":60000,"stop_grace_ms":0,"host":"::1"})"),
              PATCHBAY_OK);
}

TEST_F(Tcp, RefusesAnAddressThatIsNotThisMachine) {
    for (const auto* host : {"192.0.2.1", "2001:db8::1", "0.0.0.0", "::ffff:192.0.2.1"}) {
        EXPECT_EQ(channel_.open("{\"port\":7000,\"host\":\"" + std::string(host) + "\"}"),
                  PATCHBAY_E_DENIED)
            << host;
        EXPECT_THAT(channel_.refusal, HasSubstr("set allow_remote = true"));
    }
}

TEST_F(Tcp, StartsNothingForAnAddressThatIsRefused) {
    const auto token = unique_token();
    EXPECT_EQ(channel_.open(command_settings({hostile_program(), token},
                                             R"(,"port":7000,"host":"192.0.2.1")")),
              PATCHBAY_E_DENIED);
    EXPECT_THAT(processes_with(token), IsEmpty());
}

TEST_F(Tcp, GivesUpAfterItsAttempts) {
    const auto port = std::to_string(free_port());
    ASSERT_EQ(channel_.open("{\"port\":" + port + "}"), PATCHBAY_OK);
    ASSERT_TRUE(over());
    EXPECT_FALSE(channel_.opened());
    EXPECT_EQ(channel_.end.text,
              "cannot connect to 127.0.0.1:" + port + " (5 attempts): Connection refused");
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_IO);
}

TEST_F(Tcp, AsksMoreAndMoreRarely) {
    for (const char* host : {"127.0.0.1", "localhost"}) {  // of two addresses, one after the other
        PluginHost turned(loop_, "tcp");
        turned.turn_timers(100);
        PluginChannel channel(loop_, turned);
        const auto port = std::to_string(free_port());
        ASSERT_EQ(channel.open("{\"host\":\"" + std::string(host) + "\",\"port\":" + port + "}"),
                  PATCHBAY_OK);
        ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
        const auto trouble = "cannot connect to 127.0.0.1:" + port;
        EXPECT_EQ(channel.end.text, trouble + " (5 attempts): Connection refused");
        EXPECT_EQ(channel.end.flags, PATCHBAY_ERR_RETRYABLE);
        auto all = waits(turned);
        all.erase(std::remove(all.begin(), all.end(), 10'000), all.end());  // for an answer
        EXPECT_THAT(all, testing::ElementsAre(100, 200, 400, 800));
    }
}

TEST_F(Tcp, WaitsForAnAnswerAsLongAsItIsTold) {
    Listener listener;
    listener.fill();
    host_.turn_timers(1000);
    PluginChannel channel(loop_, host_);
    ASSERT_EQ(channel.open("{\"port\":" + listener.port() + ",\"connect_timeout_ms\":9000}"),
              PATCHBAY_OK);
    ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
    EXPECT_EQ(channel.end.status, PATCHBAY_E_IO);
    EXPECT_EQ(channel.end.text, "cannot connect to 127.0.0.1:" + listener.port() +
                                    " (5 attempts): no answer within connect_timeout_ms");
    EXPECT_EQ(channel.fact("trouble"), "no answer from 127.0.0.1:" + listener.port());
    EXPECT_THAT(waits(host_),
                testing::ElementsAre(9000, 100, 9000, 200, 9000, 400, 9000, 800, 9000));
}

TEST_F(Tcp, ClosesWhileItWaitsForAnAnswer) {
    Listener listener;
    listener.fill();
    host_.turn_timers(TurnedTimers::kNever);
    PluginChannel channel(loop_, host_);
    ASSERT_EQ(channel.open("{\"port\":" + listener.port() + "}"), PATCHBAY_OK);
    EXPECT_EQ(channel.send("{}"), PATCHBAY_E_CLOSED) << "not open yet";
    channel.close();
    ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
    EXPECT_EQ(channel.end.status, PATCHBAY_OK);
    EXPECT_THAT(waits(host_), testing::ElementsAre(10'000)) << "what is usual";
}

TEST_F(Tcp, TellsWhereItIsConnectedAndWhatBecomesOfThat) {
    for (const bool whole : {true, false}) {
        Listener listener;
        PluginChannel channel(loop_, host_);
        ASSERT_EQ(channel.open("{\"host\":\"::ffff:127.0.0.1\",\"port\":" + listener.port() + "}"),
                  PATCHBAY_OK);
        ASSERT_TRUE(channel.until([&] { return channel.opened_or_closed(); }));
        EXPECT_EQ(channel.fact("peer"), "[::ffff:127.0.0.1]:" + listener.port());
        EXPECT_EQ(channel.fact("trouble"), "");
        const int peer = listener.take();
        const int ours = descriptor_to(listener);
        for (const auto& [level, option] : {std::pair<int, int>(IPPROTO_TCP, TCP_NODELAY),
                                            std::pair<int, int>(SOL_SOCKET, SO_KEEPALIVE)}) {
            int on = 0;
            socklen_t size = sizeof on;
            EXPECT_EQ(::getsockopt(ours, level, option, &on, &size), 0);
            EXPECT_EQ(on, 1) << option;
        }
        const std::string said = std::string("{\"n\":1}\n") + (whole ? "" : "{\"n\"");
        ASSERT_EQ(::send(peer, said.data(), said.size(), 0), static_cast<ssize_t>(said.size()));
        ASSERT_TRUE(channel.until([&] { return channel.message_count() == 1; }));
        listener.leave();
        ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
        EXPECT_EQ(channel.end.status, PATCHBAY_E_CLOSED);
        EXPECT_EQ(channel.end.flags, PATCHBAY_ERR_RETRYABLE);
        EXPECT_EQ(channel.end.text, std::string("server closed the connection") +
                                        (whole ? "" : " in the middle of a message"));
        EXPECT_EQ(channel.stray.size(), whole ? 0u : 1u);
        EXPECT_EQ(channel.send("{}"), PATCHBAY_E_CLOSED);
    }
}

TEST_F(Tcp, AServerThatSaysTooMuchIsNotAskedAgain) {
    Listener listener;
    ASSERT_EQ(channel_.open("{\"port\":" + listener.port() + "}"), PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    const int peer = listener.take();
    std::thread flood([peer] {
        const std::string piece(1u << 20, '{');
        while (::send(peer, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
        }
    });
    EXPECT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_E_LIMIT);
    EXPECT_EQ(channel_.end.flags, 0u);
    EXPECT_THAT(channel_.end.text, testing::StartsWith("server sent more than "));
    flood.join();
}

TEST_F(Tcp, TriesEveryAddressOfLocalhost) {
    const auto port = free_port();
    const int listener = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    address.sin6_port = htons(static_cast<std::uint16_t>(port));
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        ::close(listener);
        GTEST_SKIP() << "no IPv6 here";
    }
    ::listen(listener, 1);
    ASSERT_EQ(channel_.open("{\"host\":\"localhost\",\"port\":" + std::to_string(port) + "}"),
              PATCHBAY_OK);
    EXPECT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    EXPECT_EQ(channel_.fact("peer"), "[::1]:" + std::to_string(port));
    ::close(listener);
}

TEST_F(Tcp, ResolvesNamesWithoutHoldingUpTheLoop) {
    const auto begun = core::Clock::now();
    ASSERT_EQ(channel_.open(R"({"host":"no-such-host.invalid","port":7000})"), PATCHBAY_OK);
    EXPECT_LT(core::Clock::now() - begun, std::chrono::seconds(1));
    ASSERT_TRUE(over());
    EXPECT_THAT(channel_.end.text, HasSubstr("cannot resolve host \"no-such-host.invalid\""));
}

TEST_F(Tcp, ClosesWhileItStillResolves) {
    ASSERT_EQ(channel_.open(R"({"host":"no-such-host.invalid","port":7000})"), PATCHBAY_OK);
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
}

TEST_F(Tcp, ClosesWhileItWaitsForTheNextAttempt) {
    ASSERT_EQ(channel_.open("{\"port\":" + std::to_string(free_port()) + "}"), PATCHBAY_OK);
    loop_.run_until([] { return false; }, core::Clock::now() + std::chrono::milliseconds(20));
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_EQ(channel_.end.status, PATCHBAY_OK);
}

TEST_F(Tcp, EndsTheCommandThatItHasStarted) {
    const auto port = std::to_string(free_port());
    const auto token = unique_token();
    // The token is an argument that the peer does not look at.
    ASSERT_EQ(channel_.open(command_settings({peer_program(), "--tcp", port, "deaf", token},
                                             ",\"stop_grace_ms\":50,\"port\":" + port)),
              PATCHBAY_OK);
    ASSERT_TRUE(channel_.until([&] { return channel_.opened_or_closed(); }));
    EXPECT_TRUE(channel_.opened());
    EXPECT_FALSE(processes_with(token).empty());
    channel_.close();
    ASSERT_TRUE(over());
    EXPECT_THAT(processes_with(token), IsEmpty());
    EXPECT_THAT(channel_.stray, testing::ElementsAre("listening"));
}

TEST_F(Tcp, ACommandThatNeverListensIsAskedForHalfAMinute) {
    host_.turn_timers(1000);
    PluginChannel channel(loop_, host_);
    const auto port = std::to_string(free_port());
    ASSERT_EQ(channel.open(command_settings({"/bin/sleep", "3600"}, ",\"port\":" + port)),
              PATCHBAY_OK);
    ASSERT_TRUE(channel.until([&] { return channel.closed(); }));
    EXPECT_EQ(channel.end.text,
              "cannot connect to 127.0.0.1:" + port + " (150 attempts): Connection refused");
    auto all = waits(host_);
    all.erase(std::remove(all.begin(), all.end(), 10'000), all.end());  // for an answer
    EXPECT_THAT(std::accumulate(all.begin(), all.end(), 0),
                testing::AllOf(testing::Ge(28'000), testing::Le(31'000)));
}

}  // namespace
