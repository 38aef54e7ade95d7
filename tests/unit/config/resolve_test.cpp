// What an agent is given where it runs: from a configuration to servers and warnings, case by case.
#include "config/resolve.hpp"

#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace patchbay::config {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

Config merged(std::vector<std::pair<Scope, std::string>> sources) {
    std::vector<Fragment> fragments;
    for (auto& [scope, text] : sources) fragments.push_back(toml(scope, text));
    return merge(std::move(fragments));
}

// One line for each server, then one for each warning.
std::string lines(const Given& given) {
    std::string out;
    const auto told = to_json(given);
    for (const auto& each : told.at("servers").as_array()) {
        const auto& one = each.as_object();
        const auto word = [&](const char* key) { return std::string(one.at(key).as_string()); };
        out += word("name") + " " + word("transport") + " " + word("mode") + " " + word("endpoint");
        for (const auto* key : {"env", "headers", "injected", "tools"})
            if (const auto* list = one.if_contains(key); list && !list->as_array().empty())
                out += std::string(" ") + key + json::serialize(*list);
        out += "\n";
    }
    for (const auto& each : given.warnings) out += sentence_of(each) + "\n";
    return out;
}

struct Case {
    const char* what;
    std::string config;
    Whereabouts where;
    std::string expected;
};

const std::string kServers =
    "[servers.git]\ncommand = 'git-mcp'\nargs = ['--token', 'hunter2']\nenv = { A = 'own', T = "
    "'${TOKEN}' }\n"
    "[servers.web]\nurl = 'http://localhost:3000/mcp?key=abcdefgh12345678'\n"
    "headers = { X-Key = 'v' }\nbearer_token_env_var = 'TOKEN'\n"
    "[servers.old]\ntransport = 'sse'\nurl = 'https://old.example/sse'\n"
    "[servers.off]\ncommand = 'off'\nenabled = false\n";

TEST(Resolve, GoldenCases) {
    const std::string git = "git stdio per_session git-mcp --token '***' env[\"A\",\"T\"]\n";
    const std::string web =
        "web http shared http://localhost:3000/mcp?key=*** headers[\"X-Key\",\"Authorization\"]\n";
    const std::string old = "old sse shared https://old.example/sse\n";
    const Case cases[] = {
        {"all of them where nobody is named", "", {}, git + old + web},
        {"an agent that picks nothing", "[agents.a]\n", {"a"}, git + old + web},
        {"a disabled one has none",
         "[agents.a]\nenabled = false\n",
         {"a"},
         "user config user.toml:15:9: agent \"a\" is disabled, so it has no servers; set enabled = "
         "true\n"},
        {"what it picks, and why not of what is off",
         "[agents.a]\nservers = ['git', 'off']\n",
         {"a"},
         git + "user config user.toml:12:10: server \"off\" is left out: disabled (user config "
               "user.toml:14:1); set enabled = true\n"},
        {"elsewhere no program is started",
         "[agents.a]\nservers = ['git', 'web']\n",
         {"a", "k8s"},
         web + "user config user.toml:1:10: server \"git\" is left out: it is a program, and "
               "executor \"k8s\" has allow_stdio = false, as nothing else is said of it\n"},
        {"what a table forbids has its place",
         "[agents.a]\nservers = ['old']\n[executors.lab]\nallow_sse = false\n",
         {"a", "lab"},
         "user config user.toml:18:1: server \"old\" is left out: it speaks sse, and executor "
         "\"lab\" has allow_sse = false\n"},
        {"URLs and variables as they are there",
         "[executors.local_docker]\nhttp_url_rewrite = [{ from = 'http://localhost', to = "
         "'http://host.docker.internal' }]\nenv_injection = { A = 'theirs', B = 'b' }\n",
         {"", "local_docker"},
         "git stdio per_session git-mcp --token '***' env[\"A\",\"T\",\"B\"] "
         "injected[\"A\",\"B\"]\n" +
             old +
             "web http shared http://host.docker.internal:3000/mcp?key=*** "
             "headers[\"X-Key\",\"Authorization\"]\n"
             "user config user.toml:17:19: server \"git\": its own A gives way to that of executor "
             "\"local_docker\"; env_server_wins lets it keep its own\n"},
        {"a server's own value where that is allowed",
         "[agents.a]\nservers = ['git']\n[executors.local_pc]\nenv_injection = { A = 'theirs', B = "
         "'b' }\nenv_server_wins = ['A*']\n",
         {"a"},
         "git stdio per_session git-mcp --token '***' env[\"A\",\"T\",\"B\"] injected[\"B\"]\n"},
        {"shared programs only where they may be",
         "[agents.a]\nservers = ['git', 'web']\nmodes = { git = 'shared', web = 'per_session' }\n",
         {"a"},
         "web http per_session http://localhost:3000/mcp?key=*** "
         "headers[\"X-Key\",\"Authorization\"]\n"
         "user config user.toml:17:11: server \"git\" is left out: mode \"shared\" has a program "
         "serve several, which [host] stdio_sharing = true allows; \"per_session\" gives each its "
         "own\n"},
        {"and there they are",
         "[agents.a]\nservers = ['git']\nmodes = { git = 'shared' }\n[host]\nstdio_sharing = "
         "true\n",
         {"a"},
         "git stdio shared git-mcp --token '***' env[\"A\",\"T\"]\n"},
        {"tools of it alone",
         "[agents.a]\nservers = ['git', 'old', 'web']\ntools = ['mcp__git__log', 'mcp__git__re*', "
         "'mcp__web*']\n",
         {"a"},
         "git stdio per_session git-mcp --token '***' env[\"A\",\"T\"] tools[\"log\",\"re*\"]\n" +
             web +
             "user config user.toml:15:9: server \"old\" is left out: agents.a.tools shows none of "
             "it\n"},
        {"rules bind who calls through us",
         "[agents.a]\nservers = ['git', 'web', 'old']\n[permissions]\ndeny = ['mcp__git__push', "
         "'mcp__web', 'mcp__old__*']\n",
         {"a"},
         git + "user config user.toml:1:10: server \"git\": permissions.deny \"mcp__git__push\" "
               "holds "
               "only where calls go through Patchbay; a client that speaks with it itself is not "
               "bound by that\n"
               "user config user.toml:18:39: server \"old\" is left out: permissions.deny has "
               "\"mcp__old__*\"\n"
               "user config user.toml:18:27: server \"web\" is left out: permissions.deny has "
               "\"mcp__web\"\n"},
        {"what only it has is not another's",
         "[agents.a]\nservers = ['agents.b']\n[agents.b.servers.mine]\ncommand = 'm'\n[agents.c]\n"
         "tools = ['mcp__mine__*']\n",
         {"c"},
         ""},
        {"unless it picks that",
         "[agents.a]\nservers = ['agents.b']\n[agents.b.servers.mine]\ncommand = 'm'\n",
         {"a"},
         "mine stdio per_session m\n"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.what);
        const auto config = merged({{Scope::User, kServers + c.config}});
        const auto given = resolve(config, c.where);
        ASSERT_TRUE(given) << given.error().message;
        EXPECT_EQ(lines(*given), c.expected);
    }
}

TEST(Resolve, WhatAnAdministratorForbidsIsNotGivenAwayPastTheRules) {
    const std::string servers = "[servers.a]\ncommand = 'a'\n[servers.b]\ncommand = 'b'\n";
    for (const auto* rule :
         {"[permissions]\ndeny = ['mcp__a__x']\n",
          "[permissions]\nallow = ['mcp__a__x', 'mcp__b__*']\n",
          "[servers.a]\ndisabled_tools = ['x']\n", "[servers.a]\ntools = { x = 'deny' }\n"}) {
        const auto config =
            merged({{Scope::User, servers},
                    {Scope::Enterprise, "exclusive = false\n" + std::string(rule)}});
        const auto given = resolve(config, {});
        ASSERT_TRUE(given) << rule;
        ASSERT_EQ(given->servers.size(), 1u) << rule;
        EXPECT_EQ(given->servers[0].server.id, "b") << rule;
        EXPECT_THAT(lines(*given), HasSubstr("is your administrator's")) << rule;
    }
}

TEST(Resolve, WhatNobodyTrustsIsNotGivenAwayUnlessItsToolsAreNamed) {
    const auto given = [](const std::string& more, Scope scope = Scope::User) {
        return resolve(
            merged({{Scope::User, "[servers.a]\ncommand = 'a'\n"},
                    {scope, (scope == Scope::Enterprise ? "exclusive = false\n" : "") +
                                std::string("[servers.a]\ntrust = 'untrusted'\n") + more}}),
            {});
    };
    for (const auto scope : {Scope::Session, Scope::Enterprise}) {
        const auto none = given("", scope);
        ASSERT_TRUE(none);
        EXPECT_TRUE(none->servers.empty());
        EXPECT_THAT(lines(*none), HasSubstr("no rule names a tool of it"));
    }
    EXPECT_EQ(given("enabled_tools = ['x']\n", Scope::Session)->servers.size(), 1u);
    EXPECT_TRUE(given("enabled_tools = ['x']\n", Scope::Enterprise)->servers.empty());
}

TEST(Resolve, WhoIsNotThereIsAnError) {
    const auto config = merged({{Scope::User, "[agents.rev]\n[agents.bad]\ntools = []\n"}});
    EXPECT_THAT(resolve(config, {"rve"}).error().message, HasSubstr("did you mean \"rev\"?"));
    EXPECT_THAT(resolve(config, {"bad"}).error().message, HasSubstr("until it is mended"));
    EXPECT_THAT(resolve(config, {"rev", "k8"}).error().message, HasSubstr("did you mean \"k8s\"?"));
    EXPECT_THAT(resolve(config, {"rev", "k8s", "a b"}).error().message,
                HasSubstr("session \"a b\": expected letters"));
}

TEST(Resolve, NoValueOfAVariableOrAHeaderIsToldAndPicksKeepTheirWarnings) {
    const auto config =
        merged({{Scope::User, kServers + "[agents.a]\nservers = ['git', 'web', 'gti']\n"}});
    const auto told = json::serialize(to_json(*resolve(config, {"a"})));
    for (const auto* secret : {"hunter2", "\"own\"", "${TOKEN}", "abcdefgh", "\"v\""})
        EXPECT_THAT(told, ::testing::Not(HasSubstr(secret)));
    EXPECT_THAT(told, HasSubstr("no server \\\"gti\\\" is configured"));
    EXPECT_THAT(told, HasSubstr("\"line\":16"));
}

}  // namespace
}  // namespace patchbay::config
