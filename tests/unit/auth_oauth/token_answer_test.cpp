// What a token endpoint may answer, and what is made of it.
#include "fake_host.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kToken = "https://as.example/token";

struct TokenAnswer : ::testing::Test {
    FakeHost host;
    TokenAnswer() { serve_usual(host); }

    Method::Outcome given(const std::string& body, std::uint32_t status = 200) {
        host.pages[kToken] = [=](const Asked&) { return Answer{status, body, {}, PATCHBAY_OK}; };
        Method method(host);
        return method.acquire(PATCHBAY_AUTH_SIGN_IN);
    }
};

TEST_F(TokenAnswer, must_be_an_object_with_a_token_of_a_known_type) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "not a JSON object"},
        {"access_token=x", "not a JSON object"},
        {"{}", "\"access_token\" is missing"},
        {R"({"access_token":"","token_type":"Bearer"})", "\"access_token\" is missing"},
        {R"({"access_token":["x"],"token_type":"Bearer"})", "\"access_token\" must be a string"},
        {R"({"access_token":"x"})", "\"token_type\" is missing"},
        {R"({"access_token":"x","token_type":"mac"})", "only Bearer and DPoP"},
        {R"({"access_token":"x\r\nEvil: y","token_type":"Bearer"})", "does not fit in a header"},
        {R"({"access_token":"x","token_type":"Bearer","refresh_token":1})", "\"refresh_token\""}};
    for (const auto& [body, words] : cases) {
        const auto outcome = given(body);
        EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL) << body;
        EXPECT_THAT(outcome.error, HasSubstr(std::string(kToken) + ": "));
        EXPECT_THAT(outcome.error, HasSubstr(words));
        EXPECT_FALSE(stored(host).has("access_token"));
    }
}

TEST_F(TokenAnswer, may_spell_the_type_as_it_likes) {
    for (const char* type : {"bearer", "BEARER", "Bearer"})
        EXPECT_EQ(given(R"({"access_token":"x","token_type":")" + std::string(type) + "\"}")
                      .authorization,
                  "Bearer x");
}

TEST_F(TokenAnswer, may_say_any_life) {
    const std::pair<const char*, std::uint64_t> cases[] = {
        {"3600", 3600}, {"\"3600\"", 3600}, {"0", 0},   {"\"soon\"", 0},
        {"null", 0},    {"true", 0},        {"[1]", 0}, {"1e300", 315'360'000},
        {"1.5", 1}};
    for (const auto& [life, seconds] : cases) {
        const auto outcome = given(token("x", "\"expires_in\":" + std::string(life)));
        EXPECT_EQ(outcome.status, PATCHBAY_OK) << life;
        EXPECT_EQ(outcome.expires_unix_ms, seconds ? host.now_ms + seconds * 1000 : 0) << life;
    }
}

TEST_F(TokenAnswer, may_not_have_ended_already) {
    for (const char* life : {"-5", "\"-5\"", "-1e300"}) {
        const auto outcome = given(token("x", "\"expires_in\":" + std::string(life)));
        EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL) << life;
        EXPECT_THAT(outcome.error, HasSubstr("\"expires_in\" is negative"));
    }
}

TEST_F(TokenAnswer, is_quoted_only_as_plain_short_text) {
    const auto outcome = given(
        R"({"error":"invalid_request","error_description":")" + std::string(500, 'y') + "\"}", 400);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr(std::string(200, 'y') + "..."));
    EXPECT_THAT(outcome.error, Not(HasSubstr(std::string(201, 'y'))));
}

TEST_F(TokenAnswer, names_the_person_if_it_can) {
    const auto claims = base64url(R"({"sub":"1","email":"ann@example.org"})");
    given(token("x", R"("id_token":"e30.)" + claims + R"(.sig")"));
    EXPECT_EQ(stored(host).text("principal"), "ann@example.org");
    EXPECT_EQ(given(token("x", R"("id_token":"not.a.token")")).status, PATCHBAY_OK);
}

TEST_F(TokenAnswer, tells_the_scope_that_was_granted) {
    given(token("x", R"("scope":"less")"));
    EXPECT_EQ(stored(host).needed_text("scope"), "less");
}

TEST_F(TokenAnswer, never_puts_a_secret_into_a_message) {
    const auto outcome = given(R"({"access_token":"topsecret x","token_type":"Bearer"})");
    EXPECT_THAT(outcome.error, Not(HasSubstr("topsecret")));
}

}  // namespace
}  // namespace patchbay::oauth::test
