// Signing out.
#include "sign_in.hpp"

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(SignIn, is_forgotten_and_a_person_told_that_the_server_did_not_revoke_it) {
    host.store["docs"] = record("");
    host.pages["https://as.example/revoke"] = [](const Asked&) { return Answer{500, "", {}}; };
    Method method(host);
    method.forget();
    host.run();
    EXPECT_EQ(host.store["docs"], "");
    EXPECT_THAT(host.logged, HasSubstr("erased but not revoked: https://as.example/revoke: the "
                                       "authorization server answered 500"));
}

TEST_F(SignIn, is_forgotten_with_the_access_token_when_there_is_no_other) {
    host.store["docs"] = record(R"("refresh_token":"")");
    Method method(host);
    method.forget();
    host.run();
    const auto& asked = host.last("https://as.example/revoke");
    EXPECT_EQ(asked.field("token"), "old-access");
    EXPECT_EQ(asked.field("token_type_hint"), "access_token");
    EXPECT_THAT(host.masked, HasSubstr("old-access\n")) << "before it is sent";
}

TEST_F(SignIn, is_forgotten_by_the_renewable_token_first) {
    host.store["docs"] = record("");
    Method method(host);
    method.forget();
    host.run();
    EXPECT_EQ(host.last("https://as.example/revoke").field("token_type_hint"), "refresh_token");
    EXPECT_EQ(host.logged, "");
}

TEST_F(SignIn, is_forgotten_where_nothing_can_be_revoked) {
    for (const auto& before :
         {std::string("{broken"), std::string(), record(R"("revocation_endpoint":null)")}) {
        EXPECT_EQ(host.logged, "") << "what was no login";
        host.store["docs"] = before;
        Method method(host);
        method.forget();
        host.run();
        EXPECT_EQ(host.store["docs"], "");
        EXPECT_TRUE(host.asked.empty());
    }
    EXPECT_THAT(host.logged, HasSubstr("names no way to revoke its tokens"));
}

TEST_F(SignIn, is_forgotten_though_the_store_never_took_it) {
    host.put_fails = PATCHBAY_E_IO;
    Method method(host);
    EXPECT_EQ(method.acquire(kSignIn).status, PATCHBAY_OK);
    host.put_fails = PATCHBAY_OK;
    method.forget();
    host.run();
    EXPECT_EQ(host.last("https://as.example/revoke").field("token"), "refresh-1");
    EXPECT_EQ(method.acquire(kQuiet).status, PATCHBAY_E_AUTH);
}

TEST_F(SignIn, is_forgotten_or_a_person_is_told_that_it_is_not) {
    host.store["docs"] = record("");
    host.put_fails = PATCHBAY_E_IO;
    Method method(host);
    method.forget();
    host.run();
    EXPECT_THAT(host.logged,
                HasSubstr("the login is not erased: the login cannot be stored: made"));
    host.put_fails = PATCHBAY_OK;
    host.get_fails = PATCHBAY_E_IO;
    method.forget();
    host.run();
    EXPECT_THAT(host.logged, HasSubstr("the login is not erased: the stored login cannot be read"));
}

TEST_F(SignIn, is_forgotten_before_what_is_asked_for_next) {
    host.store["docs"] = record("");
    Method method(host);
    method.forget();
    method.begin(kQuiet);
    host.run();
    EXPECT_EQ(method.outcome.status, PATCHBAY_E_AUTH);
}

TEST_F(SignIn, is_forgotten_with_the_refusals_of_its_token) {
    host.store["docs"] = record("");
    Method method(host);
    method.acquire(kQuiet);
    method.forget();
    host.run();
    host.store["docs"] = record("");
    EXPECT_EQ(method.acquire(kQuiet, "Bearer").authorization, "Bearer old-access")
        << "signed in elsewhere meanwhile: nobody has shown that token yet";
}

}  // namespace
}  // namespace patchbay::oauth::test
