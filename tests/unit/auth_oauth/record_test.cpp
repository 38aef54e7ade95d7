// What is kept of a login: when it ends, whose it is, and what a broken record is worth.
#include "record.hpp"

#include "fake_host.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;

Record lasting(std::int64_t obtained, std::int64_t expires) {
    Record made;
    made.obtained_at = obtained;
    made.expires_at = expires;
    return made;
}

TEST(Record, ends_at_its_last_second) {
    EXPECT_FALSE(lasting(0, kNow + 1).ended(kNow));
    EXPECT_TRUE(lasting(0, kNow).ended(kNow));
    EXPECT_FALSE(lasting(kNow - 10, 0).ended(kNow)) << "an unknown end is none";
}

TEST(Record, ends_soon_half_a_minute_before_or_a_tenth_of_a_short_life) {
    const auto hour = lasting(kNow - 3000, kNow + 600);
    EXPECT_FALSE(hour.ends_soon(kNow + 569));
    EXPECT_TRUE(hour.ends_soon(kNow + 570));
    const auto minute = lasting(kNow, kNow + 60);
    EXPECT_FALSE(minute.ends_soon(kNow + 53));
    EXPECT_TRUE(minute.ends_soon(kNow + 54));
    const auto backwards = lasting(kNow + 50, kNow + 10);
    EXPECT_FALSE(backwards.ends_soon(kNow + 9));
    EXPECT_TRUE(backwards.ends_soon(kNow + 10));
    EXPECT_FALSE(lasting(kNow - 10, 0).ends_soon(kNow)) << "an unknown end is none";
}

TEST(Record, is_new_for_a_tenth_of_its_life) {
    EXPECT_TRUE(lasting(kNow, kNow + 100).is_new(kNow + 9));
    EXPECT_FALSE(lasting(kNow, kNow + 100).is_new(kNow + 10));
    EXPECT_TRUE(lasting(kNow, 0).is_new(kNow + 59)) << "a minute when its life is unknown";
    EXPECT_FALSE(lasting(kNow, 0).is_new(kNow + 60));
}

TEST(Record, covers_each_word_of_a_scope) {
    Record made;
    made.scope = "read mail";
    for (const char* scope : {"", "read", "mail", "mail read"}) EXPECT_TRUE(made.covers(scope));
    for (const char* scope : {"rea", "reader", "read write"}) EXPECT_FALSE(made.covers(scope));
}

TEST(Record, belongs_to_one_server_issuer_token_endpoint_and_client) {
    const auto login = *Record::parse(record(""));
    const auto belongs = [&](const char* url, const char* settings) {
        return login.belongs_to(WebUrl::parse(url, "x"), Settings::parse(settings));
    };
    EXPECT_TRUE(belongs("https://mcp.example/mcp", "{}"));
    EXPECT_TRUE(belongs("https://mcp.example/mcp?later=1", R"({"issuer":"https://as.example",
        "token_url":"https://as.example/token","client_id":"old-client"})"));
    EXPECT_FALSE(belongs("https://mcp.example/", "{}"));
    EXPECT_FALSE(belongs("https://mcp.example/mcp", R"({"issuer":"https://as2.example"})"));
    EXPECT_FALSE(belongs("https://mcp.example/mcp", R"({"token_url":"https://as.example/t"})"));
    EXPECT_FALSE(belongs("https://mcp.example/mcp", R"({"client_id":"new-client"})"));
}

TEST(Record, survives_its_json) {
    const auto before = record(R"("client_secret":"cs","principal":"ann","dpop_key":"pem")");
    const auto again = Record::parse(Record::parse(before)->json());
    ASSERT_TRUE(again);
    for (const auto& [name, value] : {std::pair{"old-access", again->access_token},
                                      {"old-refresh", again->refresh_token},
                                      {"Bearer", again->token_type},
                                      {"read", again->scope},
                                      {"old-client", again->client_id},
                                      {"cs", again->client_secret},
                                      {"none", again->token_endpoint_auth_method},
                                      {"http://127.0.0.1:5555/callback", again->redirect_uri},
                                      {"ann", again->principal},
                                      {"https://as.example", again->issuer},
                                      {"https://mcp.example/mcp", again->resource},
                                      {"https://mcp.example/mcp", again->server_url},
                                      {"pem", again->dpop_key},
                                      {"https://as.example/token", again->token_endpoint},
                                      {"https://as.example/revoke", again->revocation_endpoint}})
        EXPECT_EQ(value, name);
    EXPECT_EQ(again->obtained_at, 1799999000);
    EXPECT_EQ(again->expires_at, 1800003600);
}

TEST(Record, takes_no_time_that_is_none) {
    const auto ends_at = [](const char* value) {
        return Record::parse(record("\"expires_at\":" + std::string(value)))->expires_at;
    };
    EXPECT_EQ(ends_at("-5"), 0);
    EXPECT_EQ(ends_at("1e300"), 253402300799);
    EXPECT_EQ(ends_at("\"1800000000\""), 0);
    EXPECT_EQ(ends_at("null"), 0);
    EXPECT_EQ(Record::parse(R"({"expires_at":0e320})")->expires_at, 0);
    EXPECT_EQ(Record::parse(R"({"expires_at":1e999})")->expires_at, 253402300799);
}

TEST(Record, is_none_when_it_is_broken_or_its_key_is_gone) {
    for (const char* text : {"", "{", "[]", R"({"scope":7})", R"({"token_type":"dpop"})"})
        EXPECT_FALSE(Record::parse(text)) << text;
    EXPECT_TRUE(Record::parse(R"({"token_type":"dpop","dpop_key":"pem"})"));
    EXPECT_TRUE(Record::parse("{}"));
}

}  // namespace
}  // namespace patchbay::oauth::test
