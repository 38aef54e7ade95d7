#include "app/login.hpp"

#include "support/result_schema.hpp"

#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

Login login(const char* record) {
    return login_of("s", boost::json::parse(record).as_object());
}

TEST(LoginOfARecord, SaysWhoSignedInWhereAndForWhat) {
    const auto full = login(R"({"issuer":"https://as.example","scope":"a b","principal":"ann",
        "access_token":"x","refresh_token":"y","expires_at":1800000000})");
    EXPECT_EQ(full.server, "s");
    EXPECT_EQ(full.issuer, "https://as.example");
    EXPECT_EQ(full.scope, "a b");
    EXPECT_EQ(full.principal, "ann");
    EXPECT_EQ(full.expires, std::chrono::system_clock::from_time_t(1'800'000'000));
    EXPECT_TRUE(full.renewable);
    EXPECT_FALSE(full.in_keyring);
}

TEST(LoginOfARecord, HasNoEndThatIsNone) {
    for (const char* none : {"{}", R"({"expires_at":0})", R"({"expires_at":-1})",
                             R"({"expires_at":"1800000000"})", R"({"expires_at":1.5})"})
        EXPECT_FALSE(login(none).expires) << none;
    EXPECT_TRUE(login(R"({"expires_at":1})").expires);
}

TEST(LoginOfARecord, IsRenewableWithATokenForThatWhereverItIsKept) {
    EXPECT_FALSE(login("{}").renewable);
    EXPECT_FALSE(login(R"({"refresh_token":""})").renewable);
    EXPECT_FALSE(login(R"({"refresh_token":7,"issuer":[]})").renewable);
    EXPECT_TRUE(login(R"({"keyring":true})").renewable);
    EXPECT_TRUE(login(R"({"keyring":true})").in_keyring);
}

TEST(LoginOfARecord, HasEndedWhenItsMethodSaysSo) {
    for (const char* record : {R"({"ended":"invalid_grant","expires_at":1800000000})",
                               R"({"ended":"x","keyring":true,"expires_at":1800000000})"}) {
        const auto ended = login(record);
        EXPECT_TRUE(ended.ended) << record;
        EXPECT_FALSE(ended.renewable) << record;
        EXPECT_FALSE(ended.expires) << record << ": that was the time of a token that is gone";
        EXPECT_EQ(to_json(ended).at("ended"), true) << record;
    }
    for (const char* record : {"{}", R"({"ended":""})", R"({"ended":7})"})
        EXPECT_FALSE(login(record).ended) << record;
}

TEST(LoginAsJson, HasItsShapeAndNoToken) {
    for (const char* record :
         {"{}", R"({"issuer":"https://as.example","scope":"a","principal":"ann",
                    "access_token":"secret","refresh_token":"secret","expires_at":1800000000})"}) {
        const auto told = to_json(login(record));
        EXPECT_TRUE(test::is_a("login", told));
        EXPECT_EQ(boost::json::serialize(told).find("secret\""), std::string::npos) << told;
    }
}

}  // namespace
}  // namespace patchbay::app
