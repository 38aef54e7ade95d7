// Credentials without a person: for services, workloads and enterprises.
#include "crypto.hpp"
#include "fake_host.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;

constexpr auto kQuiet = PATCHBAY_AUTH_QUIET;
constexpr auto kToken = "https://as.example/token";

std::string part(const std::string& jwt, int number) {
    std::size_t from = 0;
    while (number-- > 0) from = jwt.find('.', from) + 1;
    return base64url_decoded(jwt.substr(from, jwt.find('.', from) - from)).value_or("");
}

struct Earned : ::testing::Test {
    FakeHost host;
    Earned() { serve_usual(host); }
    void auth_methods(const std::string& list) {
        host.pages["https://as.example/.well-known/oauth-authorization-server"] =
            [list](const Asked&) {
                return Answer{200,
                              usual_metadata("\"code_challenge_methods_supported\":null,"
                                             "\"authorization_endpoint\":null,"
                                             "\"token_endpoint_auth_methods_supported\":" +
                                             list),
                              {},
                              PATCHBAY_OK};
            };
    }
};

TEST_F(Earned, by_a_client_with_a_secret) {
    auth_methods(R"(["client_secret_basic"])");
    Method method(host, R"({"grant":"client_credentials","client_id":"svc","client_secret":"pw"})");
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer scope="jobs")").authorization, "Bearer access-1");
    const auto& asked = host.last(kToken);
    EXPECT_EQ(asked.field("grant_type"), "client_credentials");
    EXPECT_EQ(asked.field("scope"), "jobs");
    EXPECT_EQ(asked.field("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(asked.header("Authorization"), "Basic " + base64("svc:pw"));
    EXPECT_THAT(host.masked, HasSubstr(base64("svc:pw") + "\n"));
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Earned, once_and_then_from_the_store_until_refused) {
    int given = 0;
    host.pages[kToken] = [&given](const Asked&) {
        return Answer{
            200, token("t" + std::to_string(++given), R"("expires_in":3600)"), {}, PATCHBAY_OK};
    };
    Method method(host, R"({"grant":"client_credentials","client_id":"svc","client_secret":"pw"})");
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer t1");
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer t1");
    EXPECT_EQ(method.acquire(kQuiet, "Bearer").authorization, "Bearer t2");
}

TEST_F(Earned, by_a_client_with_a_key) {
    auth_methods(R"(["private_key_jwt"])");
    const auto key = SigningKey::generate();
    const auto config = ObjectWriter()
                            .text("grant", "client_credentials")
                            .text("client_id", "svc")
                            .text("private_key", key->pem())
                            .text("signing_alg", "ES256")
                            .text("key_id", "k1")
                            .str();
    Method method(host, config);
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    const auto& asked = host.last(kToken);
    EXPECT_EQ(asked.field("client_assertion_type"),
              "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    const auto jwt = asked.field("client_assertion");
    const auto header = Document::parse(part(jwt, 0), "header");
    const auto claims = Document::parse(part(jwt, 1), "claims");
    EXPECT_EQ(header.needed_text("alg"), "ES256");
    EXPECT_EQ(header.needed_text("kid"), "k1");
    EXPECT_EQ(claims.needed_text("iss"), "svc");
    EXPECT_EQ(claims.needed_text("sub"), "svc");
    EXPECT_EQ(claims.needed_text("aud"), "https://as.example");
    EXPECT_FALSE(claims.needed_text("jti").empty());
    EXPECT_EQ(part(jwt, 2).size(), 64u) << "r and s";
    EXPECT_THAT(host.masked, HasSubstr(jwt));
}

// The server names another authorization server than at the first login.
void move_to_another_issuer(FakeHost& host) {
    host.pages["https://mcp.example/.well-known/oauth-protected-resource/mcp"] = [](const Asked&) {
        return Answer{200,
                      R"({"resource":"https://mcp.example/mcp",
                          "authorization_servers":["https://other.example"]})",
                      {},
                      PATCHBAY_OK};
    };
    host.pages["https://other.example/.well-known/oauth-authorization-server"] = [](const Asked&) {
        return Answer{200,
                      R"({"issuer":"https://other.example",
                          "authorization_endpoint":"https://other.example/authorize",
                          "token_endpoint":"https://other.example/token",
                          "registration_endpoint":"https://other.example/register",
                          "code_challenge_methods_supported":["S256"]})",
                      {},
                      PATCHBAY_OK};
    };
    host.pages["https://other.example/register"] = [](const Asked&) {
        return Answer{201, R"({"client_id":"made-client"})", {}, PATCHBAY_OK};
    };
    host.pages["https://other.example/token"] = [](const Asked&) {
        return Answer{200, token("of-another"), {}, PATCHBAY_OK};
    };
}
constexpr auto kOtherToken = "https://other.example/token";

TEST_F(Earned, with_secrets_that_go_only_where_they_went_first) {
    const auto key = ObjectWriter()
                         .text("grant", "client_credentials")
                         .text("client_id", "svc")
                         .text("private_key", SigningKey::generate()->pem())
                         .str();
    const std::string configs[] = {
        R"({"grant":"client_credentials","client_id":"svc","client_secret":"pw"})", key,
        R"({"grant":"jwt_bearer","assertion":"a.b.c"})",
        R"({"client_id":"svc","client_secret":"pw"})"};
    for (const auto& config : configs) {
        FakeHost fresh;
        serve_usual(fresh);
        Method(fresh, config).acquire(PATCHBAY_AUTH_SIGN_IN);
        ASSERT_EQ(stored(fresh).needed_text("issuer"), "https://as.example") << config;
        move_to_another_issuer(fresh);
        Method later(fresh, config);
        const auto outcome = later.acquire(PATCHBAY_AUTH_SIGN_IN);
        EXPECT_EQ(outcome.status, PATCHBAY_E_DENIED) << config;
        EXPECT_THAT(outcome.error, HasSubstr("\"oauth.issuer\""));
        EXPECT_THAT(outcome.error, HasSubstr("https://other.example"));
        EXPECT_EQ(fresh.count("POST", kOtherToken), 0) << config;
        later.url = "https://mcp.example/mcp/v2";
        EXPECT_EQ(later.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_E_DENIED)
            << "nor for another address of the server";
        EXPECT_EQ(fresh.count("POST", kOtherToken), 0) << config;
    }
}

TEST_F(Earned, at_another_issuer_when_the_settings_or_a_logout_say_so) {
    const std::string client =
        R"("grant":"client_credentials","client_id":"svc","client_secret":"pw")";
    Method(host, "{" + client + "}").acquire(kQuiet);
    move_to_another_issuer(host);
    Method told(host, "{" + client + R"(,"issuer":"https://other.example"})");
    EXPECT_EQ(told.acquire(kQuiet).authorization, "Bearer of-another");

    serve_usual(host);
    Method forgets(host, "{" + client + "}");
    EXPECT_EQ(forgets.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_E_DENIED);
    forgets.forget();
    EXPECT_EQ(forgets.acquire(PATCHBAY_AUTH_SIGN_IN).authorization, "Bearer access-1");
}

TEST_F(Earned, nothing_for_a_client_without_secrets_that_moves_on) {
    Method method(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).authorization, "Bearer access-1");
    move_to_another_issuer(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).authorization, "Bearer of-another")
        << "it registers there as somebody else";
}

TEST_F(Earned, not_with_a_key_for_another_algorithm) {
    const auto config = ObjectWriter()
                            .text("grant", "client_credentials")
                            .text("client_id", "svc")
                            .text("private_key", SigningKey::generate()->pem())
                            .text("signing_alg", "RS256")
                            .str();
    Method method(host, config);
    EXPECT_THAT(method.acquire(kQuiet).error, HasSubstr("but the private key is for ES256"));
}

TEST_F(Earned, not_with_a_key_that_is_none) {
    Method method(
        host,
        R"({"grant":"client_credentials","client_id":"svc","private_key":"nonsense-secret"})");
    const auto outcome = method.acquire(kQuiet);
    EXPECT_EQ(outcome.status, PATCHBAY_E_INVALID);
    EXPECT_THAT(outcome.error, ::testing::Not(HasSubstr("nonsense-secret")));
}

TEST_F(Earned, not_without_a_client) {
    Method method(host, R"({"grant":"client_credentials"})");
    EXPECT_THAT(method.acquire(kQuiet).error, HasSubstr("needs \"client_id\""));
}

TEST_F(Earned, by_a_workloads_assertion_read_anew_each_time) {
    const patchbay::test::ScratchFolder folder;
    const auto file = folder / "assertion";
    std::ofstream(file) << "header.claims.signature\n";
    Method method(host,
                  R"({"grant":"jwt_bearer","client_id":"w","assertion_file":")" + file + "\"}");
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    const auto& asked = host.last(kToken);
    EXPECT_EQ(asked.field("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
    EXPECT_EQ(asked.field("assertion"), "header.claims.signature");
    EXPECT_THAT(host.masked, HasSubstr("header.claims.signature\n"));
    std::remove(file.c_str());
    host.store["docs"] = "";
    EXPECT_THAT(method.acquire(kQuiet).error, HasSubstr(file + " cannot be read"));
}

TEST_F(Earned, not_twice_with_an_assertion_that_is_refused) {
    for (const char* code : {"invalid_grant", "invalid_scope", "unauthorized_client"}) {
        host.asked.clear();
        host.pages[kToken] = [code](const Asked&) {
            return Answer{400, "{\"error\":\"" + std::string(code) + "\"}", {}, PATCHBAY_OK};
        };
        Method method(host, R"({"grant":"jwt_bearer","assertion":"a.b.c"})");
        const auto outcome = method.acquire(kQuiet);
        EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
        EXPECT_THAT(outcome.error, HasSubstr(code));
        EXPECT_EQ(host.count("POST", kToken), 1);
    }
}

Answer hands_out_a_grant(const Asked&) {
    return Answer{200,
                  R"({"access_token":"the-grant","token_type":"N_A",
                      "issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"})",
                  {},
                  PATCHBAY_OK};
}

TEST_F(Earned, through_the_enterprises_identity_provider) {
    auth_methods(R"(["client_secret_basic"])");
    constexpr auto provider = "https://idp.example/token";
    host.pages[provider] = hands_out_a_grant;
    Method method(host, R"({"grant":"enterprise_managed","client_id":"c","client_secret":"pw",
        "idp_token_url":"https://idp.example/token","idp_client_id":"at-idp","id_token":"i.d.t"})");
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer access-1");
    const auto& exchange = host.last(provider);
    EXPECT_EQ(exchange.beside, "");
    EXPECT_EQ(exchange.field("grant_type"), "urn:ietf:params:oauth:grant-type:token-exchange");
    EXPECT_EQ(exchange.field("requested_token_type"), "urn:ietf:params:oauth:token-type:id-jag");
    EXPECT_EQ(exchange.field("subject_token_type"), "urn:ietf:params:oauth:token-type:id_token");
    EXPECT_EQ(exchange.field("subject_token"), "i.d.t");
    EXPECT_EQ(exchange.field("audience"), "https://as.example");
    EXPECT_EQ(exchange.field("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(exchange.field("client_id"), "at-idp");
    EXPECT_EQ(host.last(kToken).field("assertion"), "the-grant");
    EXPECT_EQ(host.last(kToken).header("Authorization"), "Basic " + base64("c:pw"));
}

TEST_F(Earned, not_from_a_provider_that_answers_with_something_else) {
    host.pages["https://idp.example/token"] = [](const Asked&) {
        return Answer{200, token("plain"), {}, PATCHBAY_OK};
    };
    Method method(host, R"({"grant":"enterprise_managed","client_id":"c",
        "idp_token_url":"https://idp.example/token","id_token":"i.d.t"})");
    EXPECT_THAT(method.acquire(kQuiet).error, HasSubstr("issued_token_type"));
    EXPECT_EQ(host.count("POST", kToken), 0);
}

// The settings of a client that proves itself with a key, and one more of them.
std::string with_a_key(const char* setting, const char* value) {
    return ObjectWriter()
        .text("grant", "client_credentials")
        .text("client_id", "svc")
        .text(setting, value)
        .text("private_key", SigningKey::generate()->pem())
        .str();
}

TEST_F(Earned, with_an_assertion_that_lasts_five_minutes) {
    Method method(host, with_a_key("audience", "https://aud.example"));
    ASSERT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    const auto jwt = host.last(kToken).field("client_assertion");
    const auto claims = Document::parse(part(jwt, 1), "claims");
    EXPECT_EQ(claims.find("iat")->number, 1'800'000'000.0);
    EXPECT_EQ(claims.find("exp")->number, 1'800'000'300.0);
    EXPECT_EQ(claims.needed_text("aud"), "https://aud.example");
    EXPECT_FALSE(Document::parse(part(jwt, 0), "header").has("kid"));
    EXPECT_EQ(host.last(kToken).field("client_secret"), "(none)");
}

TEST_F(Earned, by_a_client_that_refreshes_with_its_key) {
    Method method(host, with_a_key("key_id", "k1"));
    ASSERT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    host.now_ms += 4'000'000;
    ASSERT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    const auto& asked = host.last(kToken);
    EXPECT_EQ(asked.field("grant_type"), "refresh_token");
    const auto jwt = asked.field("client_assertion");
    EXPECT_EQ(Document::parse(part(jwt, 0), "header").needed_text("kid"), "k1");
    EXPECT_EQ(Document::parse(part(jwt, 1), "claims").needed_text("aud"), "https://as.example");
}

TEST_F(Earned, with_a_secret_that_is_shown_to_its_own_authorization_server_alone) {
    const std::string client =
        R"({"grant":"client_credentials","client_id":"old-client","client_secret":"pw"})";
    const auto expired =
        record(R"("expires_at":1799999999,"token_endpoint_auth_method":"client_secret_post")");
    host.store["docs"] = expired;
    Method(host, client).acquire(kQuiet);
    EXPECT_EQ(host.last(kToken).field("grant_type"), "refresh_token");
    EXPECT_EQ(host.last(kToken).field("client_secret"), "pw");
}

TEST_F(Earned, not_with_a_key_that_is_missing) {
    Method method(host, R"({"grant":"client_credentials","client_id":"svc",
        "token_endpoint_auth_method":"private_key_jwt"})");
    EXPECT_THAT(method.acquire(kQuiet).error, HasSubstr("private_key_jwt needs \"private_key\""));
    EXPECT_EQ(host.count("POST", kToken), 0);
}

TEST_F(Earned, for_the_scope_of_the_settings_and_without_one) {
    Method wide(host, R"({"grant":"jwt_bearer","assertion":"a.b.c","scope":"jobs"})");
    EXPECT_EQ(wide.acquire(kQuiet).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("scope"), "jobs");
    EXPECT_EQ(host.last(kToken).field("client_id"), "(none)") << "there is none";
    EXPECT_EQ(host.last(kToken).field("resource"), "https://mcp.example/mcp");
    Method plain(host, R"({"grant":"jwt_bearer","assertion":"a.b.c"})");
    EXPECT_EQ(plain.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("scope"), "(none)");
}

TEST_F(Earned, again_and_again_unless_the_server_refuses) {
    int given = 0;
    host.pages[kToken] = [&given](const Asked&) {
        return Answer{200, token("t" + std::to_string(++given)), {}, PATCHBAY_OK};
    };
    Method method(host, R"({"grant":"client_credentials","client_id":"svc","client_secret":"pw"})");
    for (int i = 0; i < 5; ++i) {
        host.store["docs"] = "";
        EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK) << i;
    }
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(method.acquire(kQuiet, "Bearer").status, PATCHBAY_OK) << i;
    const auto outcome = method.acquire(kQuiet, "Bearer");
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("after 3 logins for the same;"));
    EXPECT_EQ(given, 8);
}

TEST_F(Earned, by_the_provider_only_with_a_token_of_the_person) {
    for (
        const char* config :
        {R"({"grant":"enterprise_managed","client_id":"c","id_token":"i.d.t"})",
         R"({"grant":"enterprise_managed","client_id":"c","idp_token_url":"https://idp.example/"})"}) {
        Method method(host, config);
        EXPECT_THAT(method.acquire(kQuiet).error, HasSubstr("enterprise_managed needs"));
    }
    EXPECT_EQ(host.count("POST", kToken), 0);
}

TEST_F(Earned, through_the_provider_as_the_settings_have_it) {
    constexpr auto provider = "https://idp.example/token";
    host.pages[provider] = hands_out_a_grant;
    Method method(host, R"({"grant":"enterprise_managed","client_id":"c","scope":"jobs",
        "audience":"https://aud.example","idp_token_url":"https://idp.example/token",
        "idp_client_id":"at-idp","idp_client_secret":"idp-pw","id_token":"i.d.t"})");
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    const auto& exchange = host.last(provider);
    EXPECT_EQ(exchange.field("audience"), "https://aud.example");
    EXPECT_EQ(exchange.field("scope"), "jobs");
    EXPECT_EQ(exchange.header("Authorization"), "Basic " + base64("at-idp:idp-pw"));
    EXPECT_THAT(host.masked, HasSubstr(base64("at-idp:idp-pw") + "\n"));
    EXPECT_EQ(exchange.secret_headers, std::set<std::string>{"Authorization"});
}

TEST_F(Earned, without_an_authorization_endpoint_but_not_without_a_token_endpoint) {
    auth_methods("[\"none\"]");
    Method method(host, R"({"grant":"client_credentials","client_id":"svc"})");
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    host.pages["https://as.example/.well-known/oauth-authorization-server"] = [](const Asked&) {
        return Answer{200, usual_metadata(R"("token_endpoint":null)"), {}, PATCHBAY_OK};
    };
    EXPECT_THAT(method.acquire(PATCHBAY_AUTH_SIGN_IN).error, HasSubstr("no \"token_endpoint\""));
}

TEST_F(Earned, at_a_token_url_of_the_settings_without_asking_where_that_is) {
    host.pages["https://mine.example/t"] = [](const Asked&) {
        return Answer{200, token("mine"), {}, PATCHBAY_OK};
    };
    Method method(host, R"({"grant":"client_credentials","client_id":"svc","client_secret":"pw",
        "token_url":"https://mine.example/t"})");
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer mine");
    EXPECT_EQ(host.count("GET", "https://as.example/.well-known/oauth-authorization-server"), 0);
    EXPECT_EQ(host.last("https://mine.example/t").beside, "");
}

}  // namespace
}  // namespace patchbay::oauth::test
