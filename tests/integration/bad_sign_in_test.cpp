// Authorization servers that misbehave in every way we know: each is told, and the old login is kept.
#include "integration/sign_in.hpp"

#include <algorithm>
#include <csignal>

namespace patchbay::test {
namespace {

struct Misbehaviour {
    const char* mode;
    const char* told;
    friend void PrintTo(const Misbehaviour& each, std::ostream* out) { *out << each.mode; }
};

std::string name_of(const ::testing::TestParamInfo<Misbehaviour>& tested) {
    std::string name = tested.param.mode;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class BadSignIn : public SignIn, public ::testing::WithParamInterface<Misbehaviour> {
protected:
    void SetUp() override {
        SignIn::SetUp();
        if (IsSkipped()) return;
        peer.emplace(*this, kNode, Words{"bad.mjs"});
        use("fine");
    }
    void use(const std::string& mode) {
        home.add("guarded", {{"url", peer->origin() + "/" + mode + "/mcp"}});
    }
};

TEST_P(BadSignIn, IsToldAndLeavesTheOldLogin) {
    ASSERT_EQ(login().exit_code, 0);
    const auto before = record();
    use(GetParam().mode);
    const auto outcome = login();
    EXPECT_NE(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(GetParam().told));
    EXPECT_LT(outcome.took, std::chrono::seconds(30));
    EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b"))) << "what a server says is made printable";
    EXPECT_THAT(outcome.err, Not(HasSubstr("\nforged")));
    EXPECT_LT(outcome.err.size(), 2000u);
    EXPECT_EQ(record(), before);
    use("fine");
    EXPECT_EQ(home.run({"call", "mcp__guarded__who"}).exit_code, 0) << "the old login is kept";
}

INSTANTIATE_TEST_SUITE_P(
    , BadSignIn,
    ::testing::Values(
        Misbehaviour{"prm-other", "elsewhere.example"}, Misbehaviour{"prm-huge", "65536 bytes"},
        Misbehaviour{"as-missing", "metadata"}, Misbehaviour{"as-redirects", "redirect"},
        Misbehaviour{"as-other-issuer", "attacker.example"},
        Misbehaviour{"as-link-local", "169.254.169.254"},
        Misbehaviour{"as-private", "10.255.255.1"}, Misbehaviour{"as-plain", "https"},
        Misbehaviour{"as-javascript", "javascript"}, Misbehaviour{"as-file", "file"},
        Misbehaviour{"as-no-s256", "S256"}, Misbehaviour{"as-no-registration", "client_id"},
        Misbehaviour{"as-odd", "token_endpoint"}, Misbehaviour{"denied", "access_denied"},
        Misbehaviour{"token-html", "/token"}, Misbehaviour{"token-empty", "access_token"},
        Misbehaviour{"token-odd-type", "token_type"}, Misbehaviour{"token-negative", "expires_in"},
        Misbehaviour{"token-huge", "65536 bytes"}, Misbehaviour{"token-control", "access_token"},
        Misbehaviour{"prm-missing", "nothing says where to sign in"},
        Misbehaviour{"prm-html", "JSON"}, Misbehaviour{"as-slow", "in time"},
        Misbehaviour{"as-huge", "65536 bytes"},
        Misbehaviour{"iss-wrong", "from another authorization server"},
        Misbehaviour{"denied-loudly", "forged: line"}),
    name_of);

class ForgedRedirect : public BadSignIn {};

// Whoever sent it: the right one may still come, so the person decides when it is enough.
TEST_P(ForgedRedirect, IsPassedOverAndLeavesTheOldLogin) {
    ASSERT_EQ(BadSignIn::login().exit_code, 0);
    const auto before = record();
    use(GetParam().mode);
    Program login(home.patchbay({"mcp", "login", "guarded"}));
    ASSERT_TRUE(login.wait_until([&] {
        return login.err().find(GetParam().told) != std::string::npos;
    })) << login.err();
    login.signal(SIGINT);
    EXPECT_NE(login.finish().exit_code, 0);
    EXPECT_EQ(record(), before);
    use("fine");
    EXPECT_EQ(home.run({"call", "mcp__guarded__who"}).exit_code, 0) << "the old login is kept";
}

INSTANTIATE_TEST_SUITE_P(
    , ForgedRedirect,
    ::testing::Values(Misbehaviour{"state-wrong", "does not belong to this sign-in"},
                      Misbehaviour{"state-missing", "does not belong to this sign-in"}),
    name_of);

class BadRefresh : public BadSignIn {};

TEST_P(BadRefresh, IsTold) {
    use(GetParam().mode);
    ASSERT_EQ(login().exit_code, 0);
    const auto before = record();
    expire();
    const auto refused = call("who");
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, HasSubstr(GetParam().told));
    const bool revoked = std::string_view(GetParam().mode) == "refresh-revoked";
    const auto kept = read_file(store()).find(std::string(before.at("refresh_token").as_string()));
    EXPECT_EQ(kept == std::string::npos, revoked) << "only the server's own word ends a login";
}

INSTANTIATE_TEST_SUITE_P(, BadRefresh,
                         ::testing::Values(Misbehaviour{"refresh-revoked", "patchbay mcp login"},
                                           Misbehaviour{"refresh-500", "500"}),
                         name_of);

}  // namespace
}  // namespace patchbay::test
