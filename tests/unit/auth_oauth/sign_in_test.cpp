// A person signs in: from the first challenge to the grant, and every way it must not go.
#include "crypto.hpp"
#include "fake_host.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kQuiet = PATCHBAY_AUTH_QUIET;
constexpr auto kMayAsk = PATCHBAY_AUTH_MAY_ASK;
constexpr auto kSignIn = PATCHBAY_AUTH_SIGN_IN;
constexpr auto kToken = "https://as.example/token";
constexpr auto kRegister = "https://as.example/register";
constexpr auto kMetadata = "https://as.example/.well-known/oauth-authorization-server";

struct SignIn : ::testing::Test {
    FakeHost host;
    SignIn() { serve_usual(host); }

    Form shown() const {
        const auto& url = host.browsed.back();
        return form_decode(std::string_view(url).substr(url.find('?') + 1));
    }
    std::string shown(const std::string& name) const {
        return only(shown(), name).value_or("(none)");
    }
    void metadata(const std::string& more) {
        host.pages[kMetadata] = [more](const Asked&) {
            return Answer{200, usual_metadata(more), {}, PATCHBAY_OK};
        };
    }
    void person_answers(Form answer) {
        host.person = [answer](const Form& query) {
            auto all = answer;
            all.emplace_back("state", *only(query, "state"));
            return form_encode(all);
        };
    }
};

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

// ---- scope ----

TEST_F(SignIn, asks_for_the_scope_of_the_challenge_first) {
    Method method(host, R"({"scope":"settings"})");
    method.acquire(kMayAsk, R"(Bearer scope="files:read mail")");
    EXPECT_EQ(shown("scope"), "files:read mail");
}

TEST_F(SignIn, asks_for_the_scope_of_the_settings_next) {
    Method method(host, R"({"scope":["a","b"]})");
    method.acquire(kMayAsk, "Bearer");
    EXPECT_EQ(shown("scope"), "a b");
}

TEST_F(SignIn, asks_for_the_published_scopes_last) {
    host.pages["https://mcp.example/.well-known/oauth-protected-resource/mcp"] = [](const Asked&) {
        return Answer{200,
                      R"({"resource":"https://mcp.example/mcp","scopes_supported":["p","q"],
                          "authorization_servers":["https://as.example"]})",
                      {},
                      PATCHBAY_OK};
    };
    Method method(host);
    method.acquire(kMayAsk);
    EXPECT_EQ(shown("scope"), "p q");
}

TEST_F(SignIn, asks_for_what_the_person_named_whatever_the_server_says) {
    Method method(host);
    method.acquire(kSignIn, R"(Bearer scope="mail")", 401, "wanted");
    EXPECT_EQ(shown("scope"), "wanted");
}

TEST_F(SignIn, adds_offline_access_only_where_it_is_offered) {
    metadata(R"("scopes_supported":["mail","offline_access"])");
    Method method(host);
    method.acquire(kMayAsk, R"(Bearer scope="mail")");
    EXPECT_EQ(shown("scope"), "mail offline_access");
    EXPECT_EQ(shown("prompt"), "consent");
}

TEST_F(SignIn, steps_up_to_the_union_of_old_and_new_scope) {
    host.store["docs"] = record("");
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).authorization, "Bearer old-access");
    const auto challenge = R"(Bearer error="insufficient_scope", scope="write")";
    EXPECT_EQ(method.acquire(kMayAsk, challenge, 403).authorization, "Bearer access-1");
    EXPECT_EQ(shown("scope"), "read write");
    EXPECT_EQ(host.last(kToken).field("grant_type"), "authorization_code");
}

TEST_F(SignIn, does_not_step_up_when_nobody_may_be_asked) {
    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kQuiet);
    const auto outcome =
        method.acquire(kQuiet, R"(Bearer error="insufficient_scope", scope="write")", 403);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("patchbay mcp login docs --scope \"read write\""));
}

TEST_F(SignIn, gives_up_after_three_logins_for_one_demand) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{200, token("access-1"), {}, PATCHBAY_OK};
    };
    Method method(host);
    const auto challenge = R"(Bearer error="insufficient_scope", scope="admin")";
    EXPECT_EQ(method.acquire(kMayAsk, R"(Bearer scope="admin")").status, PATCHBAY_OK);
    EXPECT_EQ(method.acquire(kMayAsk, challenge, 403).status, PATCHBAY_OK);
    EXPECT_EQ(method.acquire(kMayAsk, challenge, 403).status, PATCHBAY_OK);
    const auto outcome = method.acquire(kMayAsk, challenge, 403);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("after 3 logins"));
    EXPECT_EQ(host.browsed.size(), 3u);
    EXPECT_EQ(method.acquire(kSignIn, challenge, 403).status, PATCHBAY_OK) << "a person insists";
}

// ---- clients ----

TEST_F(SignIn, registers_as_a_native_application) {
    Method method(host);
    method.acquire(kMayAsk, R"(Bearer scope="mail")");
    const auto asked = Document::parse(host.last(kRegister).body, "registration");
    EXPECT_EQ(asked.needed_text("application_type"), "native");
    EXPECT_EQ(asked.needed_text("client_name"), "Patchbay");
    EXPECT_EQ(asked.needed_text("scope"), "mail");
    EXPECT_EQ(asked.needed_text("token_endpoint_auth_method"), "none");
    EXPECT_EQ(asked.texts("redirect_uris")->front(), "http://127.0.0.1:43210/callback");
    EXPECT_THAT(*asked.texts("grant_types"),
                ::testing::ElementsAre("authorization_code", "refresh_token"));
}

TEST_F(SignIn, comes_back_as_the_client_it_registered_before) {
    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kSignIn);
    EXPECT_EQ(host.count("POST", kRegister), 0);
    EXPECT_EQ(shown("client_id"), "old-client");
    EXPECT_EQ(shown("redirect_uri"), "http://127.0.0.1:5555/callback");
}

TEST_F(SignIn, registers_anew_when_its_port_is_taken) {
    host.store["docs"] = record("");
    host.taken_port = 5555;
    Method method(host);
    method.acquire(kSignIn);
    EXPECT_EQ(shown("client_id"), "made-client");
}

TEST_F(SignIn, shows_nothing_of_one_issuer_to_another) {
    host.store["docs"] =
        record(R"("issuer":"https://former.example","client_secret":"former-secret")");
    Method method(host);
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer old-access");
    host.store["docs"] =
        record(R"("issuer":"https://former.example","refresh_token":"","scope":"former")");
    EXPECT_EQ(method.acquire(kMayAsk, "Bearer scope=\"mail\"").authorization, "Bearer access-1");
    for (const auto& asked : host.asked) {
        EXPECT_THAT(asked.body, Not(HasSubstr("old-"))) << asked.url;
        EXPECT_THAT(asked.body, Not(HasSubstr("former"))) << asked.url;
    }
    EXPECT_THAT(host.browsed.back(), Not(HasSubstr("former")));
}

TEST_F(SignIn, registers_anew_once_when_the_server_forgot_the_client) {
    host.store["docs"] = record("");
    host.pages[kToken] = [](const Asked& asked) {
        if (asked.field("client_id") == "old-client")
            return Answer{401, R"({"error":"invalid_client"})", {}, PATCHBAY_OK};
        return Answer{200, token("access-2"), {}, PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).authorization, "Bearer access-2");
    EXPECT_EQ(host.browsed.size(), 2u);
    EXPECT_EQ(host.count("POST", kRegister), 1);
}

TEST_F(SignIn, does_not_register_for_ever) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{401, R"({"error":"invalid_client"})", {}, PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_THAT(method.acquire(kSignIn).error, HasSubstr("invalid_client"));
    EXPECT_EQ(host.browsed.size(), 2u);
}

TEST_F(SignIn, uses_the_configured_client_before_all_others) {
    metadata(R"("token_endpoint_auth_methods_supported":["client_secret_basic"])");
    Method method(
        host,
        R"({"client_id":"my client","client_secret":"s+/","client_metadata_url":"https://x.example/c"})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_EQ(shown("client_id"), "my client");
    EXPECT_EQ(host.last(kToken).header("Authorization"), "Basic " + base64("my%20client:s%2B%2F"));
    EXPECT_EQ(host.last(kToken).field("client_secret"), "(none)");
    EXPECT_FALSE(stored(host).has("client_secret")) << "the settings have it";
}

TEST_F(SignIn, sends_the_secret_in_the_body_where_that_is_wanted) {
    metadata(R"("token_endpoint_auth_methods_supported":["client_secret_post"])");
    host.pages[kRegister] = [](const Asked&) {
        return Answer{
            201, R"({"client_id":"c","client_secret":"registered-secret"})", {}, PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("client_secret"), "registered-secret");
    EXPECT_EQ(host.last(kToken).header("Authorization"), "(none)");
    EXPECT_THAT(host.masked, HasSubstr("registered-secret\n"));
}

TEST_F(SignIn, is_known_by_its_metadata_document_where_that_is_supported) {
    metadata(R"("client_id_metadata_document_supported":true)");
    Method method(host, R"({"client_metadata_url":"https://patchbay.example/client.json"})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_EQ(shown("client_id"), "https://patchbay.example/client.json");
    EXPECT_EQ(host.count("POST", kRegister), 0);
}

TEST_F(SignIn, says_to_set_client_id_when_there_is_no_other_way) {
    metadata(R"("registration_endpoint":null)");
    Method method(host);
    EXPECT_THAT(method.acquire(kMayAsk).error, HasSubstr("set \"client_id\""));
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(SignIn, tells_why_a_registration_failed) {
    host.pages[kRegister] = [](const Asked&) {
        return Answer{400,
                      R"({"error":"invalid_redirect_uri","error_description":"no http"})",
                      {},
                      PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_THAT(method.acquire(kMayAsk).error, HasSubstr("invalid_redirect_uri no http"));
}

// ---- the store ----

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

TEST_F(SignIn, is_forgotten_with_a_revocation) {
    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kQuiet);
    method.forget();
    host.run();
    EXPECT_EQ(host.store["docs"], "");
    const auto& asked = host.last("https://as.example/revoke");
    EXPECT_EQ(asked.field("token"), "old-refresh");
    EXPECT_EQ(asked.field("client_id"), "old-client");
    EXPECT_EQ(asked.timeout_ms, 5000u);
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_E_AUTH);
}

TEST_F(SignIn, is_forgotten_though_the_revocation_fails) {
    host.store["docs"] = record("");
    host.pages["https://as.example/revoke"] = [](const Asked&) {
        return Answer{0, "", {}, PATCHBAY_E_TIMEOUT};
    };
    Method method(host);
    method.forget();
    host.run();
    EXPECT_EQ(host.store["docs"], "");
    EXPECT_THAT(host.logged, HasSubstr("not revoked"));
}

}  // namespace
}  // namespace patchbay::oauth::test
