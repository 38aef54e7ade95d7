// [gateway]: where `patchbay serve` listens and who may come in, and who may say so.
#include "config/merge.hpp"
#include "config/show.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kAll =
    "[gateway]\nhttp = '0.0.0.0:8443'\nsse = true\nauth = 'token'\n"
    "public_url = 'https://mcp.example/mcp'\nallow_host = ['a.example']\n"
    "allow_origin = ['https://b.example']\n"
    "tls_cert = 'cert.pem'\ntls_key = 'key.pem'\nallow_plain = true\n"
    "oauth_issuer = ['https://as.example']\noauth_scope = ['mcp']\noauth_audience = 'aud'\n"
    "oauth_keys = 'keys.json'\nmetrics = 'unix:metrics.sock'\n";

Config merged(std::initializer_list<std::pair<Scope, std::string>> texts) {
    std::vector<Fragment> fragments;
    for (const auto& [scope, text] : texts) fragments.push_back(toml(scope, text));
    return merge(std::move(fragments));
}

TEST(ListenerSettings, AreTheOptionsOfServeByTheSameNames) {
    const auto config = merged({{Scope::User, kAll}});
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_EQ(config.gateway.fault, "");
    const auto& listener = config.gateway.listener;
    EXPECT_EQ(listener.http, "0.0.0.0:8443");
    EXPECT_TRUE(listener.sse && listener.allow_plain);
    EXPECT_EQ(listener.auth, "token");
    EXPECT_EQ(listener.public_url, "https://mcp.example/mcp");
    EXPECT_THAT(listener.allow_host, ElementsAre("a.example"));
    EXPECT_THAT(listener.allow_origin, ElementsAre("https://b.example"));
    EXPECT_EQ(listener.tls_cert + " " + listener.tls_key, "cert.pem key.pem");
    EXPECT_THAT(listener.oauth_issuer, ElementsAre("https://as.example"));
    EXPECT_THAT(listener.oauth_scope, ElementsAre("mcp"));
    EXPECT_EQ(listener.oauth_audience + " " + listener.oauth_keys, "aud keys.json");
    EXPECT_EQ(listener.metrics, "unix:metrics.sock");
    const auto shown = to_json(config, false).at("gateway");
    EXPECT_EQ(shown.at("tls_key"), "key.pem") << "a path, and no secret";
    EXPECT_EQ(shown.at("http"), "0.0.0.0:8443");
}

TEST(ListenerSettings, ACheckoutOpensNoDoorLeavesNoneOpenAndNamesNoKeys) {
    for (const auto scope : {Scope::Project, Scope::Local}) {
        const auto config = merged(
            {{Scope::User, "[gateway]\nhttp = '127.0.0.1:1'\nauth = 'token'\n"}, {scope, kAll}});
        EXPECT_EQ(config.gateway.listener.http, "127.0.0.1:1");
        EXPECT_EQ(config.gateway.listener.auth, "token");
        auto expected = ListenerSettings();
        EXPECT_EQ(config.gateway.listener.tls_key, expected.tls_key);
        EXPECT_EQ(config.gateway.listener.oauth_issuer, expected.oauth_issuer);
        EXPECT_FALSE(config.gateway.listener.allow_plain);
        for (const auto* key : {"http", "sse", "auth", "public_url", "allow_host", "allow_origin",
                                "tls_cert", "tls_key", "allow_plain", "oauth_issuer", "oauth_scope",
                                "oauth_audience", "oauth_keys", "metrics"})
            EXPECT_THAT(all(config.diagnostics),
                        HasSubstr(std::string("gateway.") + key + ": not allowed in a " +
                                  name_of(scope) + " file; write it to your user config"));
        EXPECT_EQ(config.gateway.fault, "") << "nor does it turn off its user's gateway";
    }
}

// [patchbay.gateway] reads as if it were meant.
TEST(ListenerSettings, BelowAnotherNameTheyAreToldAndLetNobodyIn) {
    const std::string text = "[patchbay.gateway]\nhttp = '127.0.0.1:1'\napprovals = 'rules'\n";
    const auto own = merged({{Scope::User, text}});
    EXPECT_THAT(all(own.diagnostics),
                HasSubstr("unknown table or key \"patchbay\"; [gateway] stands by itself"));
    EXPECT_NE(own.gateway.fault, "");
    const auto foreign = merged({{Scope::Project, text}, {Scope::User, "[gateway]\nsse = true\n"}});
    EXPECT_THAT(all(foreign.diagnostics), HasSubstr("[gateway] stands by itself"));
    EXPECT_EQ(foreign.gateway.fault, "") << "a checkout turns off no gateway of its user's";
    const auto beside = merged({{Scope::Project, text + "[mcpServers.x]\ncommand = 'x'\n"}});
    EXPECT_THAT(all(beside.diagnostics), HasSubstr("[gateway] stands by itself"));
}

TEST(ListenerSettings, AStrongerScopeReplacesAKeyAndLeavesTheOthers) {
    const auto config = merged(
        {{Scope::User, "[gateway]\nhttp = '127.0.0.1:1'\noauth_issuer = ['https://a']\n"},
         {Scope::Session, "[gateway]\nhttp = '127.0.0.1:2'\nauth = 'none'\n"},
         {Scope::Enterprise, "exclusive = false\n[gateway]\nauth = 'token'\noauth_issuer = []\n"}});
    EXPECT_EQ(config.gateway.listener.http, "127.0.0.1:2");
    EXPECT_EQ(config.gateway.listener.auth, "token");
    EXPECT_TRUE(config.gateway.listener.oauth_issuer.empty());
    EXPECT_EQ(config.find_origin("gateway.auth")->scope, Scope::Enterprise);
}

TEST(ListenerSettings, WhatCannotBeReadMayHaveBeenMeantToKeepSomebodyOut) {
    const std::pair<const char*, const char*> cases[] = {
        {"[gateway]\nauth = 'tokn'\n",
         "user config user.toml:2:8: gateway.auth: expected one of "
         "auto, none, token, found \"tokn\"; did you mean"},
        {"[gateway]\noauth_issuer = 'https://a'\n",
         "user config user.toml:2:16: gateway.oauth_issuer: expected a list of text, found text"},
        {"[gateway]\nallow_plain = 'no'\n", "user config user.toml:2:15: gateway.allow_plain: "},
        {"[gateway]\nauht = 'token'\n",
         "user config user.toml:2:1: unknown key \"auht\" in [gateway]; did you mean \"auth\"?"},
        {"[gatway]\nauth = 'token'\n", "user config user.toml:1:2 cannot be read as [gateway]"},
        {"gateway = ['token']\n", "user config user.toml:1:1 cannot be read as [gateway]"},
        {"[gateway\n", "user config user.toml is broken"}};
    for (const auto& [text, fault] : cases) {
        const auto config = merged({{Scope::User, text}});
        EXPECT_THAT(config.gateway.fault, StartsWith(fault)) << text;
        EXPECT_FALSE(config.diagnostics.empty()) << text;
        EXPECT_EQ(merged({{Scope::Project, text}}).gateway.fault, "") << text;
    }
    const auto rule = merged({{Scope::User, "[gatway]\ndeny = ['mcp__a__*']\n"}});
    EXPECT_THAT(rule.gateway.fault, HasSubstr("cannot be read"));
    EXPECT_NE(rule.permissions.closed, "") << "and a rule in it counts as in any unknown table";
    EXPECT_TRUE(merged({{Scope::Enterprise, "[gateway]\nauth = 'tokn'\n"}}).deny_all);
}

TEST(ListenerSettings, AKeyThatNobodyKnowsIsAnErrorAsItTurnsTheListenerOff) {
    EXPECT_THAT(all(merged({{Scope::User, "[gateway]\nauht = 'token'\n"}}).diagnostics),
                StartsWith("error: user config user.toml:2:1: unknown key \"auht\""));
}

TEST(ListenerSettings, FilesAndSocketsAreBesideTheFileThatNamesThem) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", kAll);
    auto config = load(world.environment).config;
    const auto here = world.folder / "home/user/.config/patchbay/";
    const auto& listener = config.gateway.listener;
    EXPECT_EQ(listener.tls_cert, here + "cert.pem");
    EXPECT_EQ(listener.tls_key, here + "key.pem");
    EXPECT_EQ(listener.oauth_keys, here + "keys.json");
    EXPECT_EQ(listener.metrics, "unix:" + here + "metrics.sock");
    world.folder.write("home/user/.config/patchbay/config.toml",
                       "[gateway]\ntls_cert = '~/c.pem'\ntls_key = '/k.pem'\n"
                       "oauth_keys = 'https://a/keys'\nhttp = 'unix:/s'\n");
    config = load(world.environment).config;
    EXPECT_EQ(config.gateway.listener.tls_cert, world.folder / "home/user/c.pem");
    EXPECT_EQ(config.gateway.listener.tls_key, "/k.pem");
    EXPECT_EQ(config.gateway.listener.oauth_keys, "https://a/keys");
    EXPECT_EQ(config.gateway.listener.http, "unix:/s");
    world.environment.sets = {"gateway.tls_cert=here.pem"};
    EXPECT_EQ(load(world.environment).config.gateway.listener.tls_cert, "here.pem")
        << "typed for this run: from where it was typed";
}

}  // namespace
}  // namespace patchbay::config
