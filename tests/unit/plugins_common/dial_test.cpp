// Which addresses of a server may be used, and what is said where none may; nothing is connected.
#include "dial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cstring>
#include <netinet/in.h>
#include <string>

using namespace patchbay;
using testing::HasSubstr;

namespace {

tcp::Address address(const char* numbers) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(7000);
    EXPECT_EQ(::inet_pton(AF_INET, numbers, &v4.sin_addr), 1) << numbers;
    tcp::Address made;
    std::memcpy(&made.storage, &v4, sizeof v4);
    made.size = sizeof v4;
    return made;
}

std::string refusal(const tcp::Resolved& resolved, patchbay_status expected) {
    try {
        tcp::usable(resolved, "db.test", false);
    } catch (const sdk::Failure& failure) {
        EXPECT_EQ(failure.code(), expected);
        return failure.what();
    }
    return "it was not refused";
}

TEST(Dial, UsesThisMachineAlone) {
    const tcp::Resolved both{{address("192.0.2.1"), address("127.0.0.9")}, {}};
    const auto found = tcp::usable(both, "db.test", false);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().text(), "127.0.0.9:7000");
}

TEST(Dial, UsesOthersWhereThatIsAllowed) {
    const tcp::Resolved both{{address("192.0.2.1"), address("127.0.0.9")}, {}};
    EXPECT_EQ(tcp::usable(both, "db.test", true).size(), 2u);
}

TEST(Dial, SaysWhichAddressANameLedToThatMayNotBeUsed) {
    const auto why = refusal({{address("192.0.2.1")}, {}}, PATCHBAY_E_DENIED);
    EXPECT_THAT(why, HasSubstr("host \"db.test\" is 192.0.2.1:7000"));
    EXPECT_THAT(why, HasSubstr("set allow_remote = true"));
}

TEST(Dial, SaysWhatTheResolverSaidOfANameWithoutAddress) {
    EXPECT_EQ(refusal({{}, "no such name"}, PATCHBAY_E_IO), "no such name");
}

}  // namespace
