// What may be configured, and secrets that are read from files.
#include "crypto.hpp"
#include "fake_host.hpp"
#include "support/scratch_folder.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::oauth::test {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(const std::string& config) {
    try {
        Settings::parse(config);
        return "taken";
    } catch (const std::exception& refused) {
        return refused.what();
    }
}

TEST(Settings, know_four_grants) {
    const auto grant = [](const std::string& name) {
        return Settings::parse("{\"grant\":\"" + name + "\"}").grant;
    };
    EXPECT_EQ(Settings::parse("{}").grant, Grant::kAuthorizationCode);
    EXPECT_EQ(grant("authorization_code"), Grant::kAuthorizationCode);
    EXPECT_EQ(grant("client_credentials"), Grant::kClientCredentials);
    EXPECT_EQ(grant("jwt_bearer"), Grant::kJwtBearer);
    EXPECT_EQ(grant("enterprise_managed"), Grant::kEnterpriseManaged);
    EXPECT_THAT(refusal_of(R"({"grant":"password"})"), HasSubstr("\"grant\" must be"));
}

TEST(Settings, take_any_port_there_is) {
    EXPECT_EQ(Settings::parse(R"({"callback_port":65535})").callback_port, 65535u);
    EXPECT_EQ(Settings::parse(R"({"callback_port":0})").callback_port, 0u);
    EXPECT_THAT(refusal_of(R"({"callback_port":65536})"), HasSubstr("callback_port"));
}

TEST(Settings, take_a_scope_as_text_or_as_a_list) {
    EXPECT_EQ(Settings::parse(R"({"scope":"a b"})").scope, "a b");
    EXPECT_EQ(Settings::parse(R"({"scope":["a","b"]})").scope, "a b");
    EXPECT_EQ(Settings::parse("{}").scope, "");
}

TEST(Settings, demand_forbid_or_leave_proofs_to_the_server) {
    EXPECT_EQ(Settings::parse(R"({"dpop":true})").dpop, Dpop::kAlways);
    EXPECT_EQ(Settings::parse(R"({"dpop":false})").dpop, Dpop::kNever);
    EXPECT_EQ(Settings::parse("{}").dpop, Dpop::kIfDemanded);
}

TEST(Settings, with_secrets_show_none) {
    FakeHost host;
    Method method(host, R"({"client_secret":"s-1","private_key":"s-2","assertion":"s-3",
        "idp_client_secret":"s-4","id_token":"s-5","client_id":"open"})");
    EXPECT_EQ(host.masked, "s-1\ns-2\ns-3\ns-4\ns-5\n");
}

TEST(Settings, say_which_secrets_another_could_use) {
    const auto sends = [](const char* config) { return Settings::parse(config).sends_secrets(); };
    EXPECT_FALSE(sends(R"({"client_id":"c","token_url":"https://a/t"})"));
    EXPECT_FALSE(sends(R"({"grant":"client_credentials","client_id":"c"})"));
    for (const char* config :
         {R"({"client_secret":"x"})", R"({"private_key":"x"})", R"({"private_key_file":"x"})",
          R"({"grant":"jwt_bearer"})", R"({"grant":"enterprise_managed"})"})
        EXPECT_TRUE(sends(config)) << config;
}

// What a jwt_bearer login sends for `assertion_file`, or why it does not.
struct SecretFile : ::testing::Test {
    FakeHost host;
    const patchbay::test::ScratchFolder folder;
    const std::string path = folder / "secret";
    SecretFile() { serve_usual(host); }

    std::string sent(const std::string& more = "") {
        Method method(host, R"({"grant":"jwt_bearer","client_id":"w","assertion_file":")" + path +
                                "\"" + more + "}");
        const auto outcome = method.acquire(PATCHBAY_AUTH_SIGN_IN);
        return outcome.status == PATCHBAY_OK
                   ? host.last("https://as.example/token").field("assertion")
                   : outcome.error;
    }
};

TEST_F(SecretFile, is_read_without_the_space_around_it) {
    std::ofstream(path) << "\r\n\t a.b c \r\n";
    EXPECT_EQ(sent(), "a.b c");
}

TEST_F(SecretFile, gives_way_to_a_secret_that_is_written) {
    EXPECT_EQ(sent(R"(,"assertion":"written")"), "written") << "no file is looked for";
}

TEST_F(SecretFile, holds_something) {
    std::ofstream(path) << " \n";
    EXPECT_THAT(sent(), HasSubstr("needs \"assertion\" or \"assertion_file\""));
}

TEST_F(SecretFile, is_a_regular_file_that_nobody_has_to_wait_for) {
    std::filesystem::create_directory(path);
    EXPECT_THAT(sent(), HasSubstr(path + " cannot be read: it is no regular file"));
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(sent(), HasSubstr("it is no regular file"));
    std::filesystem::remove(path);
    EXPECT_THAT(sent(), HasSubstr("No such file"));
}

TEST_F(SecretFile, may_hold_the_token_for_the_identity_provider) {
    std::ofstream(path) << "i.d.t\n";
    Method method(host, R"({"grant":"enterprise_managed","client_id":"c",
        "idp_token_url":"https://idp.example/token","id_token_file":")" +
                            path + "\"}");
    method.acquire(PATCHBAY_AUTH_SIGN_IN);
    EXPECT_EQ(host.last("https://idp.example/token").field("subject_token"), "i.d.t");
}

TEST_F(SecretFile, may_hold_the_key_of_the_client) {
    std::ofstream(path) << SigningKey::generate()->pem();
    Method method(host, R"({"grant":"client_credentials","client_id":"c",
        "private_key_file":")" +
                            path + "\"}");
    EXPECT_EQ(method.acquire(PATCHBAY_AUTH_SIGN_IN).status, PATCHBAY_OK);
    EXPECT_NE(host.last("https://as.example/token").field("client_assertion"), "(none)");
}

TEST(Settings, of_the_network_go_with_every_request) {
    FakeHost host;
    serve_usual(host);
    Method method(host, R"({"ca_file":"/etc/ca.pem","proxy":"http://proxy.example:3128"})");
    method.acquire(PATCHBAY_AUTH_SIGN_IN);
    ASSERT_FALSE(host.asked.empty());
    for (const auto& asked : host.asked) {
        EXPECT_EQ(asked.ca_file, "/etc/ca.pem");
        EXPECT_EQ(asked.proxy, "http://proxy.example:3128");
    }
}

}  // namespace
}  // namespace patchbay::oauth::test
