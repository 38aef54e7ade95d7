// A person signs in: from the first challenge to the grant, and every way it must not go.
#include "sign_in.hpp"

#include "crypto.hpp"

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SignIn, goes_from_discovery_to_a_bearer_token) {
    Method method(host);
    const auto outcome = method.acquire(kMayAsk);
    EXPECT_EQ(outcome.status, PATCHBAY_OK) << outcome.error;
    EXPECT_EQ(outcome.ends, 1);
    EXPECT_EQ(outcome.authorization, "Bearer access-1");
    EXPECT_EQ(outcome.expires_unix_ms, host.now_ms + 3600 * 1000);
    EXPECT_FALSE(outcome.signs);

    EXPECT_EQ(shown("response_type"), "code");
    EXPECT_EQ(shown("client_id"), "made-client");
    EXPECT_EQ(shown("redirect_uri"), "http://127.0.0.1:43210/callback");
    EXPECT_EQ(shown("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(shown("code_challenge_method"), "S256");
    EXPECT_EQ(shown("scope"), "(none)");
    EXPECT_GE(shown("state").size(), 22u);
    const auto& asked = host.last(kToken);
    EXPECT_EQ(asked.field("grant_type"), "authorization_code");
    EXPECT_EQ(asked.field("code"), "the-code");
    EXPECT_EQ(asked.field("client_id"), "made-client");
    EXPECT_EQ(asked.field("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(base64url(sha256(asked.field("code_verifier"))), shown("code_challenge"));
}

TEST_F(SignIn, asks_everything_beside_the_server_and_within_bounds) {
    Method method(host);
    method.acquire(kMayAsk);
    for (const auto& asked : host.asked) {
        EXPECT_EQ(asked.beside, "https://mcp.example/mcp") << asked.url;
        EXPECT_EQ(asked.max_response, 64u * 1024);
        EXPECT_EQ(asked.timeout_ms, 10'000u);
    }
}

TEST_F(SignIn, leaves_a_record_that_says_what_it_is_for) {
    Method method(host);
    method.acquire(kMayAsk);
    const auto kept = stored(host);
    EXPECT_EQ(kept.needed_text("access_token"), "access-1");
    EXPECT_EQ(kept.needed_text("refresh_token"), "refresh-1");
    EXPECT_EQ(kept.needed_text("issuer"), "https://as.example");
    EXPECT_EQ(kept.needed_text("server_url"), "https://mcp.example/mcp");
    EXPECT_EQ(kept.needed_text("client_id"), "made-client");
    EXPECT_EQ(kept.needed_text("redirect_uri"), "http://127.0.0.1:43210/callback");
    EXPECT_EQ(kept.find("expires_at")->number, 1'800'000'000.0 + 3600);
    EXPECT_EQ(kept.text("principal"), "");
}

TEST_F(SignIn, masks_every_secret) {
    Method method(host);
    method.acquire(kMayAsk);
    for (const auto& secret :
         {std::string("access-1"), std::string("refresh-1"), std::string("the-code"),
          host.last(kToken).field("code_verifier"), shown("state")})
        EXPECT_THAT(host.masked, HasSubstr(secret + "\n"));
}

TEST_F(SignIn, is_not_tried_when_nobody_may_be_asked) {
    Method method(host);
    const auto outcome = method.acquire(kQuiet);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_EQ(outcome.error, "sign in with: patchbay mcp login docs");
    EXPECT_TRUE(host.asked.empty());
}

TEST_F(SignIn, says_that_there_is_one_that_is_refused_or_has_expired) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{200,
                      R"({"access_token":"mine","token_type":"Bearer","expires_in":3600})",
                      {},
                      PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).authorization, "Bearer mine");
    const std::string refused = "the server refuses the token of the login at https://as.example";
    const std::string advice = "; sign in with: patchbay mcp login docs";
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer error="invalid_token")").error,
              refused + ", which is new: another one will hardly do" + advice);
    host.now_ms += 1'800'000;
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer error="invalid_token")").error, refused + advice);
    host.now_ms += 1'800'000;
    Method later(host);
    EXPECT_EQ(later.acquire(kQuiet).error,
              "the login at https://as.example has expired and cannot be renewed" + advice);
}

TEST_F(SignIn, is_not_advised_where_none_is_offered) {
    host.pages.clear();
    Method method(host);
    for (int times = 0; times < 2; ++times) {
        const auto outcome = method.acquire(kQuiet, "Basic realm=\"x\"");
        EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
        EXPECT_THAT(outcome.error, HasSubstr("offers no sign-in"));
        EXPECT_THAT(outcome.error, HasSubstr("\"bearer_token_env_var\""));
        EXPECT_THAT(outcome.error, HasSubstr("\"headers\""));
        EXPECT_THAT(outcome.error, HasSubstr("[auth.ID]"));
        EXPECT_THAT(outcome.error, Not(HasSubstr("mcp login")));
    }
    EXPECT_EQ(host.count("GET", kMetadata), 0);
    EXPECT_EQ(host.count("GET", "https://mcp.example/.well-known/oauth-protected-resource"), 1)
        << "looked for once";
}

TEST_F(SignIn, is_advised_where_one_is_offered_or_nobody_can_tell) {
    Method offered(host);
    EXPECT_EQ(offered.acquire(kQuiet, "Bearer").error, "sign in with: patchbay mcp login docs");
    host.pages["https://mcp.example/.well-known/oauth-protected-resource/mcp"] = [](const Asked&) {
        return Answer{503, "", {}, PATCHBAY_OK};
    };
    Method unclear(host);
    EXPECT_EQ(unclear.acquire(kQuiet, "Bearer").error, "sign in with: patchbay mcp login docs");
}

TEST_F(SignIn, says_what_to_run_when_there_is_no_browser) {
    host.person_there = false;
    Method method(host);
    const auto outcome = method.acquire(kMayAsk);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("patchbay mcp login docs"));
}

TEST_F(SignIn, starts_anew_when_asked_to_though_a_login_is_stored) {
    host.store["docs"] = record("");
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).authorization, "Bearer access-1");
    EXPECT_EQ(host.browsed.size(), 1u);
}

TEST_F(SignIn, refuses_a_redirect_with_another_state) {
    host.person = [](const Form&) { return std::string("code=the-code&state=guessed"); };
    Method method(host);
    EXPECT_THAT(method.acquire(kMayAsk).error, HasSubstr("state"));
    EXPECT_EQ(host.count("POST", kToken), 0);
}

TEST_F(SignIn, refuses_a_redirect_without_state) {
    host.person = [](const Form&) { return std::string("code=the-code"); };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_E_DENIED);
    EXPECT_EQ(host.count("POST", kToken), 0);
}

TEST_F(SignIn, refuses_two_states) {
    host.person = [](const Form& query) {
        return "code=c&state=x&state=" + form_encode(*only(query, "state"));
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_E_DENIED);
}

TEST_F(SignIn, takes_the_issuer_in_the_redirect_only_letter_by_letter) {
    for (const char* iss :
         {"https://evil.example", "https://as.example/", "HTTPS://as.example", ""}) {
        person_answers({{"code", "c"}, {"iss", iss}});
        Method method(host);
        EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_E_DENIED) << iss;
    }
    EXPECT_EQ(host.count("POST", kToken), 0);
    person_answers({{"code", "c"}, {"iss", "https://as.example"}});
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
}

TEST_F(SignIn, needs_the_issuer_that_was_promised) {
    metadata(R"("authorization_response_iss_parameter_supported":true)");
    Method method(host);
    EXPECT_THAT(method.acquire(kMayAsk).error, HasSubstr("which authorization server"));
    EXPECT_EQ(host.count("POST", kToken), 0);
}

TEST_F(SignIn, tells_a_refusal_in_words_and_without_control_characters) {
    person_answers({{"error", "access_denied"}, {"error_description", "not\x1b[31m today"}});
    Method method(host);
    const auto outcome = method.acquire(kMayAsk);
    EXPECT_EQ(outcome.status, PATCHBAY_E_DENIED);
    EXPECT_THAT(outcome.error, HasSubstr("access_denied: not\\x1B[31m today"));
}

TEST_F(SignIn, quotes_no_refusal_of_another_issuer) {
    person_answers({{"error", "call-this-number"}, {"iss", "https://evil.example"}});
    Method method(host);
    EXPECT_THAT(method.acquire(kMayAsk).error, Not(HasSubstr("call-this-number")));
}

TEST_F(SignIn, ends_when_the_person_says_no_or_nothing) {
    for (const auto status : {PATCHBAY_E_DENIED, PATCHBAY_E_TIMEOUT}) {
        host.person_says = status;
        Method method(host);
        EXPECT_EQ(method.acquire(kMayAsk).status, status);
    }
    EXPECT_TRUE(host.store.empty() || host.store["docs"].empty());
}

TEST_F(SignIn, needs_a_code) {
    person_answers({});
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_E_PROTOCOL);
}

TEST_F(SignIn, serves_this_process_when_the_login_cannot_be_stored) {
    host.put_fails = PATCHBAY_E_IO;
    host.store["docs"] = record(R"("refresh_token":"")");
    const auto before = host.store["docs"];
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).authorization, "Bearer access-1");
    EXPECT_THAT(host.logged, HasSubstr("the login is not kept"));
    EXPECT_THAT(host.logged, HasSubstr("made to fail"));
    EXPECT_EQ(host.store["docs"], before);
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer access-1");
}

TEST_F(SignIn, uses_no_login_of_another_server_issuer_or_client) {
    const std::pair<const char*, const char*> cases[] = {
        {R"("server_url":"https://other.example/mcp")", "{}"},
        {"", R"({"issuer":"https://another.example"})"},
        {"", R"({"client_id":"another"})"},
        {"", R"({"token_url":"https://another.example/token"})"}};
    for (const auto& [members, config] : cases) {
        host.store["docs"] = record(members);
        Method method(host, config);
        EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_E_AUTH) << members << config;
        EXPECT_TRUE(host.asked.empty());
    }
}

TEST_F(SignIn, leaves_a_record_with_all_that_renewing_and_revoking_need) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{200, token("access-1", R"("scope":"less")"), {}, PATCHBAY_OK};
    };
    Method method(host);
    method.acquire(kMayAsk, R"(Bearer scope="mail")");
    const auto kept = stored(host);
    EXPECT_EQ(kept.needed_text("token_type"), "Bearer");
    EXPECT_EQ(kept.needed_text("scope"), "less");
    EXPECT_EQ(kept.needed_text("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(kept.needed_text("token_endpoint"), kToken);
    EXPECT_EQ(kept.needed_text("revocation_endpoint"), "https://as.example/revoke");
    EXPECT_EQ(kept.needed_text("token_endpoint_auth_method"), "none");
    EXPECT_EQ(kept.find("obtained_at")->number, 1'800'000'000.0);
    EXPECT_EQ(kept.find("expires_at")->number, 0.0) << "no life was told";
    EXPECT_FALSE(kept.has("refresh_token") || kept.has("dpop_key") || kept.has("client_secret"));
}

TEST_F(SignIn, is_not_advised_to_who_is_forbidden_and_asked_for_no_token) {
    host.pages.clear();
    Method method(host);
    const auto outcome = method.acquire(kQuiet, "Basic realm=\"x\"", 403);
    EXPECT_THAT(outcome.error, AllOf(HasSubstr("the server forbids it and offers no sign-in"),
                                     Not(HasSubstr("mcp login"))));
}

TEST_F(SignIn, is_not_looked_for_where_it_is_known_to_be) {
    const std::tuple<const char*, std::uint32_t, const char*> cases[] = {
        {"{}", 403, "Bearer"},
        {"{}", 401, R"(Bearer resource_metadata="https://mcp.example/m")"},
        {R"({"issuer":"https://as.example"})", 401, "Bearer"},
        {R"({"authorization_url":"https://as.example/a"})", 401, "Bearer"},
        {R"({"token_url":"https://as.example/t"})", 401, "Bearer"}};
    host.pages.clear();
    for (const auto& [config, status, challenge] : cases) {
        Method method(host, config);
        const auto outcome = method.acquire(kQuiet, challenge, status);
        EXPECT_EQ(outcome.error, "sign in with: patchbay mcp login docs") << config << challenge;
    }
    host.store["docs"] = record(R"("refresh_token":"","expires_at":1799999999)");
    Method known(host);
    EXPECT_THAT(known.acquire(kQuiet, "Bearer").error,
                HasSubstr("; sign in with: patchbay mcp login docs"));
    EXPECT_TRUE(host.asked.empty());
}

TEST_F(SignIn, that_fails_at_the_network_may_go_well_another_time) {
    const std::pair<patchbay_status, std::uint32_t> cases[] = {
        {PATCHBAY_E_IO, PATCHBAY_ERR_RETRYABLE},
        {PATCHBAY_E_TIMEOUT, PATCHBAY_ERR_RETRYABLE},
        {PATCHBAY_E_LIMIT, 0}};
    for (const auto& [failure, flags] : cases) {
        host.pages[kMetadata] = [failed = failure](const Asked&) {
            return Answer{0, "", {}, failed};
        };
        Method method(host);
        const auto outcome = method.acquire(kMayAsk);
        EXPECT_EQ(outcome.status, failure);
        EXPECT_EQ(outcome.flags, flags) << failure;
        EXPECT_EQ(outcome.error, std::string(kMetadata) + ": made to fail");
    }
}

TEST_F(SignIn, is_over_when_the_store_cannot_be_read) {
    host.get_fails = PATCHBAY_E_IO;
    Method method(host);
    const auto outcome = method.acquire(kSignIn);
    EXPECT_EQ(outcome.status, PATCHBAY_E_IO);
    EXPECT_EQ(outcome.error, "the stored login cannot be read: made to fail");
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(SignIn, is_kept_though_another_process_holds_the_lock) {
    host.lock_fails = PATCHBAY_E_TIMEOUT;
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    EXPECT_EQ(stored(host).needed_text("access_token"), "access-1");
    EXPECT_EQ(host.lock_timeout_ms, 30'000u);
}

TEST_F(SignIn, warns_of_what_is_not_kept_and_names_the_server) {
    host.put_fails = PATCHBAY_E_IO;
    Method method(host);
    method.acquire(kSignIn);
    EXPECT_EQ(host.log_level, 3);
    EXPECT_EQ(host.log_server, "docs");
    host.put_fails = PATCHBAY_OK;
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    host.store["docs"] = record(R"("access_token":"of-another")");
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer of-another")
        << "what is stored counts again";
}

TEST_F(SignIn, keeps_the_query_of_the_page_it_leads_to) {
    metadata(R"("authorization_endpoint":"https://as.example/authorize?tenant=7")");
    Method method(host);
    method.acquire(kMayAsk);
    EXPECT_THAT(host.browsed.back(),
                ::testing::StartsWith("https://as.example/authorize?tenant=7&response_type=code"));
    EXPECT_FALSE(only(shown(), "prompt"));
    EXPECT_FALSE(only(shown(), "dpop_jkt"));
}

TEST_F(SignIn, does_not_lead_to_a_page_that_says_itself_what_is_ours_to_say) {
    for (const char* name : {"state", "redirect_uri", "code_challenge", "%73tate"}) {
        metadata(R"("authorization_endpoint":"https://as.example/authorize?a=1&)" +
                 std::string(name) + R"(=theirs")");
        Method method(host);
        const auto outcome = method.acquire(kMayAsk);
        EXPECT_EQ(outcome.status, PATCHBAY_E_PROTOCOL) << name;
        EXPECT_THAT(outcome.error, HasSubstr("which is ours to say"));
        EXPECT_TRUE(host.browsed.empty());
    }
}

TEST_F(SignIn, is_refused_in_the_words_of_the_authorization_server) {
    person_answers({{"error", "server_error"}});
    Method method(host);
    const auto outcome = method.acquire(kMayAsk);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, ::testing::EndsWith("refused the sign-in with server_error"));
    person_answers({{"code", ""}});
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_E_PROTOCOL);
}

}  // namespace
}  // namespace patchbay::oauth::test
