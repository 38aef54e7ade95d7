// What the options of `serve` and [gateway] come to together.
#include "app/http_terms.hpp"

#include "config/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {
namespace {

using config::ListenerSettings;
using config::Scope;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

config::Config said(const std::string& keys, Scope scope = Scope::User) {
    std::vector<config::Fragment> fragments;
    fragments.push_back(config::read_fragment("exclusive = false\n[gateway]\n" + keys,
                                              config::Format::Toml, {scope, 0, "/f.toml"}));
    return config::merge(std::move(fragments));
}

// What is told of the plan; empty: it stands.
std::string told(const config::Config& config, const ListenerSettings& typed = {},
                 const std::set<std::string>& given = {}) {
    const auto terms = terms_of(config, typed, given, Over::Whichever);
    if (!terms) return HttpTerms().told(terms.error()).message;
    const auto plan = plan_of(*terms);
    return plan ? "" : terms->told(plan.error()).message;
}

TEST(HttpTerms, AnOptionCountsBeforeTheFileAndTheOtherKeysStay) {
    const auto config = said("http = '127.0.0.1:1'\nauth = 'token'\nallow_host = ['a']\n");
    ListenerSettings typed;
    typed.http = "127.0.0.1:2";
    typed.allow_host = {"b"};
    const auto terms = terms_of(config, typed, {"--http", "--allow-host"}, Over::Whichever);
    ASSERT_TRUE(terms);
    EXPECT_EQ(terms->said.http, "127.0.0.1:2");
    EXPECT_THAT(terms->said.allow_host, ElementsAre("b"));
    EXPECT_EQ(terms->said.auth, "token");
    EXPECT_TRUE(terms->is_of_a_file("--auth"));
    EXPECT_FALSE(terms->is_of_a_file("--http"));
}

TEST(HttpTerms, AnEnterpriseFileCountsBeforeAnOption) {
    const auto config = said("auth = 'token'\n", Scope::Enterprise);
    ListenerSettings typed;
    typed.http = "127.0.0.1:1";
    typed.auth = "none";
    const auto terms = terms_of(config, typed, {"--http", "--auth"}, Over::Whichever);
    ASSERT_FALSE(terms);
    EXPECT_THAT(HttpTerms().told(terms.error()).message,
                StartsWith("--auth: it has no effect here, since enterprise config /f.toml:3:1 "
                           "says it too; ask your administrator"));
    EXPECT_TRUE(terms_of(config, typed, {"--http"}, Over::Whichever));
}

TEST(HttpTerms, OverStdioNothingOfTheFileCountsAndOptionsOfADoorAreRefused) {
    const auto config = said("http = '127.0.0.1:1'\nauth = 'token'\nmetrics = '127.0.0.1:2'\n");
    const auto terms = terms_of(config, {}, {}, Over::Stdio);
    ASSERT_TRUE(terms);
    EXPECT_EQ(terms->said.http + terms->said.metrics, "");
    EXPECT_EQ(terms_of(config, {}, {}, Over::Whichever)->said.metrics, "127.0.0.1:2");
    ListenerSettings typed;
    typed.metrics = "127.0.0.1:3";
    EXPECT_EQ(terms_of(config, typed, {"--metrics"}, Over::Stdio)->said.metrics, "127.0.0.1:3");
    for (const auto& option : listener_options()) {
        if (option == "--metrics" || option == "--http") continue;
        const auto refused = terms_of({}, {}, {option}, Over::Whichever);
        ASSERT_FALSE(refused) << option;
        EXPECT_EQ(HttpTerms().told(refused.error()).message, option + ": it requires --http");
    }
}

TEST(HttpTerms, WhatIsWrongIsToldByTheKeyAndPlaceThatSaidIt) {
    const std::string place = "user config /f.toml:";
    const std::pair<const char*, std::string> cases[] = {
        {"http = '8808'\n", place + "3:1: gateway.http: \"8808\" is no address"},
        {"http = '0.0.0.0:1'\nauth = 'none'\n",
         place + "3:1: gateway.http: 0.0.0.0 can be reached from other machines: each that comes "
                 "has to be asked who it is; leave auth none away"},
        {"http = '192.0.2.1:1'\n",
         "say tls_cert = \"FILE\" and tls_key = \"FILE\", or allow_plain"},
        {"http = '0.0.0.0:1'\nallow_plain = true\n",
         "by public_url = \"https://NAME\" or allow_host = [\"NAME\"]"},
        {"http = '127.0.0.1:1'\ntls_cert = 'c'\n",
         place + "4:1: gateway.tls_cert: it requires tls_key"},
        {"http = 'unix:/x'\ntls_cert = 'c'\ntls_key = 'k'\n", "gateway.tls_cert: a Unix socket"},
        {"http = '127.0.0.1:1'\noauth_scope = ['a']\n",
         place + "4:1: gateway.oauth_scope: it needs oauth_issuer"},
        {"http = '127.0.0.1:1'\nauth = 'none'\noauth_issuer = ['https://a']\n",
         place + "4:1: gateway.auth: none, and oauth_issuer asks everybody"},
        {"http = '127.0.0.1:1'\npublic_url = 'x'\n", place + "4:1: gateway.public_url: \"x\""}};
    for (const auto& [keys, expected] : cases) {
        EXPECT_THAT(told(said(keys)), HasSubstr(expected)) << keys;
        const auto checked = fault_of_listener(said(keys));
        ASSERT_TRUE(checked) << keys;
        EXPECT_THAT(config::sentence_of(*checked), HasSubstr(expected)) << keys;
    }
    EXPECT_EQ(told(said("http = '127.0.0.1:1'\n")), "");
    const auto files =
        fault_of_listener(said("http = '127.0.0.1:1'\ntls_cert = '/none'\ntls_key = '/none'\n"));
    ASSERT_TRUE(files);
    EXPECT_THAT(files->message, StartsWith("gateway.tls_cert: cannot read \"/none\": No such"));
    EXPECT_FALSE(fault_of_listener(said("http = '127.0.0.1:1'\n")));
    EXPECT_FALSE(fault_of_listener(said("auth = 'none'\n"))) << "there is no listener";
    ListenerSettings typed;
    typed.http = "8808";
    EXPECT_THAT(told({}, typed, {"--http"}), StartsWith("--http: \"8808\" is no address"));
}

TEST(HttpTerms, AUrlOfAUnixSocketNamesThePathWhereItIsNotTheUsualOne) {
    HttpPlan plan;
    http::Address socket;
    socket.path = "/run/x.sock";
    EXPECT_EQ(plan.url(socket, "/mcp"), "unix:/run/x.sock");
    EXPECT_EQ(plan.url(socket, "/sse"), "unix:/run/x.sock#/sse");
}

}  // namespace
}  // namespace patchbay::app
