// Which client Patchbay is at an authorization server: configured, registered before, registered now.
#include "sign_in.hpp"

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
    refuse_where("client_id", "old-client", 401, "invalid_client", "access-2");
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

TEST_F(SignIn, registers_without_a_scope_where_scopes_are_refused) {
    host.pages[kRegister] = [](const Asked& asked) {
        const bool scoped = Document::parse(asked.body, "registration").has("scope");
        return scoped ? Answer{400, R"({"error":"invalid_client_metadata"})", {}, PATCHBAY_OK}
                      : Answer{200, R"({"client_id":"made-client"})", {}, PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk, R"(Bearer scope="mail")").status, PATCHBAY_OK);
    EXPECT_EQ(host.count("POST", kRegister), 2);
    EXPECT_EQ(shown("scope"), "mail") << "it is said here all the same";
}

TEST_F(SignIn, repeats_no_registration_that_another_scope_would_not_mend) {
    const std::pair<std::uint32_t, const char*> cases[] = {{400, "Bearer"},
                                                           {401, R"(Bearer scope="mail")"}};
    for (const auto& [status, challenge] : cases) {
        host.asked.clear();
        host.pages[kRegister] = [answered = status](const Asked&) {
            return Answer{answered, "<html>", {}, PATCHBAY_OK};
        };
        Method method(host);
        const auto outcome = method.acquire(kMayAsk, challenge);
        EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
        EXPECT_EQ(outcome.flags, 0u);
        EXPECT_THAT(outcome.error, HasSubstr("answered " + std::to_string(status) +
                                             " and did not say why; register by hand"));
        EXPECT_EQ(host.count("POST", kRegister), 1);
    }
}

TEST_F(SignIn, registers_another_time_when_the_server_is_broken_now) {
    host.pages[kRegister] = [](const Asked&) {
        return Answer{500, R"({"error":"unquoted"})", {}, PATCHBAY_OK};
    };
    Method method(host);
    const auto outcome = method.acquire(kMayAsk);
    EXPECT_EQ(outcome.status, PATCHBAY_E_IO);
    EXPECT_EQ(outcome.flags, std::uint32_t{PATCHBAY_ERR_RETRYABLE});
    EXPECT_THAT(outcome.error, HasSubstr("answered 500;"));
}

TEST_F(SignIn, registers_with_the_way_to_authenticate_that_the_server_takes) {
    const std::tuple<const char*, const char*, const char*> cases[] = {
        {R"(["client_secret_post"])", "{}", "client_secret_post"},
        {R"(["client_secret_post","client_secret_basic"])", "{}", "client_secret_basic"},
        {R"(["tls_client_auth"])", "{}", "none"},
        {"null", "{}", "none"},
        {R"(["none"])", R"({"token_endpoint_auth_method":"client_secret_post"})",
         "client_secret_post"}};
    for (const auto& [listed, config, method] : cases) {
        metadata("\"token_endpoint_auth_methods_supported\":" + std::string(listed));
        host.store["docs"] = "";
        Method fresh(host, config);
        fresh.acquire(kMayAsk);
        EXPECT_EQ(Document::parse(host.last(kRegister).body, "registration")
                      .needed_text("token_endpoint_auth_method"),
                  method)
            << listed;
    }
}

TEST_F(SignIn, authenticates_as_its_registration_says) {
    host.pages[kRegister] = [](const Asked&) {
        return Answer{201,
                      R"({"client_id":"c","client_secret":"given",
                          "token_endpoint_auth_method":"client_secret_post"})",
                      {},
                      PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("client_secret"), "given");
    EXPECT_EQ(stored(host).needed_text("client_secret"), "given");
    EXPECT_EQ(stored(host).needed_text("token_endpoint_auth_method"), "client_secret_post");
    host.now_ms += 4'000'000;
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("grant_type"), "refresh_token");
    EXPECT_EQ(host.last(kToken).field("client_secret"), "given");
}

TEST_F(SignIn, registers_once_though_the_first_one_came_to_nothing) {
    host.person_says = PATCHBAY_E_DENIED;
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_E_DENIED);
    host.person_says = PATCHBAY_OK;
    host.free_port = 43211;
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    EXPECT_EQ(host.count("POST", kRegister), 1);
    EXPECT_EQ(shown("redirect_uri"), "http://127.0.0.1:43210/callback") << "as it registered";
}

TEST_F(SignIn, registers_anew_after_a_logout) {
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    method.forget();
    host.run();
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    EXPECT_EQ(host.count("POST", kRegister), 2);
}

TEST_F(SignIn, comes_back_to_the_port_of_the_settings_alone) {
    host.store["docs"] = record("");
    Method method(host, R"({"callback_port":6000})");
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    EXPECT_EQ(shown("redirect_uri"), "http://127.0.0.1:6000/callback");
    EXPECT_EQ(shown("client_id"), "made-client") << "the old one is known with another redirect";
    host.taken_port = 6000;
    const auto outcome = method.acquire(kSignIn);
    EXPECT_EQ(outcome.status, PATCHBAY_E_IO);
    EXPECT_EQ(outcome.error, "no browser sign-in is possible: made to fail");
}

TEST_F(SignIn, keeps_no_redirect_of_a_client_that_it_did_not_register) {
    Method method(host, R"({"client_id":"c"})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_FALSE(stored(host).has("redirect_uri"));
    EXPECT_EQ(host.count("POST", kRegister), 0);
    EXPECT_EQ(host.last(kToken).field("client_id"), "c");
}

TEST_F(SignIn, has_no_metadata_document_where_that_is_not_supported) {
    Method method(host, R"({"client_metadata_url":"https://patchbay.example/client.json"})");
    EXPECT_EQ(method.acquire(kMayAsk).status, PATCHBAY_OK);
    EXPECT_EQ(shown("client_id"), "made-client");
}

TEST_F(SignIn, does_not_register_in_place_of_a_client_that_is_configured) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{401, R"({"error":"invalid_client"})", {}, PATCHBAY_OK};
    };
    Method method(host, R"({"client_id":"c"})");
    EXPECT_THAT(method.acquire(kSignIn).error, HasSubstr("invalid_client"));
    EXPECT_EQ(host.browsed.size(), 1u);
    EXPECT_EQ(host.count("POST", kRegister), 0);
}

TEST_F(SignIn, asks_nobody_again_after_another_refusal_of_the_code) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{400, R"({"error":"invalid_grant"})", {}, PATCHBAY_OK};
    };
    Method method(host);
    EXPECT_THAT(method.acquire(kSignIn).error, HasSubstr("invalid_grant"));
    EXPECT_EQ(host.browsed.size(), 1u);
}

}  // namespace
}  // namespace patchbay::oauth::test
