// Tokens bound to a key.
#include "crypto.hpp"
#include "fake_host.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kMayAsk = PATCHBAY_AUTH_MAY_ASK;
constexpr auto kToken = "https://as.example/token";
constexpr auto kBound =
    R"({"access_token":"bound","token_type":"DPoP","expires_in":3600,"refresh_token":"r"})";

Document part(const std::string& jwt, int number) {
    std::size_t from = 0;
    while (number-- > 0) from = jwt.find('.', from) + 1;
    const auto text = base64url_decoded(jwt.substr(from, jwt.find('.', from) - from));
    return Document::parse(text.value_or(""), "proof");
}

struct Dpop : ::testing::Test {
    FakeHost host;
    Dpop() {
        serve_usual(host);
        host.pages[kToken] = [](const Asked&) { return Answer{200, kBound, {}, PATCHBAY_OK}; };
    }
};

TEST_F(Dpop, is_used_when_the_challenge_demands_it) {
    Method method(host);
    const auto outcome = method.acquire(kMayAsk, "DPoP algs=\"ES256\"");
    EXPECT_EQ(outcome.status, PATCHBAY_OK) << outcome.error;
    EXPECT_EQ(outcome.authorization, "DPoP bound");
    EXPECT_TRUE(outcome.signs);
    const auto proof = host.last(kToken).header("DPoP");
    const auto header = part(proof, 0);
    const auto claims = part(proof, 1);
    EXPECT_EQ(header.needed_text("typ"), "dpop+jwt");
    EXPECT_EQ(header.needed_text("alg"), "ES256");
    EXPECT_TRUE(header.has("jwk"));
    EXPECT_EQ(claims.needed_text("htm"), "POST");
    EXPECT_EQ(claims.needed_text("htu"), kToken);
    EXPECT_FALSE(claims.has("ath"));
    EXPECT_THAT(host.browsed.back(), HasSubstr("dpop_jkt="));
}

TEST_F(Dpop, signs_each_request_anew_for_what_it_is) {
    Method method(host, R"({"dpop":true})");
    method.acquire(kMayAsk);
    const auto first = method.sign("POST", "https://mcp.example/mcp?key=1#here");
    const auto second = method.sign("POST", "https://mcp.example/mcp?key=1#here");
    const auto claims = part(first, 1);
    EXPECT_EQ(claims.needed_text("htu"), "https://mcp.example/mcp");
    EXPECT_EQ(claims.needed_text("ath"), base64url(sha256("bound")));
    EXPECT_EQ(claims.find("iat")->number, 1'800'000'000.0);
    EXPECT_NE(claims.needed_text("jti"), part(second, 1).needed_text("jti"));
}

TEST_F(Dpop, keeps_its_key_with_the_login) {
    {
        Method method(host, R"({"dpop":true})");
        method.acquire(kMayAsk);
    }
    EXPECT_THAT(stored(host).needed_text("dpop_key"), HasSubstr("PRIVATE KEY"));
    EXPECT_THAT(host.masked, HasSubstr("PRIVATE KEY"));
    Method method(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_QUIET).authorization, "DPoP bound");
    EXPECT_NE(method.sign("GET", "https://mcp.example/mcp"), "");
    host.now_ms += 4'000'000;
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_QUIET).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("grant_type"), "refresh_token");
    EXPECT_NE(host.last(kToken).header("DPoP"), "(none)");
}

TEST_F(Dpop, repeats_the_token_request_with_the_nonce_it_is_given) {
    host.pages[kToken] = [](const Asked& asked) {
        if (part(asked.header("DPoP"), 1).text_or("nonce", "") == "n1")
            return Answer{200, kBound, {}, PATCHBAY_OK};
        return Answer{400, R"({"error":"use_dpop_nonce"})", {{"DPoP-Nonce", "n1"}}, PATCHBAY_OK};
    };
    Method method(host, R"({"dpop":true})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_EQ(host.count("POST", kToken), 2);
    EXPECT_EQ(host.browsed.size(), 1u);
}

TEST_F(Dpop, does_not_repeat_for_ever) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{400, R"({"error":"use_dpop_nonce"})", {{"DPoP-Nonce", "n1"}}, PATCHBAY_OK};
    };
    Method method(host, R"({"dpop":true})");
    EXPECT_THAT(method.acquire(kMayAsk).error, HasSubstr("use_dpop_nonce"));
    EXPECT_EQ(host.count("POST", kToken), 2);
}

TEST_F(Dpop, learns_the_nonce_of_the_server_without_another_token) {
    Method method(host, R"({"dpop":true})");
    method.acquire(kMayAsk);
    const auto outcome =
        method.acquire(PATCHBAY_AUTH_QUIET, "DPoP error=\"use_dpop_nonce\"", 401, "", "n2");
    EXPECT_EQ(outcome.authorization, "DPoP bound");
    EXPECT_EQ(host.count("POST", kToken), 1);
    EXPECT_EQ(part(method.sign("POST", "https://mcp.example/mcp"), 1).needed_text("nonce"), "n2");
    EXPECT_FALSE(part(method.sign("POST", "https://other.example/"), 1).has("nonce"));
}

TEST_F(Dpop, takes_no_bearer_token_when_told_to) {
    host.pages[kToken] = [](const Asked&) { return Answer{200, token("loose"), {}, PATCHBAY_OK}; };
    Method method(host, R"({"dpop":true})");
    EXPECT_THAT(method.acquire(kMayAsk).error, HasSubstr("bearer token"));
}

TEST_F(Dpop, does_not_take_a_token_bound_to_another_key) {
    Method method(host, R"({"dpop":false})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_E_PROTOCOL);
}

TEST_F(Dpop, is_not_for_servers_without_es256) {
    host.pages["https://as.example/.well-known/oauth-authorization-server"] = [](const Asked&) {
        return Answer{200,
                      usual_metadata(R"("dpop_signing_alg_values_supported":["EdDSA"])"),
                      {},
                      PATCHBAY_OK};
    };
    Method method(host, R"({"dpop":true})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_E_UNSUPPORTED);
}

TEST_F(Dpop, signs_nothing_for_a_login_that_is_forgotten) {
    Method method(host, R"({"dpop":true})");
    method.acquire(kMayAsk);
    EXPECT_THAT(method.sign("GET", "https://mcp.example/mcp"), Not(HasSubstr("status")));
    method.forget();
    host.run();
    EXPECT_EQ(method.sign("GET", "https://mcp.example/mcp"), "status -8");
}

TEST_F(Dpop, signs_nothing_for_a_bearer_token) {
    host.pages[kToken] = [](const Asked&) { return Answer{200, token("loose"), {}, PATCHBAY_OK}; };
    Method method(host);
    EXPECT_FALSE(method.acquire(kMayAsk).signs);
    EXPECT_EQ(method.sign("GET", "https://mcp.example/mcp"), "status -8");
}

TEST_F(Dpop, repeats_only_what_asks_for_a_nonce) {
    const std::pair<std::uint32_t, const char*> cases[] = {{401, R"({"error":"use_dpop_nonce"})"},
                                                           {403, R"({"error":"use_dpop_nonce"})"},
                                                           {400, R"({"error":"invalid_request"})"},
                                                           {400, "<html>"}};
    const int asked[] = {2, 1, 1, 1};
    for (int i = 0; i < 4; ++i) {
        host.asked.clear();
        host.pages[kToken] = [answer = cases[i]](const Asked&) {
            return Answer{answer.first, answer.second, {{"DPoP-Nonce", "n1"}}, PATCHBAY_OK};
        };
        Method method(host, R"({"dpop":true})");
        EXPECT_NE(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
        EXPECT_EQ(host.count("POST", kToken), asked[i]) << i;
    }
}

TEST_F(Dpop, is_used_when_the_published_resource_wants_it) {
    host.pages["https://mcp.example/.well-known/oauth-protected-resource/mcp"] = [](const Asked&) {
        return Answer{200,
                      R"({"resource":"https://mcp.example/mcp",
                          "dpop_bound_access_tokens_required":true,
                          "authorization_servers":["https://as.example"]})",
                      {},
                      PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).authorization, "DPoP bound");
}

TEST_F(Dpop, is_not_used_where_a_bearer_does) {
    host.pages[kToken] = [](const Asked&) { return Answer{200, token("loose"), {}, PATCHBAY_OK}; };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk, "DPoP, Bearer").authorization, "Bearer loose");
    EXPECT_EQ(host.last(kToken).header("DPoP"), "(none)");
    Method never(host, R"({"dpop":false})");
    EXPECT_EQ(never.acquire(PATCHBAY_AUTH_SIGN_IN, "DPoP").authorization, "Bearer loose");
}

TEST_F(Dpop, takes_a_bearer_token_that_comes_all_the_same_unless_told_to) {
    host.pages[kToken] = [](const Asked&) { return Answer{200, token("loose"), {}, PATCHBAY_OK}; };
    Method method(host);
    const auto outcome = method.acquire(kMayAsk, "DPoP");
    EXPECT_EQ(outcome.authorization, "Bearer loose") << outcome.error;
    EXPECT_FALSE(outcome.signs);
    EXPECT_FALSE(stored(host).has("dpop_key"));
}

TEST_F(Dpop, registers_a_client_for_bound_tokens) {
    Method method(host, R"({"dpop":true})");
    method.acquire(kMayAsk);
    EXPECT_TRUE(Document::parse(host.last("https://as.example/register").body, "registration")
                    .flag("dpop_bound_access_tokens"));
    host.pages["https://as.example/.well-known/oauth-authorization-server"] = [](const Asked&) {
        return Answer{200,
                      usual_metadata(R"("dpop_signing_alg_values_supported":["EdDSA","ES256"])"),
                      {},
                      PATCHBAY_OK};
    };
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
}

TEST_F(Dpop, keeps_one_key_for_one_authorization_server) {
    Method method(host, R"({"dpop":true})");
    method.acquire(PATCHBAY_AUTH_SIGN_IN);
    const auto first = stored(host).needed_text("dpop_key");
    method.acquire(PATCHBAY_AUTH_SIGN_IN);
    EXPECT_EQ(stored(host).needed_text("dpop_key"), first);
    host.store["docs"] = record(R"("issuer":"https://former.example","token_type":"DPoP",
        "dpop_key":)" + boost::json::serialize(boost::json::string(first)));
    method.acquire(PATCHBAY_AUTH_SIGN_IN);
    EXPECT_NE(stored(host).needed_text("dpop_key"), first) << "another could tell it is the same";
}

TEST_F(Dpop, asks_for_another_token_when_a_known_nonce_does_not_help) {
    Method method(host, R"({"dpop":true})");
    method.acquire(kMayAsk);
    const auto stale = "DPoP error=\"use_dpop_nonce\"";
    method.acquire(PATCHBAY_AUTH_QUIET, stale, 401, "", "n2");
    EXPECT_EQ(host.count("POST", kToken), 1);
    method.acquire(PATCHBAY_AUTH_QUIET, stale, 401, "", "n2");
    EXPECT_EQ(host.count("POST", kToken), 2) << "the nonce was known: something else is wrong";
    method.acquire(PATCHBAY_AUTH_QUIET, "DPoP error=\"invalid_token\"", 401, "", "n3");
    EXPECT_EQ(part(method.sign("POST", "https://mcp.example/mcp"), 1).needed_text("nonce"), "n3");
}

TEST_F(Dpop, signs_for_the_root_when_there_is_no_path) {
    Method method(host, R"({"dpop":true})");
    method.acquire(kMayAsk);
    const auto claims = part(method.sign("GET", "https://mcp.example"), 1);
    EXPECT_EQ(claims.needed_text("htu"), "https://mcp.example/");
    EXPECT_EQ(claims.needed_text("htm"), "GET");
}

}  // namespace
}  // namespace patchbay::oauth::test
