// A stored login: used, renewed in time, shared among processes, and never thrown away lightly.
#include "sign_in.hpp"

#include <gmock/gmock.h>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kExpired = R"("expires_at":1799999999)";

struct Refresh : SignIn {
    void answer(Answer given) {
        host.pages[kToken] = [given](const Asked&) { return given; };
    }
    Method::Outcome quietly(const std::string& members) {
        host.store["docs"] = record(members);
        Method method(host);
        return method.acquire(kQuiet);
    }
};

TEST_F(Refresh, is_not_needed_for_a_token_that_lasts) {
    const auto outcome = quietly("");
    EXPECT_EQ(outcome.authorization, "Bearer old-access");
    EXPECT_EQ(outcome.expires_unix_ms, 1'800'003'600'000u);
    EXPECT_TRUE(host.asked.empty());
}

TEST_F(Refresh, happens_before_the_end) {
    EXPECT_EQ(quietly(R"("obtained_at":1799996420,"expires_at":1800000020)").authorization,
              "Bearer access-1");
    EXPECT_EQ(quietly(R"("obtained_at":1799999900,"expires_at":1800000020)").authorization,
              "Bearer old-access")
        << "of a short life a tenth is enough";
}

TEST_F(Refresh, sends_what_was_stored_and_stores_what_came) {
    EXPECT_EQ(quietly(kExpired).authorization, "Bearer access-1");
    const auto& asked = host.last(kToken);
    EXPECT_EQ(asked.field("grant_type"), "refresh_token");
    EXPECT_EQ(asked.field("refresh_token"), "old-refresh");
    EXPECT_EQ(asked.field("client_id"), "old-client");
    EXPECT_EQ(asked.field("resource"), "https://mcp.example/mcp");
    EXPECT_EQ(stored(host).needed_text("refresh_token"), "refresh-1");
    EXPECT_EQ(stored(host).needed_text("scope"), "read");
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Refresh, and_revocation_reach_a_configured_issuer_wherever_it_is) {
    host.store["docs"] = record(kExpired);
    Method method(host, R"({"issuer":"https://as.example"})");
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer access-1");
    EXPECT_EQ(host.last(kToken).beside, "");
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).beside, "");
    method.forget();
    host.run();
    EXPECT_EQ(host.last("https://as.example/revoke").beside, "");
}

TEST_F(Refresh, and_revocation_are_judged_when_the_server_named_the_issuer) {
    host.store["docs"] = record(kExpired);
    Method method(host);
    method.acquire(kQuiet);
    method.forget();
    host.run();
    EXPECT_EQ(host.last(kToken).beside, "https://mcp.example/mcp");
    EXPECT_EQ(host.last("https://as.example/revoke").beside, "https://mcp.example/mcp");
}

TEST_F(Refresh, shows_the_secret_of_the_settings_to_their_own_client_only) {
    host.store["docs"] =
        record(R"("token_endpoint_auth_method":"client_secret_post","issuer":"https://a.example")");
    const std::string configs[] = {
        R"({"client_id":"svc","client_secret":"the-secret"})",
        R"({"client_id":"old-client","client_secret":"the-secret","issuer":"https://b.example"})"};
    const auto before = host.store["docs"];
    for (const auto& config : configs) {
        host.store["docs"] = before;
        Method method(host, config);
        method.forget();
        host.run();
        EXPECT_THAT(host.last("https://as.example/revoke").body, Not(HasSubstr("the-secret")))
            << config;
    }
}

TEST_F(Refresh, that_was_refused_long_ago_does_not_count_when_a_later_token_is_refused) {
    int given = 0;
    host.pages[kToken] = [&given](const Asked&) {
        return Answer{
            200,
            token("renewed-" + std::to_string(++given), R"("refresh_token":"r","expires_in":3600)"),
            {},
            PATCHBAY_OK};
    };
    host.store["docs"] = record("");
    Method method(host);
    constexpr auto kRefused = R"(Bearer error="invalid_token")";
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer old-access");
    EXPECT_EQ(method.acquire(kQuiet, kRefused).authorization, "Bearer renewed-1");
    host.now_ms += 1'800'000;  // half its life: it has served
    EXPECT_EQ(method.acquire(kQuiet, kRefused).authorization, "Bearer renewed-2")
        << "a refusal of a token that has served is no reason for another sign-in";
    EXPECT_TRUE(host.browsed.empty());
}

TEST_F(Refresh, keeps_the_old_refresh_token_when_none_came) {
    answer({200, token("access-2", R"("expires_in":60)"), {}, PATCHBAY_OK});
    EXPECT_EQ(quietly(kExpired).authorization, "Bearer access-2");
    EXPECT_EQ(stored(host).needed_text("refresh_token"), "old-refresh");
}

TEST_F(Refresh, follows_a_refusal_of_the_token_in_use) {
    host.store["docs"] = record("");
    Method method(host);
    EXPECT_EQ(method.acquire(kQuiet, "Bearer").authorization, "Bearer old-access")
        << "it was not tried yet";
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer error="invalid_token")").authorization,
              "Bearer access-1");
    const auto outcome = method.acquire(kQuiet, R"(Bearer error="invalid_token")");
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH) << "a fresh one was refused too: another will be";
    EXPECT_EQ(host.count("POST", kToken), 1);
}

TEST_F(Refresh, takes_what_another_process_fetched_meanwhile) {
    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kQuiet);
    host.while_locking = [&] { host.store["docs"] = record(R"("access_token":"of-another")"); };
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer error="invalid_token")").authorization,
              "Bearer of-another");
    EXPECT_EQ(host.count("POST", kToken), 0);
}

TEST_F(Refresh, takes_what_another_process_has_stored_already) {
    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kQuiet);
    host.store["docs"] = record(R"("access_token":"of-another")");
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer error="invalid_token")").authorization,
              "Bearer of-another");
    EXPECT_TRUE(host.asked.empty());
}

TEST_F(Refresh, ends_the_login_only_on_invalid_grant) {
    answer({400, R"({"error":"invalid_grant"})", {}, PATCHBAY_OK});
    const auto outcome = quietly(kExpired);
    EXPECT_EQ(outcome.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(outcome.error, HasSubstr("invalid_grant"));
    EXPECT_THAT(outcome.error, HasSubstr("sign in with: patchbay mcp login docs"));
    EXPECT_FALSE(stored(host).has("refresh_token"));
    EXPECT_EQ(stored(host).needed_text("ended"), "invalid_grant");
    EXPECT_EQ(stored(host).needed_text("client_id"), "old-client") << "the registration stays";
}

TEST_F(Refresh, keeps_the_login_through_every_other_trouble) {
    const Answer troubles[] = {{0, "", {}, PATCHBAY_E_IO},
                               {0, "", {}, PATCHBAY_E_TIMEOUT},
                               {503, R"({"error":"invalid_grant"})", {}, PATCHBAY_OK},
                               {400, "<html>", {}, PATCHBAY_OK},
                               {429, "{}", {}, PATCHBAY_OK}};
    for (const auto& trouble : troubles) {
        answer(trouble);
        const auto outcome = quietly(kExpired);
        EXPECT_NE(outcome.status, PATCHBAY_OK);
        EXPECT_TRUE(outcome.flags & PATCHBAY_ERR_RETRYABLE) << outcome.error;
        EXPECT_THAT(outcome.error, HasSubstr(kToken));
        EXPECT_EQ(stored(host).needed_text("refresh_token"), "old-refresh");
    }
}

TEST_F(Refresh, keeps_the_login_when_the_answer_is_no_json) {
    answer({200, "<html>maintenance</html>", {}, PATCHBAY_OK});
    EXPECT_EQ(quietly(kExpired).status, PATCHBAY_E_PROTOCOL);
    EXPECT_EQ(stored(host).needed_text("refresh_token"), "old-refresh");
}

TEST_F(Refresh, uses_the_token_to_its_very_end_when_no_other_is_to_be_had) {
    answer({0, "", {}, PATCHBAY_E_IO});
    EXPECT_EQ(quietly(R"("obtained_at":1799990000,"expires_at":1800000020)").authorization,
              "Bearer old-access");
}

TEST_F(Refresh, is_stored_before_it_is_given_out_and_serves_though_it_cannot_be) {
    host.put_fails = PATCHBAY_E_IO;
    host.store["docs"] = record(kExpired);
    Method method(host);
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer access-1");
    EXPECT_THAT(host.logged, HasSubstr("the login is not kept"));
    EXPECT_EQ(stored(host).needed_text("refresh_token"), "old-refresh");
    host.now_ms += 4'000'000;
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_OK);
    EXPECT_EQ(host.last(kToken).field("refresh_token"), "refresh-1") << "the newest is used";
}

TEST_F(Refresh, leads_to_the_browser_when_the_login_has_ended) {
    host.store["docs"] = record(kExpired);
    refuse_where("grant_type", "refresh_token", 400, "invalid_grant", "new");
    Method method(host);
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_MAY_ASK).authorization, "Bearer new");
    EXPECT_EQ(host.browsed.size(), 1u);
    EXPECT_FALSE(stored(host).has("ended"));
}

TEST_F(Refresh, leads_to_another_client_when_this_one_is_not_known_any_more) {
    host.store["docs"] = record(kExpired);
    refuse_where("client_id", "old-client", 401, "invalid_client", "new");
    Method method(host);
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_E_AUTH);
    EXPECT_EQ(stored(host).needed_text("refresh_token"), "old-refresh");
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_MAY_ASK).authorization, "Bearer new");
    EXPECT_EQ(host.browsed.size(), 1u);
}

TEST_F(Refresh, is_not_possible_with_a_record_that_cannot_be_read) {
    for (const char* broken :
         {"{", "[]", R"({"access_token":7})", R"({"access_token":"bound","token_type":"DPoP"})"}) {
        host.store["docs"] = broken;
        Method method(host);
        EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_E_AUTH);
    }
}

TEST_F(Refresh, takes_all_that_the_answer_changes) {
    answer({200, token("access-2", R"("scope":"less","token_type":"bearer")"), {}, PATCHBAY_OK});
    const auto outcome = quietly(kExpired);
    EXPECT_EQ(outcome.authorization, "Bearer access-2");
    EXPECT_EQ(outcome.expires_unix_ms, 0u) << "no life was told";
    const auto kept = stored(host);
    EXPECT_EQ(kept.needed_text("scope"), "less");
    EXPECT_EQ(kept.needed_text("token_type"), "bearer");
    EXPECT_EQ(kept.find("obtained_at")->number, 1'800'000'000.0);
    EXPECT_EQ(kept.find("expires_at")->number, 0.0);
    EXPECT_THAT(host.masked, HasSubstr("old-refresh\n"));
    EXPECT_THAT(host.masked, HasSubstr("access-2\n"));
}

TEST_F(Refresh, counts_the_life_of_the_new_token_from_now) {
    answer({200, token("access-2", R"("expires_in":60)"), {}, PATCHBAY_OK});
    EXPECT_EQ(quietly(kExpired).expires_unix_ms, 1'800'000'060'000u);
    EXPECT_EQ(stored(host).find("expires_at")->number, 1'800'000'060.0);
}

TEST_F(Refresh, is_tried_although_another_process_left_a_token_that_ends) {
    for (const char* left :
         {R"("access_token":"of-another","obtained_at":1799990000,"expires_at":1800000020)",
          R"("access_token":"")"}) {
        host.asked.clear();
        host.while_locking = [&] { host.store["docs"] = record(left); };
        EXPECT_EQ(quietly(kExpired).authorization, "Bearer access-1") << left;
        EXPECT_EQ(host.count("POST", kToken), 1) << left;
    }
}

TEST_F(Refresh, finds_out_that_another_process_signed_out) {
    for (const auto& left : {std::string(), record(R"("refresh_token":"","expires_at":1)")}) {
        host.while_locking = [&] { host.store["docs"] = left; };
        EXPECT_EQ(quietly(kExpired).status, PATCHBAY_E_AUTH);
        EXPECT_TRUE(host.asked.empty());
    }
}

TEST_F(Refresh, waits_for_another_process_and_says_so_when_it_does_not_end) {
    host.lock_fails = PATCHBAY_E_TIMEOUT;
    const auto outcome = quietly(kExpired);
    EXPECT_EQ(outcome.status, PATCHBAY_E_TIMEOUT);
    EXPECT_EQ(outcome.error,
              "another process of this user holds the login of this server: made to fail");
    EXPECT_EQ(quietly(R"("obtained_at":1799990000,"expires_at":1800000020)").authorization,
              "Bearer old-access")
        << "while the old one lasts nobody has to wait";
}

TEST_F(Refresh, that_ends_the_login_leaves_the_token_that_still_lasts) {
    answer({400, R"({"error":"invalid_grant"})", {}, PATCHBAY_OK});
    const auto ending = R"("obtained_at":1799990000,"expires_at":1800000020)";
    EXPECT_EQ(quietly(ending).authorization, "Bearer old-access");
    EXPECT_EQ(stored(host).needed_text("access_token"), "old-access");
    EXPECT_FALSE(stored(host).has("refresh_token"));

    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kQuiet);
    EXPECT_EQ(method.acquire(kQuiet, R"(Bearer error="invalid_token")").status, PATCHBAY_E_AUTH);
    EXPECT_FALSE(stored(host).has("access_token")) << "the server refused it";
    quietly(kExpired);
    EXPECT_FALSE(stored(host).has("access_token")) << "it has ended";
}

TEST_F(Refresh, is_not_repeated_for_a_token_that_another_sign_in_brought) {
    host.store["docs"] = record("");
    Method method(host);
    constexpr auto kRefused = R"(Bearer error="invalid_token")";
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer old-access");
    host.now_ms += 3'590'000;
    EXPECT_EQ(method.acquire(kQuiet).authorization, "Bearer access-1") << "in time, not refused";
    host.pages[kToken] = [](const Asked&) {
        return Answer{
            200, token("access-2", R"("refresh_token":"r","expires_in":3600)"), {}, PATCHBAY_OK};
    };
    EXPECT_EQ(method.acquire(kQuiet, kRefused).authorization, "Bearer access-2")
        << "the first refusal of a token that was renewed in time";
    EXPECT_EQ(method.acquire(kQuiet, kRefused).status, PATCHBAY_E_AUTH);
}

}  // namespace
}  // namespace patchbay::oauth::test
