// What a yes to one call counts for.
#include "router/receipt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::router {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ReceiptTest : public ::testing::Test {
protected:
    Receipt given() const {
        return {"mcp__x__write", "server tool", Receipt::digest_of(arguments), now};
    }
    static std::string why(const std::optional<Error>& refused) {
        if (refused) EXPECT_EQ(refused->code, ErrorCode::Denied);
        return refused ? refused->message : "";
    }

    const std::string arguments = R"({"path":"a","n":1})";
    const core::Clock::time_point now = core::Clock::time_point() + 100h;
};

TEST_F(ReceiptTest, CountsForTheCallThatItIsOf) {
    auto receipt = given();
    EXPECT_EQ(why(receipt.redeem("server tool", arguments, now + 9min)), "");
}

TEST_F(ReceiptTest, CountsWhateverOrderTheArgumentsStandIn) {
    auto receipt = given();
    EXPECT_EQ(why(receipt.redeem("server tool", R"({ "n": 1, "path": "\u0061" })", now)), "");
}

TEST_F(ReceiptTest, CountsOnce) {
    auto receipt = given();
    ASSERT_EQ(why(receipt.redeem("server tool", arguments, now)), "");
    EXPECT_THAT(why(receipt.redeem("server tool", arguments, now)),
                HasSubstr("was approved for one call, which has been sent"));
}

TEST_F(ReceiptTest, DoesNotCountWithOtherArguments) {
    for (const auto* other : {"{}", "", R"({"path":"b","n":1})", R"({"path":"a","n":1,"x":0})",
                              R"({"path":"a","n":1.0})"}) {
        auto receipt = given();
        EXPECT_THAT(why(receipt.redeem("server tool", other, now)),
                    HasSubstr("was approved with other arguments"))
            << other;
        EXPECT_EQ(why(receipt.redeem("server tool", arguments, now)), "") << "it is not spent";
    }
}

TEST_F(ReceiptTest, DoesNotCountForAnotherToolOrOneThatHasChanged) {
    for (const auto* other : {"server other", "other tool", "", "server tool "}) {
        auto receipt = given();
        EXPECT_THAT(why(receipt.redeem(other, arguments, now)), HasSubstr("described otherwise"))
            << other;
        EXPECT_THAT(why(receipt.cover_again(other, now)), HasSubstr("described otherwise"));
    }
}

TEST_F(ReceiptTest, CountsForTenMinutes) {
    auto receipt = given();
    EXPECT_EQ(why(receipt.cover_again("server tool", now + 10min - 1ns)), "");
    EXPECT_THAT(why(receipt.cover_again("server tool", now + 10min)),
                HasSubstr("was approved more than 600 s ago"));
    EXPECT_NE(why(receipt.redeem("server tool", arguments, now + 10min)), "");
}

}  // namespace
}  // namespace patchbay::router
