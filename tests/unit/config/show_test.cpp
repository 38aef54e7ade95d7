#include "config/show.hpp"

#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Config of(const std::string& text) {
    std::vector<Fragment> one;
    one.push_back(read_fragment(text, Format::Toml, {Scope::User, 0, "config.toml"}));
    return merge(std::move(one));
}

TEST(Show, HidesSecretsAndKeepsTheirNames) {
    const auto config = of(R"(
[servers.a]
command = "x"
env = { API = "hunter2" }
args = ["--token", "hunter2", "--api-key=hunter2", "-e", "DB_PASSWORD=hunter2",
        "--header", "Authorization: Bearer hunter2", "--verbose", "plain"]
[servers.b]
url = "https://me:hunter2@example.org/mcp?key=hunter2"
headers = { Authorization = "hunter2" }
oauth = { client_id = "id", client_secret = "hunter2", token_url = "https://t" }
bearer_token_env_var = "TOKEN"
[auth.x]
method = "static"
token = "hunter2"
private_key = { pem = "hunter2" }
nested = [{ password = "hunter2" }]
)");
    ASSERT_EQ(all(config.diagnostics), "");
    const auto text = serialize(to_json(config, true));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
    EXPECT_THAT(text, HasSubstr(R"("env":{"API":"***"})"));
    EXPECT_THAT(text, HasSubstr(R"(["--token","***","--api-key=***","-e","DB_PASSWORD=***",)"
                                R"("--header","Authorization: ***","--verbose","plain"])"));
    EXPECT_THAT(text, HasSubstr(R"("headers":{"Authorization":"***"})"));
    EXPECT_THAT(text,
                HasSubstr(R"("client_id":"id","client_secret":"***","token_url":"https://t")"));
    EXPECT_THAT(text, HasSubstr(R"("url":"https://me:***@example.org/mcp?key=***")"));
    EXPECT_THAT(text, HasSubstr(R"("bearer_token_env_var":"TOKEN")"));
    EXPECT_THAT(text, HasSubstr(R"("private_key":{"pem":"***"})"));
    EXPECT_THAT(text, HasSubstr(R"("nested":[{"password":"***"}])"));
}

// What is known to be a secret by its name stays one where nothing says so.
TEST(Show, HidesWhatAnotherKeyShowsToBeASecret) {
    const auto config = of(R"(
[servers.a]
command = "x"
args = ["--mode", "plain-looking-word", "--x=plain-looking-word", "on", "${REF_TOKEN}"]
[servers.a.env]
API_TOKEN = "plain-looking-word"
OTHER = "said plain-looking-word"
SHORT_TOKEN = "on"
REF_TOKEN = "${REF_TOKEN}"
)");
    ASSERT_EQ(all(config.diagnostics), "");
    const auto& server = config.servers.at(0);
    for (const auto& text : {serialize(to_json(server)), serialize(masked(server.settings))}) {
        EXPECT_THAT(text, Not(HasSubstr("plain-looking-word")));
        EXPECT_THAT(text, HasSubstr(R"(["--mode","***","--x=***","on","${REF_TOKEN}"])"));
    }
}

TEST(Show, HidesSecretsInWhatIsSaidOfUs) {
    const auto config = of(R"(
[client]
title = "Bearer hunter2"
roots = ["https://me:hunter2@h/x", "/srv"]
sampling_text = "--password=hunter2"
capabilities = { experimental = { api_key = "hunter2", note = "plain" } }
)");
    const auto text = serialize(to_json(config, false));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
    EXPECT_THAT(text, HasSubstr(R"("title":"Bearer ***","roots":["https://me:***@h/x","/srv"])"));
    EXPECT_THAT(text, HasSubstr(R"("note":"plain")"));
}

TEST(Show, HidesSecretsInEveryText) {
    const auto config = of(R"(
[servers.a]
url = "https://example.org/mcp?hunter2&page=hunter2#top=hunter2"
proxy = "http://me:hunter2@proxy:3128"
[auth.x]
method = "static"
token_endpoint_auth_method = "none"
assertion = "hunter2"
private_key_file = "key.pem"
command = ["helper", "--token", "hunter2", "--sort-key", "name"]
env = "NAME"
)");
    ASSERT_EQ(all(config.diagnostics), "");
    const auto text = serialize(to_json(config, false));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
    EXPECT_THAT(text, HasSubstr(R"("url":"https://example.org/mcp?***&page=***#top=***")"));
    EXPECT_THAT(text, HasSubstr(R"("proxy":"http://me:***@proxy:3128")"));
    EXPECT_THAT(text, HasSubstr(R"("token_endpoint_auth_method":"none","assertion":"***",)"
                                R"("private_key_file":"key.pem",)"
                                R"("command":["helper","--token","***","--sort-key","name"],)"
                                R"("env":"NAME")"));
}

TEST(Show, AReferenceIsNoSecret) {
    const auto config =
        of("[servers.a]\ncommand = 'x'\nenv = { A = '${secret:gh.token}', B = '${TOKEN}', C = "
           "'${TOKEN:-hunter2}', D = 'Bearer ${TOKEN}', E = '${x' }\n");
    const auto text = serialize(to_json(config, false));
    EXPECT_THAT(text, HasSubstr(R"("env":{"A":"${secret:gh.token}","B":"${TOKEN}","C":"***",)"
                                R"("D":"***","E":"***"})"));
}

TEST(Show, SaysWhereSignInsAreKept) {
    Config config;
    config.secret_store = "secret-service";
    EXPECT_EQ(serialize(to_json(config, false).at("secrets")), R"({"store":"secret-service"})");
}

TEST(Show, OriginsComeWhenAskedFor) {
    const auto config = of("[servers.a]\ncommand = 'x'\n");
    EXPECT_FALSE(to_json(config, false).as_object().contains("origins"));
    EXPECT_EQ(serialize(to_json(config, true).at("origins")),
              R"({"servers.a.command":{"scope":"user","file":"config.toml","line":2,"column":1}})");
}

TEST(Show, OriginsNameWhomTheyOverrule) {
    std::vector<Fragment> both;
    const auto add = [&](Scope scope, const char* file, const char* text) {
        both.push_back(read_fragment(text, Format::Toml, {scope, 0, file}));
    };
    add(Scope::User, "user.toml",
        "[servers.a]\ncommand = 'x'\nargs = ['1']\n[health]\nmisses = 1\n");
    add(Scope::Session, "session.toml",
        "[servers.a]\ncommand = 'y'\nlazy = true\n[health]\nmisses = 2\n");
    const auto merged = merge(std::move(both));
    ASSERT_EQ(all(merged.diagnostics), "");
    const auto shown = to_json(merged, true);
    const auto& origins = shown.at("origins").as_object();
    EXPECT_EQ(serialize(origins.at("servers.a.command")),
              R"({"scope":"session","file":"session.toml","line":2,"column":1,)"
              R"("over":[{"scope":"user","file":"user.toml","line":2,"column":1}]})");
    EXPECT_FALSE(origins.contains("servers.a.args")) << "the stronger definition has none";
    EXPECT_EQ(serialize(origins.at("health.misses").at("over")),
              R"([{"scope":"user","file":"user.toml","line":5,"column":1}])");
    EXPECT_FALSE(origins.at("servers.a.lazy").as_object().contains("over"));
}

TEST(Show, WhatIsShownCanBeReadAgain) {
    const auto config =
        of("[servers.a]\ncommand = 'x'\nargs = ['y']\ntool_timeout_sec = 1.5\ntools = { t = 'deny' "
           "}\nfallback = ['sse']\n[health]\nmisses = 2\n");
    const auto shown = to_json(config, false);
    std::vector<Fragment> again;
    again.push_back(read_fragment(serialize(shown), Format::Json, {Scope::User, 0, "shown.json"}));
    const auto second = merge(std::move(again));
    EXPECT_EQ(all(second.diagnostics), "");
    EXPECT_EQ(to_json(second, false), shown);
}

TEST(Show, AServerSaysWhatItIsAndWhatDiffersFromTheUsual) {
    const auto shown = [](const std::string& keys) {
        const auto config = of("[servers.a]\ncommand = 'x'\n" + keys);
        EXPECT_EQ(all(config.diagnostics), "");
        return serialize(to_json(config.servers.at(0)));
    };
    const std::string times =
        R"("startup_timeout_sec":60,"request_timeout_ms":30000,"tool_timeout_sec":97200)";
    EXPECT_EQ(shown(""), R"({"transport":"stdio","enabled":true,"command":"x",)" + times + "}");
    EXPECT_EQ(shown("enabled = true\nexpand = true\nlazy = false\nprotocol = 'auto'\n"
                    "required = false\nrestart = true\n"),
              shown(""));
    EXPECT_EQ(
        shown("enabled = false\nexpand = false\nauth = 'none'\nlazy = true\nidle_timeout_sec = "
              "0\nwarm = 1\n"
              "startup_timeout_sec = 0.25\nrequest_timeout_ms = 7\ntool_timeout_sec = 8\n"
              "enabled_tools = ['b', 'c']\ndisabled_tools = ['c']\n"
              "tools = { b = 'require-approval', d = 'disable' }\nprotocol = '2025-11-25'\n"
              "fallback = ['tcp']\nrequired = true\nrestart = false\n"),
        R"({"transport":"stdio","enabled":false,"command":"x","expand":false,"auth":"none",)"
        R"("startup_timeout_sec":2.5E-1,"request_timeout_ms":7,"tool_timeout_sec":8,)"
        R"("enabled_tools":["b","c"],"disabled_tools":["c"],)"
        R"("tools":{"b":"require-approval","d":"disable"},"lazy":true,"idle_timeout_sec":0,"warm":1,)"
        R"("protocol":"2025-11-25",)"
        R"("fallback":["tcp"],"required":true,"restart":"never"})");
}

TEST(Show, ADiagnosticIsAnObject) {
    const Diagnostic diagnostic{
        RuleId::UnknownKey, Severity::Warning, {Scope::Local, "f", 1, 2}, "text", "a"};
    EXPECT_EQ(
        serialize(to_json(diagnostic)),
        R"({"rule":"unknown-key","severity":"warning","scope":"local","file":"f","line":1,"column":2,"message":"text","server":"a"})");
    EXPECT_EQ(to_string(diagnostic), "warning: local config f:1:2: text");
}

}  // namespace
}  // namespace patchbay::config
