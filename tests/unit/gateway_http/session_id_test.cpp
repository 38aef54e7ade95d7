#include "gateway/http/session_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::gateway {
namespace {

namespace json = boost::json;

const SessionTerms kTerms{"2025-11-25",
                          {{"elicitation", {{"url", json::object()}}},
                           {"roots", {{"listChanged", true}}},
                           {"experimental", {{"x", std::string(100'000, 'x')}}}}};

TEST(SessionId, SaysToItsOwnGatewayWhatItsSessionIs) {
    const auto id = SessionIds("key").make(kTerms, "guest");
    EXPECT_TRUE(std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7F; }));
    EXPECT_LT(id.size(), 500u);
    const auto terms = SessionIds("key").open(id, "guest");
    ASSERT_TRUE(terms);
    EXPECT_EQ(terms->revision, "2025-11-25");
    const json::object kept{{"elicitation", {{"url", json::object()}}},
                            {"roots", {{"listChanged", true}}}};
    EXPECT_EQ(terms->capabilities, kept);
    EXPECT_NE(SessionIds("key").make(kTerms, "guest"), id);
}

TEST(SessionId, OfAnotherKeyOrGuestOrMadeUpIsNone) {
    const SessionIds ids("key");
    const auto id = ids.make(kTerms, "guest");
    EXPECT_FALSE(SessionIds("yek").open(id, "guest"));
    EXPECT_FALSE(ids.open(id, "other"));
    EXPECT_FALSE(ids.open("", "guest"));
    EXPECT_FALSE(ids.open(".", "guest"));
    EXPECT_FALSE(ids.open(id.substr(0, id.find('.') + 1), "guest"));
    EXPECT_FALSE(ids.open(id + "0", "guest"));
    EXPECT_FALSE(ids.open(std::string(100'000, 'a') + "." + std::string(64, '0'), "guest"));
    for (std::size_t i = 0; i < id.size(); ++i) {
        auto other = id;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(ids.open(other, "guest")) << i;
    }
}

}  // namespace
}  // namespace patchbay::gateway
