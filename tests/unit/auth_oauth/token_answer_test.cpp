// What a token endpoint may answer, and what is made of it.
#include "fake_host.hpp"
#include "token_request.hpp"

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

TEST_F(TokenAnswer, has_its_secrets_masked_before_it_is_judged) {
    given(token("odd token", R"("refresh_token":"r-1","id_token":"i-1")"));
    for (const char* secret : {"odd token\n", "r-1\n", "i-1\n"})
        EXPECT_THAT(host.masked, HasSubstr(secret));
}

TEST_F(TokenAnswer, fits_into_a_header) {
    const std::string most(16 * 1024, 'x');
    EXPECT_EQ(given(token(most)).authorization, "Bearer " + most);
    EXPECT_THAT(given(token(most + "x")).error, HasSubstr("does not fit in a header"));
    EXPECT_EQ(given(token("!~")).authorization, "Bearer !~");
    for (const char* odd : {"a b", "a\x7F", "\xC3\xA4"})
        EXPECT_THAT(given(token(odd)).error, HasSubstr("does not fit in a header"));
}

TEST_F(TokenAnswer, that_lasts_less_than_a_second_has_no_known_end) {
    EXPECT_EQ(given(token("x", R"("expires_in":0.9)")).expires_unix_ms, 0u);
    EXPECT_EQ(given(token("x", R"("expires_in":1)")).expires_unix_ms, host.now_ms + 1000);
}

TEST_F(TokenAnswer, is_an_error_whatever_its_status) {
    const auto outcome = given(token("x", R"("error":"invalid_scope")"));
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("refused with invalid_scope"));
}

TEST_F(TokenAnswer, may_be_another_one_later) {
    const std::pair<std::uint32_t, const char*> cases[] = {
        {400, R"({"error":"temporarily_unavailable"})"},
        {400, R"({"error":"server_error"})"},
        {429, R"({"error":"invalid_request"})"},
        {500, R"({"error":"invalid_request"})"},
        {403, "{}"},
        {302, ""}};
    for (const auto& [status, body] : cases) {
        const auto outcome = given(body, status);
        EXPECT_EQ(outcome.status, PATCHBAY_E_IO) << body;
        EXPECT_EQ(outcome.flags, std::uint32_t{PATCHBAY_ERR_RETRYABLE}) << body;
        EXPECT_THAT(outcome.error, HasSubstr("answered " + std::to_string(status)));
    }
    const auto final = given(R"({"error":"invalid_request"})", 499);
    EXPECT_EQ(final.status, PATCHBAY_E_AUTH);
    EXPECT_EQ(final.flags, 0u);
}

TEST_F(TokenAnswer, names_the_person_by_mail_or_by_number) {
    const std::pair<std::string, const char*> cases[] = {
        {"e30." + base64url(R"({"sub":"17"})") + ".sig", "17"},
        {"e30." + base64url(R"({"email":"a\u001bb"})") + ".sig", "a\\x1Bb"},
        {"e30." + base64url(R"({"sub":"17"})"), ""},
        {"e30." + base64url("[]") + ".sig", ""},
        {"e30.===.sig", ""}};
    for (const auto& [id_token, name] : cases) {
        EXPECT_EQ(given(token("x", "\"id_token\":\"" + id_token + "\"")).status, PATCHBAY_OK);
        EXPECT_EQ(stored(host).text("principal"), name) << id_token;
        EXPECT_THAT(host.masked, HasSubstr(id_token + "\n"));
    }
}

TEST_F(TokenAnswer, is_asked_for_in_a_way_that_both_sides_know) {
    using List = std::optional<std::vector<std::string>>;
    const List none, nothing = List::value_type{}, basic{{"client_secret_basic"}},
                     post{{"client_secret_post"}}, open{{"none"}}, jwt{{"private_key_jwt"}},
                     both{{"client_secret_post", "client_secret_basic"}};
    const auto chosen = [](const List& list, const char* secret, bool key,
                           const char* method = "") {
        Client client;
        client.secret = secret;
        client.auth_method = method;
        return choose_auth_method(list, client, key);
    };
    EXPECT_EQ(chosen(none, "", false), "none");
    EXPECT_EQ(chosen(basic, "", false), "none");
    EXPECT_EQ(chosen(none, "s", false), "client_secret_basic");
    EXPECT_EQ(chosen(both, "s", false), "client_secret_basic");
    EXPECT_EQ(chosen(post, "s", false), "client_secret_post");
    EXPECT_EQ(chosen(open, "s", false), "none");
    EXPECT_EQ(chosen(nothing, "s", false), "client_secret_basic");
    EXPECT_EQ(chosen(none, "", true), "private_key_jwt");
    EXPECT_EQ(chosen(none, "s", true), "client_secret_basic");
    EXPECT_EQ(chosen(jwt, "s", true), "private_key_jwt");
    EXPECT_EQ(chosen(jwt, "s", false), "client_secret_basic");
    EXPECT_EQ(chosen(basic, "s", true, "as-configured"), "as-configured");
}

}  // namespace
}  // namespace patchbay::oauth::test
