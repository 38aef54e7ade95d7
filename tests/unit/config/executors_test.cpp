// [executors.*], and what [agents.*] says for them: whose a server is, what is reached from where, and that an enterprise
// only takes away.
#include "config/executors.hpp"

#include "config/agents.hpp"
#include "config/keys.hpp"
#include "config/merge.hpp"
#include "config/show.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config merged(std::vector<std::pair<Scope, std::string>> sources) {
    std::vector<Fragment> fragments;
    for (auto& [scope, text] : sources) fragments.push_back(toml(scope, text));
    return merge(std::move(fragments));
}
Config merged(const std::string& text) {
    return merged({{Scope::User, text}});
}
Executor executor(const std::string& keys, const std::string& name = "x") {
    auto found = executor_named(merged("[executors." + name + "]\n" + keys), name);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Executor();
}
std::string fault(const std::string& keys) {
    const auto config = merged("[executors.x]\n" + keys + "\n");
    EXPECT_EQ(config.executors.size(), 1u);
    return config.executors.at(0).fault;
}

TEST(ConfigExecutors, OneElsewhereStartsNoProgramsUnlessItsTableSaysSo) {
    for (const auto* name : {"local_pc", "local_docker"})
        EXPECT_EQ(forbidden_by(*executor_named({}, name), "stdio", true), "") << name;
    for (const auto* name : {"remote_docker", "remote_ssh", "k8s"}) {
        const auto elsewhere = *executor_named({}, name);
        EXPECT_EQ(forbidden_by(elsewhere, "stdio", true), "allow_stdio") << name;
        EXPECT_EQ(forbidden_by(elsewhere, "tcp", true), "allow_stdio") << "a program over tcp";
        for (const auto* transport : {"http", "sse", "ws", "tcp", "a_plugins"})
            EXPECT_EQ(forbidden_by(elsewhere, transport, false), "") << transport;
    }
    EXPECT_EQ(forbidden_by(executor(""), "stdio", true), "allow_stdio") << "nobody knows where";
    EXPECT_EQ(forbidden_by(executor("allow_stdio = true"), "stdio", true), "");
}

TEST(ConfigExecutors, EachWordForStreamableHttpForbidsIt) {
    EXPECT_EQ(forbidden_by(executor("allow_http = false"), "http", false), "allow_http");
    EXPECT_EQ(forbidden_by(executor("allow_streamable_http = false"), "http", false),
              "allow_streamable_http");
    EXPECT_EQ(forbidden_by(executor("allow_streamable_http = false"), "sse", false), "");
    EXPECT_EQ(forbidden_by(executor("allow_sse = false"), "sse", false), "allow_sse");
}

TEST(ConfigExecutors, ARewriteMatchesWholePartsOfAUrl) {
    const auto place = [](const std::string& from, const std::string& to, const std::string& url) {
        const auto made =
            executor("http_url_rewrite = [{ from = '" + from + "', to = '" + to + "' }]");
        const auto* rewrite = rewrite_of(made, url);
        return rewrite ? rewritten(*rewrite, url) : std::string("as it is");
    };
    const std::string to = "http://host.docker.internal";
    EXPECT_EQ(place("http://localhost", to, "http://localhost"), to);
    EXPECT_EQ(place("http://localhost", to, "http://localhost/mcp?a=b#c"), to + "/mcp?a=b#c");
    EXPECT_EQ(place("http://localhost", to, "http://localhost:3000/mcp"), to + ":3000/mcp");
    EXPECT_EQ(place("http://localhost", to, "HTTP://LocalHost/Mcp"), to + "/Mcp");
    EXPECT_EQ(place("http://[::1]", to, "http://[::1]:80/a"), to + ":80/a");
    for (const auto* url :
         {"http://localhost.evil.example/mcp", "http://localhost:1@evil.example/",
          "http://localhost@evil.example/", "https://localhost/", "http://localhos",
          "http://localhost:x/", "http://localhost:", "ws://localhost/"})
        EXPECT_EQ(place("http://localhost", to, url), "as it is") << url;
    EXPECT_EQ(place("http://h:80", "http://x", "http://h:8080/"), "as it is");
    EXPECT_EQ(place("http://h/a", "http://x/b", "http://h/a/c"), "http://x/b/c");
    EXPECT_EQ(place("http://h/a", "http://x/b", "http://h/ab"), "as it is");
    EXPECT_EQ(place("http://h/a", "http://x/b", "http://h/A"), "as it is") << "a path has its case";
    EXPECT_EQ(place("http://h/a", "http://x/b", "http://h/a:1"), "as it is");
    EXPECT_EQ(place("http://h/", "http://x/", "http://h/mcp"), "http://x/mcp");
}

TEST(ConfigExecutors, TheFirstRewriteThatMatchesCountsOnce) {
    const auto made = executor(
        "http_url_rewrite = [{ from = 'http://a/x', to = 'http://b' }, { from = 'http://a', to = "
        "'http://c' }, { from = 'http://b', to = 'http://d' }]");
    EXPECT_EQ(rewritten(*rewrite_of(made, "http://a/x/y"), "http://a/x/y"), "http://b/y");
    EXPECT_EQ(rewritten(*rewrite_of(made, "http://a/y"), "http://a/y"), "http://c/y");
    EXPECT_EQ(to_string(rewrite_of(made, "http://a/y")->place).substr(0, 23),
              "user config user.toml:2");
    EXPECT_TRUE(rewrite_is_open(made, "http://${HOST}/mcp"));
    EXPECT_TRUE(rewrite_is_open(made, "http://a${PORT}/mcp"));
    EXPECT_FALSE(rewrite_is_open(made, "http://z/${PATH}"));
    EXPECT_FALSE(rewrite_is_open(made, "http://a/y"));
}

TEST(ConfigExecutors, WhatMakesNoSenseMakesTheExecutorUseless) {
    for (const auto& [keys, says] : std::vector<std::pair<std::string, std::string>>{
             {"allow_stdio = 'no'", "expected true or false"},
             {"allow_stdoi = false", "did you mean \"allow_stdio\"?"},
             {"deny_http = true", "unknown key"},
             {"http_url_rewrite = 'x'", "expected a list of { from, to }"},
             {"http_url_rewrite = [{ from = 'http://a' }]", "there is no \"to\""},
             {"http_url_rewrite = [{ from = 'localhost', to = 'http://a' }]",
              "entry 1: from: expected the beginning of a URL"},
             {"http_url_rewrite = [{ from = 'http://a/', to = 'http://b' }]", "write both alike"},
             {"http_url_rewrite = [{ from = 'http://u:p@a', to = 'http://b' }]", "from: expected"},
             {"http_url_rewrite = [{ from = 'http://a', to = 'http://A' }]", "are the same"},
             {"http_url_rewrite = [{ from = 'http://a', too = 'http://b' }]",
              "unknown key \"too\""},
             {"env_injection = { 'A=B' = 'x' }", "is no name of a variable"},
             {"env_injection = { A = ['x'] }", "A: expected text"},
             {"env_server_wins = ['A*B']", "expected names"}})
        EXPECT_THAT(fault(keys),
                    ::testing::AllOf(HasSubstr("user config user.toml:2:"), HasSubstr(says)))
            << keys;
    EXPECT_EQ(fault("image = 'x'"), "") << "which forbids nothing: a warning";
    EXPECT_THAT(executor_named(merged("[executors.x]\nallow_ws = 1\n"), "x").error().message,
                HasSubstr("cannot be used until it is mended"));
}

TEST(ConfigExecutors, AnotherNameIsToldWithTheNearest) {
    EXPECT_THAT(executor_named(merged("[executors.lab]\n"), "remote_shh").error().message,
                HasSubstr("did you mean \"remote_ssh\"? Known: lab, local_pc"));
    EXPECT_THAT(merged("[executors.'a b']\n").executors, IsEmpty());
}

TEST(ConfigExecutors, ACheckoutDefinesNone) {
    for (const auto scope : {Scope::Project, Scope::Local}) {
        const auto config = merged({{scope, "[executors.x]\nallow_stdio = true\n"}});
        EXPECT_THAT(config.executors, IsEmpty());
        EXPECT_THAT(all(config.diagnostics), HasSubstr("executors.x: not allowed in a"));
    }
}

TEST(ConfigExecutors, AnEnterpriseOnlyTakesAway) {
    const std::string enterprise =
        "exclusive = false\n[executors.x]\nallow_stdio = true\nallow_ws = false\n"
        "http_url_rewrite = [{ from = 'http://a', to = 'http://theirs' }]\n"
        "env_injection = { A = 'theirs' }\n";
    const auto config =
        merged({{Scope::User,
                 "[executors.x]\nallow_stdio = false\nallow_sse = false\n"
                 "http_url_rewrite = [{ from = 'http://a', to = 'http://mine' }]\n"
                 "env_injection = { A = 'mine', B = 'mine' }\nenv_server_wins = ['*']\n"},
                {Scope::Enterprise, enterprise}});
    const auto x = *executor_named(config, "x");
    EXPECT_EQ(forbidden_by(x, "stdio", true), "allow_stdio");
    EXPECT_EQ(forbidden_by(x, "sse", false), "allow_sse");
    EXPECT_EQ(forbidden_by(x, "ws", false), "allow_ws");
    EXPECT_EQ(x.places.at("allow_ws").scope, Scope::Enterprise);
    EXPECT_EQ(rewritten(*rewrite_of(x, "http://a"), "http://a"), "http://theirs");
    EXPECT_EQ(x.env_injection.at("A"), "theirs");
    EXPECT_FALSE(server_wins(x, "A"));
    EXPECT_TRUE(server_wins(x, "B"));
    const auto alone = *executor_named(merged({{Scope::Enterprise, enterprise}}), "x");
    EXPECT_EQ(forbidden_by(alone, "stdio", true), "") << "where nobody else defines it";
}

// Every word of a user under every word of an enterprise.
TEST(ConfigExecutors, NoCeilingEverAllowsWhatWasForbidden) {
    const std::optional<bool> words[] = {std::nullopt, false, true};
    const auto table = [](const char* transport, std::optional<bool> word) {
        if (!word) return std::string("[executors.k8s]\n");
        return "[executors.k8s]\nallow_" + std::string(transport) + " = " +
               (*word ? "true" : "false") + "\n";
    };
    for (const auto* transport : kExecutorTransports)
        for (const auto user : words)
            for (const auto enterprise : words) {
                const auto alone = merged(table(transport, user));
                const auto under = merged(
                    {{Scope::User, table(transport, user)},
                     {Scope::Enterprise, "exclusive = false\n" + table(transport, enterprise)}});
                for (const auto* asked : {"stdio", "http", "sse", "ws", "tcp"}) {
                    const bool program = std::string(asked) == "stdio";
                    if (forbidden_by(*executor_named(alone, "k8s"), asked, program).empty())
                        continue;
                    EXPECT_NE(forbidden_by(*executor_named(under, "k8s"), asked, program), "")
                        << transport << " " << asked;
                }
            }
}

TEST(ConfigExecutors, AreShownWithoutWhatTheyPutIntoAnEnvironment) {
    const auto shown = boost::json::serialize(
        to_json(merged("[executors.x]\nallow_ws = false\nenv_injection = { PLAIN = 'word' }\n"),
                false)
            .at("executors"));
    EXPECT_EQ(shown, R"({"x":{"allow_ws":false,"env_injection":{"PLAIN":"***"}}})");
}

TEST(ConfigAgentServers, AreItsOwnOrPicked) {
    const auto config = merged(
        "[servers.git]\ncommand = 'git'\n[servers.files]\ncommand = 'f'\n"
        "[agents.a.servers]\ngit = true\ndb = { command = 'db' }\n"
        "[agents.a.modes]\ndb = 'per_session'\n"
        "[agents.a.meta]\nname = 'A'\nicon = 'https://a/i.png'\n"
        "[agents.b]\nservers = ['agents.a', 'files']\n[agents.c]\n");
    EXPECT_EQ(all(config.diagnostics), "");
    ASSERT_EQ(config.servers.size(), 3u);
    EXPECT_EQ(config.servers[0].id, "db");
    EXPECT_EQ(config.servers[0].agent, "a");
    EXPECT_EQ(config.servers[2].agent, "");
    ASSERT_EQ(config.agents.size(), 3u);
    EXPECT_THAT(*config.agents[0].servers, ElementsAre("git", "db"));
    EXPECT_EQ(config.agents[0].modes.at("db"), "per_session");
    EXPECT_EQ(config.agents[0].meta.icon, "https://a/i.png");
    EXPECT_THAT(*config.agents[1].servers, ElementsAre("git", "db", "files"));
    EXPECT_FALSE(config.agents[2].servers);
}

TEST(ConfigAgentServers, PicksThatLeadRoundOrToNobodyMakeTheAgentUseless) {
    const auto round = merged(
        "[agents.a]\nservers = ['agents.b']\n[agents.b]\nservers = "
        "['agents.c']\n[agents.c]\nservers = ['agents.a']\n");
    EXPECT_THAT(all(round.diagnostics),
                HasSubstr("agents.c.servers: \"agents.a\": it leads round: a, b, c, a"));
    for (const auto& agent : round.agents) EXPECT_NE(agent.fault, "") << agent.name;
    const auto itself = merged("[agents.a]\nservers = ['agents.a']\n");
    EXPECT_THAT(itself.agents[0].fault, HasSubstr("it leads round: a, a"));
    const auto nobody = merged("[agents.rev]\n[agents.a]\nservers = ['agents.rve']\n");
    EXPECT_THAT(nobody.agents[0].fault, HasSubstr("no agent \"rve\" is configured; did you mean"));
}

TEST(ConfigAgentServers, WhatIsNeitherOwnNorPickedIsAFault) {
    for (const auto* servers :
         {"{ git = false }", "{ git = { mode = 'shared' } }", "{ git = 'x' }"})
        EXPECT_THAT(merged("[agents.a]\nservers = " + std::string(servers) + "\n").agents[0].fault,
                    HasSubstr("each is `ID = true`"))
            << servers;
    for (const auto* keys : {"modes = { git = 'sharde' }", "modes = 'shared'",
                             "meta = { nam = 'x' }", "meta = { name = 3 }"})
        EXPECT_NE(merged("[agents.a]\n" + std::string(keys) + "\n").agents[0].fault, "") << keys;
    const auto misspelt = [](const std::string& servers) {
        return all(merged(servers + "[agents.a]\nmodes = { gti = 'shared' }\n").diagnostics);
    };
    EXPECT_THAT(
        misspelt("[servers.git]\ncommand = 'x'\n"),
        HasSubstr("agents.a.modes: no server \"gti\" is configured; did you mean \"git\"?"));
    EXPECT_EQ(misspelt(""), "") << "another checkout may have it";
}

TEST(ConfigAgentServers, ACheckoutBringsNoneByWayOfAnAgent) {
    const auto config = merged({{Scope::Project, "[agents.a.servers.x]\ncommand = 'x'\n"}});
    EXPECT_THAT(config.servers, IsEmpty());
    EXPECT_THAT(config.agents, IsEmpty());
}

}  // namespace
}  // namespace patchbay::config
