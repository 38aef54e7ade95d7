// What each kind of value may be, up to its last one, and what is said of others.
#include "config/keys.hpp"

#include "config/merge.hpp"
#include "core/text.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The settings of a server with these keys, or what is wrong with them.
std::string settings_of(const std::string& keys) {
    const auto config = of_user("[servers.a]\n" + keys + "\n");
    return config.servers.empty() ? all(config.diagnostics) : serialize(config.servers[0].settings);
}

struct Case {
    std::string written, result;
};

TEST(Keys, DurationsAreWholeMillisecondsUpToAYear) {
    const auto limit = [](const std::string& key) {
        const auto config = of_user("[servers.a]\ncommand = 'x'\n" + key + "\n");
        return config.servers.empty() ? all(config.diagnostics)
                                      : "= " + core::duration(config.servers[0].tool_timeout);
    };
    const Case cases[] = {
        {"tool_timeout_ms = 1", "= 1 ms"},
        {"tool_timeout_ms = 31622400000", "= 31622400 s"},
        {"tool_timeout_sec = 0.001", "= 1 ms"},
        {"tool_timeout_sec = 1.5", "= 1500 ms"},
        {"tool_timeout_sec = 31622400", "= 31622400 s"},
        {"tool_timeout_ms = 0", "a number of milliseconds from 1 to 31622400000"},
        {"tool_timeout_ms = 31622400001", "to 31622400000, found 31622400001"},
        {"tool_timeout_sec = 0.0009", "a number of seconds from 0.001 to 31622400"},
        {"tool_timeout_sec = 31622401", "to 31622400, found 31622401"},
        {"tool_timeout_ms = '5'", "milliseconds from 1 to 31622400000, found text"}};
    for (const auto& c : cases) EXPECT_THAT(limit(c.written), HasSubstr(c.result)) << c.written;
}

TEST(Keys, WhenAServerComesBackIsAWordOrTheFlagThatItWasOnce) {
    const auto restart = [](const std::string& value) {
        const auto config = of_user("[servers.a]\ncommand = 'x'\nrestart = " + value + "\n");
        return config.servers.empty() ? all(config.diagnostics)
                                      : std::string(name_of(config.servers[0].restart));
    };
    for (const auto& [written, result] : {std::pair{"'on-failure'", "on-failure"},
                                          {"'always'", "always"},
                                          {"'never'", "never"},
                                          {"true", "on-failure"},
                                          {"false", "never"}})
        EXPECT_EQ(restart(written), result) << written;
    EXPECT_EQ(Server().restart, Restart::OnFailure);
    EXPECT_THAT(
        restart("'allways'"),
        HasSubstr(
            "config user.toml:3:11: server \"a\": restart: expected one of on-failure, always, "
            "never, found \"allways\"; did you mean \"always\"?"));
    EXPECT_THAT(restart("5"), HasSubstr("expected one of on-failure, always, never, found"));
}

TEST(Keys, LimitsOfAProgramAreNumbersOrBytesWithAUnit) {
    const auto limits = [](const std::string& value) {
        return settings_of("command = 'x'\nlimits = { " + value + " }");
    };
    const Case cases[] = {
        {"memory = 1", R"("memory":"1")"},
        {"memory = '1 GiB'", R"("memory":"1073741824")"},
        {"memory = '512MiB'", R"("memory":"536870912")"},
        {"memory = ' 2 kb '", R"("memory":"2000")"},
        {"memory = '64'", R"("memory":"64")"},
        {"output_bytes = '1 TB'", R"("output_bytes":"1000000000000")"},
        {"cpu_seconds = 60, processes = 5, files = 64",
         R"({"cpu_seconds":"60","processes":"5","files":"64"})"},
        {"memory = '1024 TiB'", R"("memory":"1125899906842624")"},
        {"memory = '1025 TiB'", "limits.memory: expected bytes, or text such as"},
        {"memory = '99999999999999999999'", "limits.memory: expected bytes"},
        {"memory = '1 GIGS'", "such as \"512 MiB\" or \"1 GiB\", up to 1024 TiB, found \"1 GIGS\""},
        {"memory = '-1'", "limits.memory: expected bytes"},
        {"memory = 0", "limits.memory: expected bytes"},
        {"memory = 1.5", "limits.memory: expected bytes"},
        {"cpu_seconds = 0", "limits.cpu_seconds: expected a whole number from 1 to 1000000000"},
        {"files = '1 KiB'", "limits.files: expected a whole number"},
        {"memroy = 1",
         "limits: unknown key \"memroy\"; there are memory, cpu_seconds, processes, "
         "files, output_bytes; did you mean \"memory\"?"}};
    for (const auto& c : cases) EXPECT_THAT(limits(c.written), HasSubstr(c.result)) << c.written;
    EXPECT_THAT(settings_of("command = 'x'\nlimits = 5"),
                HasSubstr("limits: expected a table of limits, found"));
}

TEST(Keys, CountsAreWholeNumbersFromOneUp) {
    const auto misses = [](const std::string& value) {
        const auto config = of_user("[health]\nmisses = " + value + "\n");
        return all(config.diagnostics) + std::to_string(config.health.misses);
    };
    EXPECT_EQ(misses("1"), "1");
    EXPECT_EQ(misses("2147483647"), "2147483647");
    const auto before = std::to_string(Config().health.misses);
    for (const auto* wrong : {"0", "-1", "2147483648", "1.0", "'1'"}) {
        EXPECT_THAT(misses(wrong),
                    HasSubstr("misses: expected a whole number from 1 to 2147483647"))
            << wrong;
        EXPECT_TRUE(misses(wrong).ends_with("\n" + before));
    }
}

TEST(Keys, APortIsOneOrWaitsForAVariable) {
    const auto port = [](const std::string& value) {
        return settings_of("transport = 'tcp'\nport = " + value);
    };
    EXPECT_EQ(port("1"), R"({"port":1})");
    EXPECT_EQ(port("65535"), R"({"port":65535})");
    EXPECT_EQ(port("'${PORT}'"), R"({"port":"${PORT}"})");
    for (const auto* wrong : {"0", "65536", "-1", "'80'", "80.0"})
        EXPECT_THAT(port(wrong), HasSubstr("port: expected a number from 1 to 65535")) << wrong;
}

TEST(Keys, ACommandIsAProgramOrAListThatBeginsWithOne) {
    EXPECT_EQ(settings_of("command = ['npx', '-y']\nargs = ['x', 7, true]"),
              R"({"command":"npx","args":["-y","x","7","true"]})");
    EXPECT_EQ(settings_of("command = ['npx', '-y']"), R"({"command":"npx","args":["-y"]})");
    EXPECT_EQ(settings_of("command = ['npx']\nargs = []"), R"({"command":"npx","args":[]})");
    for (const auto* wrong : {"''", "[]", "['']", "7"})
        EXPECT_THAT(settings_of(std::string("command = ") + wrong),
                    HasSubstr("command: expected a program, or a list that begins with one"))
            << wrong;
    EXPECT_THAT(settings_of("command = ['x', 1]"),
                HasSubstr("command: expected a list of text, and item 2 of it is a whole number"));
    EXPECT_THAT(settings_of("command = 'x'\nargs = 'y'"),
                HasSubstr("args: expected a list of text"));
    EXPECT_THAT(settings_of("command = 'x'\nargs = [[]]"),
                HasSubstr("args: expected a list of text"));
}

TEST(Keys, OfAListTheItemThatDoesNotDoIsNamed) {
    Node list = Node::of_list({});
    list.items = {Node::of_text("a", {}), Node::of_list({}), Node::of_text("b", {})};
    std::vector<std::string> texts = {"kept"};
    EXPECT_EQ(take_texts(texts, list), "expected a list of text, and item 2 of it is a list");
    list.items.push_back(Node::of_list({}));
    EXPECT_EQ(take_texts(texts, list),
              "expected a list of text, and item 2 of it is a list, item 4 of it is a list");
    for (int i = 0; i < 5; ++i) list.items.push_back(Node::of_list({}));
    EXPECT_THAT(take_texts(texts, list), HasSubstr("item 7 of it is a list, and 2 more"));
    EXPECT_EQ(texts, std::vector<std::string>{"kept"});
}

TEST(Keys, OfATableOfLevelsAllThatIsWrongIsTold) {
    const auto config = of_user(
        "[servers.a]\ncommand = 'x'\ntools = { a = 'alow', b = 'deny', c = 7, 'd*e' = 'deny' }\n");
    EXPECT_THAT(all(config.diagnostics),
                AllOf(HasSubstr("\"a\": expected one of"), HasSubstr("\"c\": expected one of"),
                      HasSubstr("\"d*e\" is no name of a tool")));
}

TEST(Keys, OfPatternsAllThatAreWrongAreToldAndTheyMakeNoEmptyList) {
    const auto config =
        merge({toml(Scope::Session, "[permissions]\ndeny = ['a*b', 'mcp__s__x', 'c*d']\n")});
    const auto told = all(config.diagnostics);
    EXPECT_THAT(told, AllOf(HasSubstr("found \"a*b\"; expected"), HasSubstr("found \"c*d\"")));
    EXPECT_THAT(told, Not(HasSubstr("an empty list lifts nothing")));
}

TEST(Keys, WhatIsWrittenForAnotherTypeIsToldWithWhatToWrite) {
    EXPECT_THAT(settings_of("command = 'x'\nargs = '--tools'"),
                HasSubstr("args: expected a list of text, found text; write [...] around it"));
    for (const auto& [written, meant] : std::map<std::string, std::string>{
             {"yes", "true"}, {"On", "true"}, {"true", "true"}, {"NO", "false"}, {"off", "false"}})
        EXPECT_THAT(settings_of("command = 'x'\nenabled = '" + written + "'"),
                    HasSubstr("enabled: expected true or false, found \"" + written + "\"; write " +
                              meant));
    EXPECT_THAT(settings_of("command = 'x'\nenabled = 'a-secret'"),
                ::testing::AllOf(HasSubstr("enabled: expected true or false, found text"),
                                 ::testing::Not(HasSubstr("a-secret"))));
}

TEST(Keys, VariablesAndHeadersAreTextByName) {
    EXPECT_EQ(settings_of("command = 'x'\nenv = { A = 1, B = false, C = 'c' }"),
              R"({"command":"x","env":{"A":"1","B":"false","C":"c"}})");
    EXPECT_EQ(settings_of("url = 'http://x'\nheaders = { 'A=B' = 'c' }"),
              R"({"url":"http://x","headers":{"A=B":"c"}})");
    EXPECT_THAT(settings_of("command = 'x'\nenv = { 'A=B' = 'c' }"),
                HasSubstr("env: \"A=B\" cannot be a name"));
    EXPECT_THAT(settings_of("command = 'x'\nenv = { '' = 'c' }"),
                HasSubstr("\"\" cannot be a name"));
    EXPECT_THAT(settings_of("command = 'x'\nenv = { A = [] }"), HasSubstr("env.A: expected text"));
    EXPECT_THAT(settings_of("command = 'x'\nenv = []"), HasSubstr("a table of name = text"));
}

TEST(Keys, SettingsMayStandInATableOfTheirOwn) {
    EXPECT_EQ(settings_of("transport = 'stdio'\nconfig = { command = 'x', cwd = '/y' }"),
              R"({"command":"x","cwd":"/y"})");
    EXPECT_THAT(settings_of("config = []"), HasSubstr("config: expected a table of settings"));
}

TEST(Keys, ATransportIsKnownByItsOtherNamesAndByWhatItNeeds) {
    const auto transport = [](const std::string& keys) {
        const auto config = of_user("[servers.a]\n" + keys + "\n");
        return config.servers.empty() ? all(config.diagnostics)
                                      : "= " + config.servers[0].transport;
    };
    const Case cases[] = {
        {"url = 'http://x'\ntransport = 'streamable_http'", "= http"},
        {"url = 'http://x'\ntransport = 'streamable-http'", "= http"},
        {"url = 'http://x'\ntransport = 'streamableHttp'", "= http"},
        {"url = 'http://x'\ntransport = 'websocket'", "= ws"},
        {"url = 'ws://x'", "= ws"},
        {"url = 'wss://x'", "= ws"},
        {"url = 'https://x'", "= http"},
        {"command = 'x'", "= stdio"},
        {"transport = 'own'", "= own"},
        {"transport = ''", "expected the name of a transport, found an empty text"},
        {"command = 'x'\nurl = 'http://x'", "both command and url are given"},
        {"config = { cwd = 'x' }", "no transport, command or url"},
        {"transport = 'stdio'\nurl = 'x'", "transport \"stdio\" needs \"command\""},
        {"transport = 'stdio'\ncomand = 'x'", "is \"comand\" meant to be it?"},
        {"transport = 'tcp'\ncommand = 'x'", "transport \"tcp\" needs \"port\""},
        {"transport = 'http'\ncommand = 'x'", "transport \"http\" needs \"url\""},
        {"transport = 'sse'\ncommand = 'x'", "transport \"sse\" needs \"url\""},
        {"transport = 'ws'\ncommand = 'x'", "transport \"ws\" needs \"url\""}};
    for (const auto& c : cases) EXPECT_THAT(transport(c.written), HasSubstr(c.result)) << c.written;
}

TEST(Keys, APatternIsANameOrTheBeginningOfOne) {
    const auto denied = [](const std::string& pattern) {
        const auto config = of_user("[permissions]\ndeny = ['" + pattern + "']\n");
        return config.permissions.closed.empty() && config.permissions.deny.size() == 1;
    };
    for (const auto* good : {"mcp__a__b", "mcp__a__*", "*"}) EXPECT_TRUE(denied(good)) << good;
    for (const auto* wrong : {"", "mcp__*__b", "**", "*a"}) EXPECT_FALSE(denied(wrong)) << wrong;
}

TEST(Keys, OfTwoFilesOfOneStrengthTheFirstIsHeard) {
    std::vector<Fragment> files;
    for (const auto* name : {"1.toml", "2.toml"})
        files.push_back(read_fragment("[health]\nmisses = " + std::string(name).substr(0, 1) +
                                          "\n[auth.x]\nmethod = '" + name + "'\n",
                                      Format::Toml, {Scope::User, 0, name}));
    auto config = merge(files);
    EXPECT_EQ(config.health.misses, 1u);
    EXPECT_EQ(config.auth.at("x").at("method"), "1.toml");
    EXPECT_EQ(all(config.diagnostics),
              "warning: user config 2.toml:2:1: health.misses: already given at 1.toml:2:1; the "
              "first one is used\n"
              "warning: user config 2.toml:3:7: auth.x: already given at 1.toml:3:7; the first one "
              "is used\n");
    files[1].source.rank = 1;
    config = merge(files);
    EXPECT_EQ(config.health.misses, 2u);
    EXPECT_EQ(config.auth.at("x").at("method"), "2.toml");
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_THAT(all(of_user("[auth]\nx = 1\n").diagnostics), HasSubstr("auth.x: expected a table"));
}

TEST(Keys, ASecondServerOfOneNameIsAnErrorInOneFileAndTheOthersAreWarnings) {
    const auto told = [](const char* first, const char* second) {
        std::vector<Fragment> files;
        for (const auto* name : {first, second})
            files.push_back(read_fragment("[servers.a]\ncommand = 'x'\n", Format::Toml,
                                          {Scope::User, 0, name}));
        return all(merge(std::move(files)).diagnostics);
    };
    EXPECT_THAT(told("f", "f"),
                HasSubstr("error: user config f:1:10: server \"a\": already defined"));
    EXPECT_THAT(told("f", "g"),
                HasSubstr("warning: user config g:1:10: server \"a\": already defined"));
}

TEST(Keys, OneClosedEnterpriseFileClosesAll) {
    const auto closed = [](std::initializer_list<const char*> texts) {
        std::vector<Fragment> files;
        files.push_back(read_fragment("[servers.a]\ncommand = 'x'\n", Format::Toml,
                                      {Scope::User, 0, "user.toml"}));
        for (const auto* text : texts)
            files.push_back(read_fragment(text, Format::Toml, {Scope::Enterprise, 0, text}));
        return merge(std::move(files)).servers.empty();
    };
    EXPECT_FALSE(closed({}));
    EXPECT_TRUE(closed({""}));
    EXPECT_FALSE(closed({"exclusive = false"}));
    EXPECT_FALSE(closed({"", "exclusive = false"}));
    EXPECT_TRUE(closed({"exclusive = false", "exclusive = true"}));
    EXPECT_TRUE(closed({"exclusive = true", "exclusive = false"}));
}

TEST(Keys, ALineOfStderrIsNoLongerThanPluginsKeepOne) {
    const auto limit = [](const std::string& value) {
        const auto config = of_user("[limits]\nstderr_line_bytes = " + value + "\n");
        return all(config.diagnostics) + std::to_string(config.limits.stderr_line_bytes);
    };
    EXPECT_EQ(limit("8192"), "8192");
    EXPECT_EQ(limit("1"), "1");
    EXPECT_THAT(limit("8193"), HasSubstr("limits.stderr_line_bytes: expected a whole number from 1 "
                                         "to 8192, found 8193"));
}

TEST(Keys, WhatTheStdioPluginPassesJoinsEachServersOwn) {
    const std::string plugin = "[plugins.stdio]\npass_env = ['KEY', 'LEVEL']\n";
    const auto passed = [&](const std::string& server) {
        const auto config = of_user(plugin + "[servers.a]\n" + server + "\n");
        EXPECT_EQ(all(config.diagnostics), "");
        const auto* names = config.servers.at(0).settings.if_contains("pass_env");
        return names ? serialize(*names) : "none";
    };
    EXPECT_EQ(passed("command = 'x'"), R"(["KEY","LEVEL"])");
    EXPECT_EQ(passed("command = 'x'\npass_env = ['LEVEL', 'OWN']"), R"(["LEVEL","OWN","KEY"])");
    EXPECT_EQ(passed("url = 'http://127.0.0.1:1/mcp'"), "none");
    EXPECT_EQ(passed("transport = 'tcp'\nport = 1"), "none");
}

TEST(Keys, OfTheStdioPluginAreJudgedWithItsName) {
    const Case cases[] = {
        {"stdio = 5", "plugins.stdio: expected a table, found a whole number"},
        {"stdio = { pass_evn = [] }",
         "plugins.stdio: unknown key \"pass_evn\"; did you mean \"pass_env\""},
        {"stdio = { pass_env = 'KEY' }", "plugins.stdio: pass_env: expected a list of text"},
        {"stdio = { pass_env = ['A=B'] }",
         "plugins.stdio: pass_env: expected names of variables, found \"A=B\""},
        {"stdio = { pass_env = ['9'] }", "expected names of variables, found \"9\""},
        {"stdio = { pass_env = [''] }", "expected names of variables, found \"\""}};
    for (const auto& c : cases)
        EXPECT_THAT(all(of_user("[plugins]\n" + c.written + "\n").diagnostics), HasSubstr(c.result))
            << c.written;
}

TEST(Keys, AStarInALevelStandsAtTheEndAlone) {
    for (const char* key : {"*a", "y*z", "**", "a*b*"}) {
        const auto config =
            of_user("[servers.a]\ncommand = 'x'\n[servers.a.tools]\nok = 'deny'\n\"" +
                    std::string(key) + "\" = 'allow-always'\n");
        EXPECT_TRUE(config.servers.empty()) << key;
        EXPECT_THAT(all(config.diagnostics),
                    AllOf(HasSubstr("user.toml:5:"),
                          HasSubstr("\"" + std::string(key) + "\" is no name of a tool"),
                          HasSubstr("at the end alone, as in create_*")));
    }
    EXPECT_EQ(of_user("[servers.a]\ncommand = 'x'\ntools = {'*' = 'deny', 'a*' = 'deny'}\n")
                  .servers.size(),
              1u);
}

TEST(Keys, AllThatIsWrongInATableIsToldAtItsPlace) {
    const auto config = of_user(
        "[servers.a]\ncommand = 5\nbogus = 1\n"
        "[servers.a.tools]\none = 'allw'\ntwo = 'deny'\nthree = 'nix'\n"
        "[servers.a.env]\nA = []\nB = 'b'\nC = {}\n"
        "[agents.x.modes]\none = 'bad'\ntwo = 'worse'\n"
        "[executors.e.env_injection]\nA = 1\n'b c' = 'x'\n");
    const auto told = all(config.diagnostics);
    for (const char* each :
         {"user.toml:2:11: server \"a\": command", "user.toml:3:1: server \"a\": unknown key",
          "user.toml:5:7: server \"a\": tools: \"one\"",
          "user.toml:7:9: server \"a\": tools: \"three\"", "user.toml:9:5: server \"a\": env.A",
          "user.toml:11:5: server \"a\": env.C", "user.toml:13:7: agents.x.modes: one",
          "user.toml:14:7: agents.x.modes: two", "user.toml:16:5: executors.e.env_injection: A",
          "user.toml:17:9: executors.e.env_injection: \"b c\""})
        EXPECT_THAT(told, HasSubstr(each));
    EXPECT_THAT(told, Not(HasSubstr("\"two\": expected")));
}

TEST(Keys, OfALongTableThatIsWrongOnlySoMuchIsTold) {
    std::string text = "[servers.a]\ncommand = 'x'\n[servers.a.tools]\n";
    for (int i = 0; i < 100; ++i) text += "t" + std::to_string(i) + " = 'nix'\n";
    EXPECT_EQ(of_user(text).diagnostics.size(), kMostFaultsOfATable);
}

}  // namespace
}  // namespace patchbay::config
