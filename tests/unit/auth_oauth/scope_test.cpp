// How much a person is asked to grant, and how often.
#include "sign_in.hpp"

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(SignIn, keeps_the_scope_when_more_is_demanded_without_saying_what) {
    host.store["docs"] = record("");
    Method method(host, R"({"scope":"settings"})");
    method.acquire(kQuiet);
    EXPECT_EQ(method.acquire(kMayAsk, R"(Bearer error="insufficient_scope")", 403).authorization,
              "Bearer access-1");
    EXPECT_EQ(shown("scope"), "read");
}

TEST_F(SignIn, is_not_asked_for_again_what_the_login_covers) {
    host.store["docs"] = record(R"("scope":"read write")");
    Method method(host);
    const auto challenge = R"(Bearer error="insufficient_scope", scope="write")";
    EXPECT_EQ(method.acquire(kQuiet, challenge, 403).authorization, "Bearer old-access")
        << "another token was refused, not this one";
    EXPECT_EQ(method.acquire(kQuiet, challenge, 403).status, PATCHBAY_E_AUTH) << "now this one";
}

TEST_F(SignIn, is_needed_for_a_scope_that_the_login_does_not_cover) {
    host.store["docs"] = record("");
    Method method(host);
    EXPECT_EQ(method.acquire(kQuiet, "", 401, "read").authorization, "Bearer old-access");
    EXPECT_EQ(method.acquire(kQuiet, "", 401, "read write").status, PATCHBAY_E_AUTH);
    EXPECT_EQ(method.acquire(kMayAsk, "", 401, "read write").authorization, "Bearer access-1");
    EXPECT_EQ(shown("scope"), "read write");
}

TEST_F(SignIn, keeps_what_was_asked_for_when_the_answer_names_no_scope) {
    Method method(host);
    method.acquire(kMayAsk, R"(Bearer scope="mail")");
    EXPECT_EQ(stored(host).needed_text("scope"), "mail");
}

TEST_F(SignIn, asks_for_offline_access_once_and_only_beside_another_scope) {
    metadata(R"("scopes_supported":["mail","offline_access"])");
    Method method(host);
    method.acquire(kMayAsk);
    EXPECT_EQ(shown("scope"), "(none)");
    method.acquire(kSignIn, "", 401, "offline_access mail");
    EXPECT_EQ(shown("scope"), "offline_access mail");
}

TEST_F(SignIn, counts_the_logins_of_each_demand_for_ten_minutes) {
    host.pages[kToken] = [](const Asked&) {
        return Answer{200, token("access-1"), {}, PATCHBAY_OK};
    };
    const auto challenge = [](const std::string& scope) {
        return "Bearer error=\"insufficient_scope\", scope=\"" + scope + "\"";
    };
    Method method(host);
    const auto status = [&](const std::string& scope) {
        return method.acquire(kMayAsk, challenge(scope), 403).status;
    };
    for (int i = 0; i < 3; ++i) EXPECT_EQ(status("admin"), PATCHBAY_OK);
    EXPECT_EQ(status("other"), PATCHBAY_OK) << "another demand";
    host.now_ms += 600'000;
    EXPECT_EQ(status("admin"), PATCHBAY_E_AUTH);
    EXPECT_THAT(method.outcome.error, HasSubstr("for the same scope \"admin\"; check"));
    host.now_ms += 1000;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(status("admin"), PATCHBAY_OK) << "forgotten by now";
    EXPECT_EQ(status("admin"), PATCHBAY_E_AUTH);
}

}  // namespace
}  // namespace patchbay::oauth::test
