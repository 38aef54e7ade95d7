// What the tcp transport does beyond the suite: which addresses it takes, how it waits for a
// server.
#include "conformance/peers.hpp"
#include "support/plugin_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Tcp : public testing::Test {
protected:
    void TearDown() override { EXPECT_THAT(channel_.faults, IsEmpty()); }
    bool over() {
        return channel_.until([&] { return channel_.closed(); });
    }

    core::Loop loop_;
    PluginHost host_{loop_, "tcp"};
    PluginChannel channel_{loop_, host_};
};

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

}  // namespace
