// What the tcp transport makes of the addresses of a name, with a host that is turned by hand and a
// resolver that says what the test wants.
#include "tcp_transport.hpp"

#include "unit/plugins_common/scripted_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <netdb.h>
#include <poll.h>

using namespace patchbay;
using namespace patchbay::test;
using testing::Contains;
using testing::HasSubstr;

namespace {

// Of a kind that no socket can be made for: each fails at once.
constexpr std::size_t kMany = 100'000;
sockaddr nowhere{AF_MAX, {}};
std::vector<addrinfo> answer;

}  // namespace

// Found before the system's.
extern "C" int getaddrinfo(const char*, const char*, const addrinfo* hints, addrinfo** list) {
    if (hints->ai_flags & AI_NUMERICHOST) return EAI_NONAME;
    addrinfo one{};
    one.ai_addr = &nowhere;
    one.ai_addrlen = sizeof nowhere;
    answer.assign(kMany, one);
    for (std::size_t i = 1; i < kMany; ++i) answer[i - 1].ai_next = &answer[i];
    *list = answer.data();
    return 0;
}
extern "C" void freeaddrinfo(addrinfo*) noexcept {
    answer.clear();
}

namespace {

TEST(TcpTransport, TriesAnyNumberOfAddressesOneAfterTheOther) {
    ScriptedHost host;
    auto params = host.params();
    params.config = sdk::str(R"({"host":"many.test","port":7,"allow_remote":true})");
    const auto channel = tcp::TcpTransport::open(params);
    ASSERT_EQ(host.operations.size(), 1u);
    pollfd resolved{host.operations.begin()->second.fd, POLLIN, 0};
    ASSERT_EQ(::poll(&resolved, 1, 60'000), 1);
    ASSERT_TRUE(host.ready(resolved.fd, transport::ChannelCore::kReadable));
    EXPECT_THAT(host.told, Contains(HasSubstr("trouble=cannot connect to an unknown address")));
    EXPECT_EQ(host.timers(), 1u) << "the next round waits";
    channel->close();
    host.run_posted();
    EXPECT_EQ(host.told.back(), "closed");
}

}  // namespace
