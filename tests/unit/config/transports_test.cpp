#include "config/merge.hpp"
#include "config/transport_settings.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::HasSubstr;

Config of(const std::string& text) {
    std::vector<Fragment> one;
    one.push_back(read_fragment(text, Format::Toml, {Scope::Project, 0, ".mcp.toml"}));
    return merge(std::move(one));
}

std::vector<KnownTransport> known() {
    return {
        {"stdio",
         boost::json::parse(
             R"({"properties": {"command": {}, "args": {}, "env": {}}, "additionalProperties": false})")},
        {"http",
         boost::json::parse(
             R"({"properties": {"headers": {"x-patchbay-reserved": ["cookie", "mcp-*"]}}, "additionalProperties": true})")},
        {"sse",
         boost::json::parse(R"({"properties": {"url": {}}, "additionalProperties": true})")}};
}

TEST(CheckTransports, NamesTheLoadedOnesAndTheNearest) {
    auto config =
        of("[servers.github]\ntransport = 'htpp'\nurl = 'https://x'\n[servers.ok]\nurl = "
           "'https://x'\n");
    check_transports(config, known());
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].id, "ok");
    EXPECT_EQ(
        all(config.diagnostics),
        "error: project config .mcp.toml:1:10: server \"github\": unknown transport \"htpp\"; "
        "loaded transports: http, sse, stdio; did you mean \"http\"?\n");
}

TEST(CheckTransports, NamesThePluginThatWouldProvideAMissingOne) {
    auto plugins = known();
    plugins.push_back({"tcp", nullptr, "plugin \"x.tcp\" would provide it, but is refused: torn"});
    auto config =
        of("[servers.a]\ntransport = 'tcp'\nport = 1\n"
           "[servers.b]\nurl = 'https://x'\nfallback = ['tcp', 'sse']\n");
    check_transports(config, plugins);
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].fallback, std::vector<std::string>{"sse"});
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("server \"a\": transport \"tcp\" is not there: plugin \"x.tcp\" would "
                          "provide it, but is refused: torn; loaded transports: http, sse, stdio"));
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("in fallback is passed over: plugin \"x.tcp\" would provide it"));
}

TEST(CheckTransports, NotesWhichServersAreProgramsOfThisMachine) {
    auto plugins = known();
    plugins[0].local = true;
    auto config = of("[servers.a]\ncommand = 'x'\n[servers.b]\nurl = 'https://x'\n");
    check_transports(config, plugins);
    ASSERT_EQ(config.servers.size(), 2u);
    EXPECT_TRUE(config.servers[0].local);
    EXPECT_FALSE(config.servers[1].local);
}

TEST(CheckTransports, SaysSoWhenNothingIsLoaded) {
    auto config = of("[servers.a]\ncommand = 'x'\n");
    check_transports(config, {});
    EXPECT_THAT(all(config.diagnostics), HasSubstr("loaded transports: none"));
    EXPECT_TRUE(config.servers.empty());
}

TEST(CheckTransports, TakesWhatAFallbackReadsForItsOwn) {
    auto transports = known();
    transports.push_back(
        {"tcp",
         boost::json::parse(R"({"properties": {"port": {}}, "additionalProperties": false})")});
    auto config = of("[servers.a]\ncommand = 'x'\nport = 7\nprot = 7\nfallback = ['tcp']\n");
    std::vector<std::string> judged;
    check_transports(config, transports, [&](const boost::json::value&) -> SettingsValidator {
        return [&](const boost::json::object& settings) {
            judged.push_back(serialize(settings));
            return std::vector<std::string>();
        };
    });
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(serialize(config.servers[0].settings), R"({"command":"x","port":7})");
    EXPECT_EQ(judged, (std::vector<std::string>{R"({"command":"x"})", R"({"port":7})"}));
    EXPECT_THAT(all(config.diagnostics), HasSubstr("unknown key \"prot\""));
    EXPECT_EQ(serialize(settings_for(config.servers[0].settings, transports.back().schema)),
              R"({"port":7})");
    EXPECT_EQ(serialize(settings_for(config.servers[0].settings, nullptr)),
              R"({"command":"x","port":7})");
}

TEST(CheckTransports, JudgesAUrlByItsTransport) {
    const struct {
        const char* keys;
        const char* says;
    } cases[] = {
        {"url = 'http://x'", ""},
        {"url = 'HTTPS://x:1/mcp?a=b'", ""},
        {"url = '${BASE}/mcp'", ""},
        {"url = 'x/mcp'", "begins with http:// or https://"},
        {"url = 'htp://x'", "begins with http:// or https://"},
        {"url = 'http://'", "expected a host behind http://"},
        {"url = 'http:///mcp'", "expected a host behind http://"},
        {"url = 'http://secret@'", "expected a host"},
        {"url = 'http://:80/'", "expected a host"},
        {"url = 'http://x y/'", "no spaces"},
        {"transport = 'http'\nurl = 'ws://x'", "begins with http:// or https://"},
        {"url = 'wss://x'", ""},
        {"url = 'WS://x'\ntransport = 'ws'", ""},
        {"url = 'http://x'\ntransport = 'ws'", ""},
        {"url = 'ftp://x'\ntransport = 'ws'", "begins with ws:// or wss://"},
        {"url = 'https://x'\ntransport = 'sse'", ""},
        {"url = 'wss://x'\ntransport = 'sse'", "begins with http:// or https://"},
        {"url = 'http://?q'", "expected a host behind http://"},
        {"url = 'http://#part'", "expected a host behind http://"},
        {"url = 'http://secret:word@x'", "url: it holds a user name or password"},
        {"url = 'http://secret@x:80'", "url: it holds a user name or password"},
        {"url = 'http://127.0.0.1:99999/mcp'", "url: expected a port from 1 to 65535"},
        {"url = 'http://x:0'", "url: expected a port from 1 to 65535"},
        {"url = 'http://x:8o'", "url: expected a port from 1 to 65535"},
        {"url = 'http://[::1]:70000'", "url: expected a port from 1 to 65535"},
        {"url = 'http://[::1]:7000'", ""},
        {"url = 'http://[::1]/'", ""},
        {"url = 'http://x:/?a=b:c@d'", ""},
        {"url = 'http://x'\nheaders = { Cookie = 'secret' }", "headers: \"Cookie\" is set by"},
        {"url = 'http://x'\nheaders = { MCP-Era = 'secret' }", "headers: \"MCP-Era\" is set by"},
        {"url = 'http://x'\nheaders = { X-Cookie = 'secret' }", ""},
        {"url = \"http://x/\\u001f\"", "no spaces"},
        {"url = 'http://\u00e4'", "url: its host has a character that no host has"},
        {"url = 'http://a%0db'", "url: its host has a character that no host has"},
        {"url = 'http://[::1/'", "url: expected a ] behind the address in brackets"},
        {"url = 'http://[::1]8080/'", "behind it nothing but :PORT"},
        {"url = 'http://[]/'", "url: expected an address in brackets"},
        {"url = 'http://[fe80::1%25eth0]/'", ""},
        {"url = 'http://x/\u00e4?q=%41#%'", ""},
        {"url = 'http://x/secret%2'", "url: it holds a % that is not followed by two"},
        {"url = 'http://x?q=%zz'", "url: it holds a % that is not followed by two"},
        {"url = 'http://x\\y'", "backslashes"},
        {"url = 'http://x'\nheaders = { 'Authorization: secret' = 'x' }",
         "headers: the name that begins with \"Authorization\" cannot be a header's"},
        {"url = 'http://x'\nheaders = { X-A = \"secret\\nb\" }",
         "headers: \"X-A\": its value holds a control character, perhaps a line break"},
        {"url = 'http://x'\nheaders = { X-A = ' secret' }",
         "headers: \"X-A\": its value begins or ends with a space"},
        {"url = 'http://x'\nheaders = { X-A = \"a\\tb\", X-B = '', X-C = '${X} ' }", ""},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.keys);
        auto transports = known();
        transports.push_back({"ws", nullptr});
        auto config = of(std::string("[servers.a]\n") + c.keys + "\n");
        check_transports(config, transports);
        EXPECT_EQ(config.servers.size(), *c.says ? 0u : 1u);
        EXPECT_THAT(all(config.diagnostics), HasSubstr(c.says));
        EXPECT_THAT(all(config.diagnostics), ::testing::Not(HasSubstr("secret")));
    }
}

TEST(CheckTransports, RefusesReferencesThatNothingCouldExpand) {
    const struct {
        const char* keys;
        const char* says;
    } cases[] = {
        {"args = ['${A']", "args[0]: a \"${\" that is never closed"},
        {"args = ['x', '${a b}']", "args[1]: \"${a...}\" is no reference"},
        {"env = { K = '${keyring:x}' }", ""},
        {"env = { K = '${secret:a b}' }", "env.K: \"a b\" is no name of a secret"},
        {"args = ['${command:touch x}']", "${command:...} is not allowed in a project file"},
        {"args = ['${A}', '${B:-c}', '${file:/nowhere}', '$${', '${env:A}']", ""},
        {"args = ['${A']\nexpand = false", ""},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.keys);
        auto config = of(std::string("[servers.a]\ncommand = 'x'\n") + c.keys + "\n");
        check_transports(config, known());
        EXPECT_EQ(config.servers.size(), *c.says ? 0u : 1u);
        EXPECT_THAT(all(config.diagnostics), HasSubstr(c.says));
    }
}

TEST(CheckTransports, DropsUnknownSettingsWithAHint) {
    auto config = of("[servers.a]\ncommand = 'x'\nlasy = true\nargz = []\n");
    check_transports(config, known());
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(serialize(config.servers[0].settings), R"({"command":"x"})");
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr("warning: project config .mcp.toml:3:1: server \"a\": unknown key "
                          "\"lasy\" for transport \"stdio\"; did you mean \"lazy\"?"));
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr(".mcp.toml:4:1: server \"a\": unknown key \"argz\" for transport "
                          "\"stdio\"; did you mean \"args\"?"));
}

TEST(CheckTransports, ARuleByAWrongNameTakesTheServerDown) {
    for (const auto* rule :
         {"disabeld_tools = ['x']", "enabledtools = ['x']", "disabled = true",
          "tool = { x = 'deny' }", "trsut = 'untrusted'", "excludeTools = ['x']",
          "disabledTools = ['x']", "blocked_tools = ['x']", "allowedTools = ['x']",
          "config = { disabled_tools = ['x'] }", "config = { includeTools = ['x'] }",
          "rules = { disabled_tools = ['x'] }", "permissions = { x = 'deny' }", "only = ['x']",
          "off = true", "state = 'disabled'", "config = { read_only = true }",
          "gate = { names = ['x'] }"}) {
        auto config = of("[servers.a]\ncommand = 'x'\n" + std::string(rule) + "\n");
        check_transports(config, known());
        EXPECT_TRUE(config.servers.empty()) << rule;
        EXPECT_THAT(all(config.diagnostics),
                    HasSubstr(std::string("error: project config .mcp.toml:3:") +
                              (std::string(rule).starts_with("config") ? "12: " : "1: ")));
    }
}

TEST(CheckTransports, SaysWhyAnUnreadKeyMattersAndWhatToWrite) {
    auto config = of("[servers.a]\ncommand = 'x'\nverbose = true\n");
    check_transports(config, known());
    EXPECT_EQ(all(config.diagnostics),
              "error: project config .mcp.toml:3:1: server \"a\": unknown key \"verbose\" for "
              "transport \"stdio\", which may be meant to forbid; what forbids is enabled, "
              "enabled_tools, disabled_tools, tools and trust, and a key of your own begins with "
              "\"x-\"\n");
}

TEST(CheckTransports, WhatCannotForbidStaysAWarningAsItIsInAnotherProgramsFile) {
    for (const auto* key : {"retries = 3", "colour = 'red'", "tags = ['x']"}) {
        auto config = of(std::string("[servers.a]\ncommand = 'x'\n") + key + "\n");
        check_transports(config, known());
        EXPECT_EQ(config.servers.size(), 1u) << key;
        EXPECT_THAT(all(config.diagnostics), HasSubstr("warning: ")) << key;
    }
    auto config = of("[mcp_servers.a]\ncommand = 'x'\nsandbox = true\nwatch = ['x']\n");
    check_transports(config, known());
    EXPECT_EQ(config.servers.size(), 1u);
    auto own = of("[servers.a]\ncommand = 'x'\nx-off = true\n_note = 'y'\n");
    check_transports(own, known());
    ASSERT_EQ(own.servers.size(), 1u);
    EXPECT_EQ(all(own.diagnostics), "") << "nothing is to be said of what people mark as their own";
    EXPECT_FALSE(own.servers[0].settings.contains("x-off"));
}

TEST(CheckTransports, SoDoesOneThatASchemaLetsPass) {
    for (const auto* rule : {"disabledTools = ['x']", "blocked_tools = ['x']",
                             "gate = { deny = ['x'] }", "config = { disabled_tools = ['x'] }"}) {
        auto config = of("[servers.a]\nurl = 'https://x'\n" + std::string(rule) + "\n");
        auto own = config;
        check_transports(config, known());
        EXPECT_TRUE(config.servers.empty()) << rule;
        EXPECT_THAT(all(config.diagnostics), HasSubstr("error: project config .mcp.toml:3:"));
        check_transports(
            own,
            {{"http", boost::json::parse(
                          R"({"properties": {"disabledTools": {}, "blocked_tools": {}, "gate": {},
                                   "disabled_tools": {}}, "additionalProperties": true})")}});
        EXPECT_EQ(own.servers.size(), 1u) << "the transport reads it";
    }
}

TEST(CheckTransports, TellsOfATokenThatReachesNoProgram) {
    const struct {
        const char* text;
        const char* says;
    } cases[] = {
        {"[servers.a]\ncommand = 'x'\nbearer_token_env_var = 'T'\n",
         ":3:1: server \"a\": bearer_token_env_var is for servers behind a URL"},
        {"[servers.a]\ncommand = 'x'\nauth = 'corp'\n[auth.corp]\nkind = 'bearer'\ntoken = 't'\n",
         ":3:1: server \"a\": auth \"corp\": a program gets no header, so the token reaches "
         "nothing; "
         "in [auth.corp] write env = \"VARIABLE\""},
        {"[servers.a]\ncommand = 'x'\nauth = 'corp'\n[auth.corp]\nkind = 'bearer'\nenv = 'T'\n",
         ""},
        {"[servers.a]\nurl = 'https://x'\nauth = 'corp'\n[auth.corp]\nkind = 'bearer'\n", ""},
        {"[servers.a]\nurl = 'https://x'\nbearer_token_env_var = 'T'\n", ""},
    };
    for (const auto& c : cases) {
        auto config = of(c.text);
        check_transports(config, known());
        EXPECT_EQ(config.servers.size(), 1u);
        EXPECT_THAT(all(config.diagnostics), HasSubstr(c.says));
        EXPECT_EQ(config.diagnostics.empty(), !*c.says) << c.text;
        const auto& server = config.servers[0];
        EXPECT_TRUE(server.bearer_token_env_var.empty() || server.settings.contains("url"))
            << "what reaches nothing is not asked for";
    }
}

TEST(CheckTransports, TellsOfAHomeFolderThatNoShellExpands) {
    auto all_known = known();
    all_known[0].schema = {};
    const auto told = [&](const std::string& lines) {
        auto config = of("[servers.a]\n" + lines);
        check_transports(config, all_known);
        EXPECT_EQ(config.servers.size(), 1u);
        return all(config.diagnostics);
    };
    EXPECT_EQ(
        told("command = '~/bin/x'"),
        "warning: project config .mcp.toml:2:1: server \"a\": command: no shell expands ~, so "
        "it is the name of a folder here; write ${HOME}\n");
    EXPECT_THAT(told("command = 'x'\ncwd = '~'"), HasSubstr(":3:1: server \"a\": cwd: no shell"));
    EXPECT_EQ(told("command = 'x'\nargs = ['~/x']"), "") << "the program may know what is meant";
    EXPECT_EQ(told("command = '~x'"), "");
}

TEST(CheckTransports, NamesTheKeysThatHaveAnUnknownOneAsAWord) {
    auto config = of("[servers.a]\ncommand = 'x'\ntimeout = 5\n");
    check_transports(config, known());
    EXPECT_THAT(
        all(config.diagnostics),
        ::testing::AllOf(HasSubstr("unknown key \"timeout\" for transport \"stdio\"; keys of "
                                   "that word: "),
                         HasSubstr("startup_timeout_sec, "), HasSubstr("tool_timeout_sec")));
}

TEST(CheckTransports, LeavesOpenSchemasAlone) {
    auto config =
        of("[servers.a]\nurl = 'https://x'\nown = 1\n[servers.b]\ntransport = 'sse'\nurl = "
           "'https://x'\nown = 1\n");
    check_transports(config, known());
    EXPECT_EQ(config.servers.size(), 2u);
    EXPECT_TRUE(config.diagnostics.empty());
}

TEST(CheckTransports, ASettingThatAnEnterpriseFileMisspellsTakesTheServerDown) {
    std::vector<Fragment> one;
    one.push_back(read_fragment("[servers.a]\ncommand = 'x'\nargz = []\n", Format::Toml,
                                {Scope::Enterprise, 0, "e.toml"}));
    auto config = merge(std::move(one));
    check_transports(config, known());
    EXPECT_TRUE(config.servers.empty());
    EXPECT_THAT(
        all(config.diagnostics),
        HasSubstr("error: enterprise config e.toml:3:1: server \"a\": unknown key \"argz\""));
}

TEST(CheckTransports, AKeyThatNobodyReadsInAnEnterpriseFileTakesItsServerDownWhateverItIs) {
    for (const auto* text : {"x = 1", "tags = ['x']", "x-own = 'x'", "config = { x = 1 }",
                             "nested = { a = { b = 1 } }", "transport = { type = 'stdio', x = 1 }",
                             "tools = { echo = { level = 'deny' } }"}) {
        for (const auto* table : {"servers", "mcp_servers"}) {
            SCOPED_TRACE(std::string(table) + " " + text);
            std::vector<Fragment> one;
            one.push_back(
                read_fragment("[" + std::string(table) + ".a]\ncommand = 'x'\n" + text + "\n",
                              Format::Toml, {Scope::Enterprise, 0, "e.toml"}));
            auto config = merge(std::move(one));
            check_transports(config, known());
            EXPECT_TRUE(config.servers.empty());
            EXPECT_THAT(all(config.diagnostics), HasSubstr("error: enterprise config e.toml:3:"));
        }
    }
}

TEST(CheckTransports, ASettingOfAFlagThatNobodyReadsStopsTheRun) {
    std::vector<Fragment> one;
    one.push_back(
        read_fragment("[servers.a]\ncommand = 'x'\n", Format::Toml, {Scope::User, 0, "u.toml"}));
    auto config = merge(std::move(one));
    check_transports(config, {});
    EXPECT_EQ(config.stop, "") << "what a file says stops nothing";
    one.clear();
    one.push_back(read_fragment(R"({"servers": {"a": {"command": "x", "argz": []}}})", Format::Json,
                                {Scope::Session, 0, "--set"}));
    config = merge(std::move(one));
    check_transports(config, known());
    EXPECT_THAT(config.stop, HasSubstr("server \"a\": unknown key \"argz\""));
}

TEST(CheckTransports, TellsOfACommandThatIsALine) {
    const Folder folder;
    folder.write("with space", "");
    const struct {
        std::string command;
        bool told;
    } cases[] = {{"npx -y x", true},
                 {"npx", false},
                 {" npx", false},
                 {"${RUN} x", false},
                 {"npx /x", true},
                 {folder / "with space", false},
                 {folder / "with no space", true},
                 {"/usr/bin/env x", true}};
    for (const auto& c : cases) {
        auto config = of("[servers.a]\ncommand = '" + c.command + "'\n");
        check_transports(config, known());
        EXPECT_EQ(config.servers.size(), 1u);
        EXPECT_EQ(all(config.diagnostics).find("no shell splits it") != std::string::npos, c.told)
            << c.command;
    }
}

// A schema is closed when it lists its names and admits no other.
TEST(CheckTransports, KnowsWhichSchemasAreClosed) {
    const auto settings = boost::json::object{{"a", 1}, {"b", 2}};
    const auto left = [&](const char* schema) {
        return serialize(settings_for(settings, boost::json::parse(schema)));
    };
    EXPECT_EQ(left(R"({"properties": {"a": {}}})"), R"({"a":1})");
    EXPECT_EQ(left(R"({"properties": {"a": {}}, "additionalProperties": false})"), R"({"a":1})");
    for (const auto* open : {R"({"properties": {"a": {}}, "additionalProperties": true})",
                             R"({"properties": {"a": {}}, "additionalProperties": {}})",
                             R"({"properties": {"a": {}}, "patternProperties": {}})",
                             R"({"properties": []})", "{}", "[]"})
        EXPECT_EQ(left(open), R"({"a":1,"b":2})") << open;
}

TEST(CheckTransports, PassesOverUnknownFallbacks) {
    auto config = of("[servers.a]\nurl = 'https://x'\nfallback = ['ssee', 'sse']\n");
    check_transports(config, known());
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].fallback, std::vector<std::string>{"sse"});
    EXPECT_THAT(all(config.diagnostics),
                HasSubstr(".mcp.toml:3:1: server \"a\": unknown transport \"ssee\" in fallback"));
}

TEST(CheckTransports, AServerThatTheSchemaRefusesLeaves) {
    auto config = of("[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'y'\n");
    int compiled = 0;
    check_transports(config, known(), [&](const auto&) {
        ++compiled;
        return [](const auto& settings) {
            return settings.at("command").as_string() == "x"
                       ? std::vector<std::string>{"command: too short"}
                       : std::vector<std::string>{};
        };
    });
    EXPECT_EQ(compiled, 1) << "for two servers of one transport";
    ASSERT_EQ(config.servers.size(), 1u);
    EXPECT_EQ(config.servers[0].id, "b");
    EXPECT_THAT(
        all(config.diagnostics),
        HasSubstr("server \"a\": transport \"stdio\" refuses its settings: command: too short"));
}

TEST(CheckTransports, WaitsWhereTheValueIsNotKnownYet) {
    const auto asked = [](const std::string& text) {
        auto config = of(text);
        bool called = false;
        const std::vector<KnownTransport> one = {{"tcp", boost::json::parse("{}")}};
        check_transports(config, one, [&](const auto&) {
            return [&](const auto&) {
                called = true;
                return std::vector<std::string>{};
            };
        });
        return called;
    };
    EXPECT_FALSE(asked("[servers.a]\ntransport = 'tcp'\nport = '${PORT}'\n"));
    EXPECT_TRUE(asked("[servers.a]\ntransport = 'tcp'\nport = 5\nenv = { A = '${A}' }\n"));
    EXPECT_TRUE(asked("[servers.a]\ntransport = 'tcp'\nport = '${PORT}'\nexpand = false\n"));
    EXPECT_FALSE(asked("[servers.a]\ntransport = 'tcp'\nport = 5\nx = [1, { y = '${A}' }]\n"));
    EXPECT_TRUE(asked("[servers.a]\ntransport = 'tcp'\nport = 5\nx = [1, { y = 'A' }]\n"));
    for (const auto* text :
         {"command = '${A}'", "args = ['${A}']", "cwd = '${A}'", "headers = { H = '${A}' }"})
        EXPECT_TRUE(asked("[servers.a]\ntransport = 'tcp'\nport = 5\n" + std::string(text) + "\n"))
            << text;
}

}  // namespace
}  // namespace patchbay::config
