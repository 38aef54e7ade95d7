#include "gateway/client_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ClientRequest request(const std::string& id, protocol::Era era, Route route) {
    ClientRequest made{id, "tools/call", {}, route};
    made.meta.era = era;
    return made;
}

TEST(ClientRequests, OfOneRouteAreFoundAmongThoseOfOthers) {
    ClientRequests requests;
    const auto first = requests.add(request("1", protocol::Era::Legacy, 7));
    const auto other = requests.add(request("2", protocol::Era::Legacy, 8));
    const auto second = requests.add(request("3", protocol::Era::Legacy, 7));
    EXPECT_THAT(requests.numbers(), ElementsAre(first, other, second));
    EXPECT_THAT(requests.numbers_by(7), ElementsAre(first, second));
    ASSERT_TRUE(requests.take(first));
    EXPECT_THAT(requests.numbers_by(7), ElementsAre(second));
    ASSERT_TRUE(requests.take(second));
    EXPECT_FALSE(requests.any_by(7));
    EXPECT_TRUE(requests.any_by(8));
    EXPECT_FALSE(requests.take(second)) << "it has ended";
}

TEST(ClientRequests, ThatNobodyWaitsForAreOfNoRoute) {
    ClientRequests requests;
    const auto number = requests.add(request("1", protocol::Era::Modern, 7));
    requests.rename(number, {}, 0);
    EXPECT_THAT(requests.numbers_by(7), IsEmpty());
    EXPECT_EQ(requests.number_of("1", protocol::Era::Modern, 7), 0u);
    requests.rename(number, "9", 12);
    EXPECT_THAT(requests.numbers_by(12), ElementsAre(number));
    EXPECT_EQ(requests.number_of("9", protocol::Era::Modern, 12), number);
}

TEST(ClientRequests, OfTheModernEraMayHaveTheSameIdByAnotherRoute) {
    ClientRequests requests;
    const auto one = requests.add(request("1", protocol::Era::Modern, 7));
    const auto two = requests.add(request("1", protocol::Era::Modern, 8));
    EXPECT_EQ(requests.number_of("1", protocol::Era::Modern, 7), one);
    EXPECT_EQ(requests.number_of("1", protocol::Era::Modern, 8), two);
    EXPECT_EQ(requests.number_of("1", protocol::Era::Modern, 9), 0u);
}

}  // namespace
}  // namespace patchbay::gateway
