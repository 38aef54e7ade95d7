// Rules by a nearly right name, in a nearly right place, or by another program's name for them.
#include "config/rules.hpp"

#include "config/merge.hpp"
#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTwoServers = "[servers.u]\ncommand = 'u'\n[servers.v]\ncommand = 'v'\n";

Config user_and(Scope scope, const std::string& text, Format format = Format::Toml) {
    std::vector<Fragment> fragments;
    fragments.push_back(read_fragment(kTwoServers, Format::Toml, {Scope::User, 0, "user.toml"}));
    fragments.push_back(read_fragment(text, format, {scope, 1, "other"}));
    return merge(std::move(fragments));
}

constexpr Scope kScopes[] = {Scope::User, Scope::Project, Scope::Local, Scope::Session};

TEST(Rules, OfAMisnamedTableOfServersTakeThoseServersDown) {
    for (const auto* text :
         {"[server.u]\ndisabled_tools = ['a']\n", "[Servers.u]\nenabled_tools = ['b']\n",
          "[serves.u]\nenabled = false\n", "[mcpServer.u]\ndisabledTools = ['a']\n",
          "[mcp-servers.u]\ndisabeld_tools = ['a']\n", "[mcp.server.u]\ndisabled_tools = ['a']\n",
          "[server.u.tools]\na = 'deny'\n", "[server.u]\ntrust = 'untrusted'\n",
          "[server.u]\ncommand = 'x'\nexcludeTools = ['a']\n",
          "[mcp_servers.w]\ncommand = 'w'\n[mcp_server.u]\ndisabled_tools = ['a']\n"}) {
        for (const auto scope : kScopes) {
            SCOPED_TRACE(std::string(name_of(scope)) + " " + text);
            const auto config = user_and(scope, text);
            EXPECT_FALSE(find(config, "u"));
            EXPECT_TRUE(find(config, "v"));
            EXPECT_EQ(config.permissions.closed, "");
            EXPECT_THAT(config.diagnostics,
                        ElementsAre(AllOf(Field(&Diagnostic::severity, Severity::Error),
                                          Field(&Diagnostic::server, "u"),
                                          Field(&Diagnostic::message, HasSubstr("did you mean")))));
        }
    }
}

TEST(Rules, OfATableThatNobodyKnowsDenyEveryCall) {
    for (const auto* text :
         {"[policies]\ndeny = ['mcp__u__a']\n", "[Permissions]\ndeny = ['x']\n",
          "[rules]\ndeny = ['x']\n", "[u]\ndisabled_tools = ['a']\n",
          "[u]\nenabled = false\ndeny = ['x']\n", "disabled_tools = ['a']\n",
          "deny = ['mcp__u__a']\n", "enabld = false\n", "[x.y.z]\nblocked_tools = ['a']\n",
          "[tools]\nmcp__u__a = 'deny'\n", "[server]\ndisabled_tools = ['a']\n",
          "[[server]]\nid = 'u'\ndisabled_tools = ['a']\n", "[plugin]\ndisabled = ['x']\n",
          "[client]\ndisabled_tools = ['a']\n", "[plugins]\ndisable = ['x']\n",
          "[health.servers.u]\ndisabled_tools = ['a']\n"}) {
        for (const auto scope : kScopes) {
            SCOPED_TRACE(std::string(name_of(scope)) + " " + text);
            const auto config = user_and(scope, text);
            EXPECT_NE(config.permissions.closed, "");
            ASSERT_TRUE(config.permissions.allow);
            EXPECT_THAT(*config.permissions.allow, IsEmpty());
            EXPECT_THAT(all(config.diagnostics), HasSubstr("error: "));
        }
    }
}

TEST(Rules, AStraySwitchTurnsOffTheServersItNamesAndNoOther) {
    const struct {
        const char* text;
        bool u, v;  // run
    } cases[] = {
        {"[telemetry]\nenabled = false\n", true, true},
        {"[ui.theme]\ndisabled = true\nname = 'dark'\n", true, true},
        {"[features.beta]\nactive = false\nlevel = 3\n", true, true},
        {"[u]\nenabled = false\n", false, true},
        {"[x.u]\nisActive = false\n", false, true},
        {"[x.U.y]\ndisabled = true\n", false, true},
        {"[x]\nserver = 'v'\nenabled = false\n", true, false},
        {"[x.v]\nenabled = true\n[x.u]\nenabled = false\n", false, true},
        {"['a server']\nenabled = false\n[servers.'a server']\ncommand = 'w'\n", true, true},
        {"[a-sever]\nenabled = false\n[servers.'a server']\ncommand = 'w'\n", true, true},
    };
    for (const auto& c : cases) {
        for (const auto scope : kScopes) {
            SCOPED_TRACE(std::string(name_of(scope)) + " " + c.text);
            const auto config = user_and(scope, c.text);
            EXPECT_EQ(find(config, "u") != nullptr, c.u);
            EXPECT_EQ(find(config, "v") != nullptr, c.v);
            EXPECT_FALSE(find(config, "a-server"));
            EXPECT_EQ(config.permissions.closed, "");
            EXPECT_THAT(all(config.diagnostics), HasSubstr("unknown table or key"));
        }
    }
}

TEST(Rules, TooManyStraySwitchesDenyEveryCall) {
    std::string text;
    for (int i = 0; i < 65; ++i) text += "[t" + std::to_string(i) + "]\nenabled = false\n";
    EXPECT_NE(user_and(Scope::User, text).permissions.closed, "");
    text = "[t]\n";
    for (int i = 0; i < 65; ++i) text += "[t.t" + std::to_string(i) + "]\nenabled = false\n";
    EXPECT_NE(user_and(Scope::User, text).permissions.closed, "");
}

// Other files may bring as many names as they like: what a switch is about does not depend on them.
TEST(Rules, AStraySwitchIsComparedWithAllServersWhateverOthersThereAre) {
    const auto runs = [](const std::string& wanted, const std::string& strays,
                         const std::string& theirs) {
        std::vector<Fragment> fragments;
        fragments.push_back(
            toml(Scope::User, "[servers." + wanted + "]\ncommand = 'u'\n" + strays));
        fragments.push_back(toml(Scope::Project, theirs));
        return find(merge(std::move(fragments)), wanted) != nullptr;
    };
    std::string nine, thousands;
    for (const auto* name :
         {"aithb", "bithb", "cithb", "dithb", "eithb", "fithb", "gathb", "gbthb", "gcthb"})
        nine += "[servers." + std::string(name) + "]\ncommand = 'x'\n";
    for (int i = 0; i < 4000; ++i)
        thousands += "[servers.aaaaaaaaaaaa" + std::to_string(100'000 + i) + "]\ncommand = 'x'\n";
    const std::string off = "enabled = false\n";
    EXPECT_FALSE(runs("github", "[githb]\n" + off, nine));
    EXPECT_FALSE(runs("filesystem-prod", "[filesystem-prd]\n" + off, thousands));
    EXPECT_TRUE(runs("filesystem-prod", "[telemetry]\n" + off, thousands));
}

TEST(Rules, TooManyNamesBesideStraySwitchesDenyEveryCall) {
    std::string text;
    for (int i = 0; i < 8; ++i) {
        text += "[t" + std::to_string(i) + "]\nenabled = false\n";
        for (int j = 0; j < 40; ++j)
            text += "k" + std::to_string(j) + " = 'name" + std::to_string(j) + "'\n";
    }
    EXPECT_NE(user_and(Scope::User, text).permissions.closed, "");
}

TEST(Rules, ASecondSwitchForOneServerIsNoContradiction) {
    const auto config = user_and(Scope::Project, "[u]\nenabled = false\n[x.u]\nenabled = false\n");
    EXPECT_FALSE(find(config, "u"));
    EXPECT_THAT(all(config.diagnostics), Not(HasSubstr("already adjusted")));
}

TEST(Rules, OfADefinitionInTheWrongPlaceConcernThatServerAlone) {
    const auto config = user_and(Scope::User, "[u]\ncommand = 'x'\ndisabled_tools = ['a']\n");
    EXPECT_FALSE(find(config, "u"));
    EXPECT_TRUE(find(config, "v"));
    EXPECT_EQ(config.permissions.closed, "");
    EXPECT_THAT(all(config.diagnostics), HasSubstr("a server stands below \"servers\""));
}

TEST(Rules, AreNotSeenInWhatForbidsNothing) {
    for (const auto* text :
         {"[helth]\nmisses = 1\n", "[ui]\ncolour = 'deep'\nfonts = ['x']\n",
          "[server.u]\ncommand = 'x'\n", "[x]\nenabled = true\n", "[x]\ndisabled = false\n",
          "[telemetry]\nenabled = false\n", "srevers = 1\n", "[logs]\nlevel = 'warn'\n"}) {
        SCOPED_TRACE(text);
        const auto config = user_and(Scope::User, text);
        EXPECT_EQ(config.servers.size(), 2u);
        EXPECT_EQ(config.permissions.closed, "");
        EXPECT_THAT(config.diagnostics,
                    ElementsAre(Field(&Diagnostic::severity, Severity::Warning)));
    }
}

TEST(Rules, OfAnotherProgramsFileAreThatProgramsButForItsServers) {
    const auto config =
        user_and(Scope::User,
                 R"({"mcpServers": {"w": {"command": "w"}}, "tools": {"exclude": ["x"]},
            "projects": {"/x": {"allowedTools": ["a"]}}, "telemetry": {"enabled": false}})",
                 Format::Json);
    EXPECT_EQ(config.servers.size(), 3u);
    EXPECT_EQ(all(config.diagnostics), "");
    EXPECT_EQ(config.permissions.closed, "");
}

TEST(Rules, InATableOfServersByAnotherNameCountToo) {
    for (const char* text :
         {"[mcp.permissions]\ndeny = ['mcp__u__a']\n", "[mcp]\ndeny = ['mcp__u__a']\n",
          "[mcp.u]\ndisabled_tools = ['a']\n", "[mcp]\nexcluded = 'u'\n",
          "[mcp]\n[rules]\ndeny = ['mcp__u__a']\n",
          "[servers.w]\ncommand = 'w'\n[mcp_servers]\n[rules]\ndeny = ['mcp__u__a']\n"}) {
        SCOPED_TRACE(text);
        EXPECT_NE(user_and(Scope::User, text).permissions.closed, "");
    }
}

TEST(Rules, OfWhichServersThereAreTurnTheOthersOff) {
    for (const auto& [lists, w, v] :
         {std::tuple(R"({"excluded": ["w"]})", false, true),
          std::tuple(R"({"allowed": ["w"]})", true, false),
          std::tuple(R"({"allowed": ["w", "v"], "excluded": ["v"], "serverCommand": "x"})", true,
                     false)}) {
        const auto config =
            user_and(Scope::User,
                     R"({"mcpServers": {"w": {"command": "w"}, "v": {"command": "v"}},
            "mcp": )" + std::string(lists) +
                         "}",
                     Format::Json);
        SCOPED_TRACE(lists);
        EXPECT_EQ(config.permissions.closed, "");
        for (const auto& server : config.servers) {
            if (server.id == "w") EXPECT_EQ(server.enabled, w);
            if (server.id == "v") EXPECT_EQ(server.enabled, v);
        }
    }
}

TEST(Rules, ListsOfServersToBeOffAreHonoured) {
    const auto enabled = [](const std::string& list, const char* id) {
        const auto config =
            user_and(Scope::Session,
                     R"({"mcpServers": {"w": {"command": "w"}, "My Server": {"command": "v"}}, )" +
                         list + "}",
                     Format::Json);
        EXPECT_EQ(config.permissions.closed, "") << list;
        const auto* server = find(config, id);
        return server && server->enabled;
    };
    for (const auto* key :
         {"disabledMcpjsonServers", "disabledMcpServers", "excludeMCPServers", "excludedMcpServers",
          "deniedMcpServers", "disabled_servers", "blockedServers"}) {
        SCOPED_TRACE(key);
        const auto list = "\"" + std::string(key) + "\": ";
        EXPECT_FALSE(enabled(list + R"(["w"])", "w"));
        EXPECT_TRUE(enabled(list + R"(["w"])", "My-Server"));
        EXPECT_FALSE(enabled(list + R"(["My Server"])", "My-Server"));
        EXPECT_FALSE(enabled(list + R"([{"serverName": "w"}])", "w"));
        EXPECT_FALSE(enabled(list + R"(["u"])", "u")) << "of another file";
        EXPECT_TRUE(enabled(list + R"(["u"])", "w"));
        EXPECT_TRUE(enabled(list + "[]", "w"));
    }
    EXPECT_FALSE(enabled(R"("mcp": {"disabledServers": ["w"]})", "w"));
    EXPECT_FALSE(enabled(R"("allowMCPServers": ["My Server"])", "w"));
    EXPECT_TRUE(enabled(R"("allowMCPServers": ["My Server"])", "My-Server"));
    EXPECT_TRUE(enabled(R"("enabledMcpjsonServers": ["w"])", "My-Server")) << "only approves";
    EXPECT_NE(user_and(Scope::Session, "allowed_servers = ['u']\n").permissions.closed, "");
    const auto elsewhere = user_and(Scope::Session, "disabled_servers = ['v']\n");
    EXPECT_EQ(elsewhere.permissions.closed, "");
    EXPECT_TRUE(find(elsewhere, "u")->enabled);
    EXPECT_FALSE(find(elsewhere, "v")->enabled);
    for (const auto* list :
         {R"("disabledMcpServers": "w")", R"("deniedMcpServers": [{"serverUrl": "x"}])",
          R"("excludeMCPServers": {"w": true})"})
        EXPECT_NE(user_and(Scope::Session,
                           R"({"mcpServers": {"w": {"command": "w"}}, )" + std::string(list) + "}",
                           Format::Json)
                      .permissions.closed,
                  "")
            << list;
}

TEST(Rules, OfAFileWithMoreKeysThanAnybodyWritesDenyEveryCall) {
    for (const auto& [before, after] : {std::pair("{", "}"), std::pair(R"({"mcp": {)", "}}")}) {
        std::string text;
        for (int i = 0; i < 4097; ++i)
            text += (text.empty() ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
        const auto config = user_and(Scope::Project, before + text + after, Format::Json);
        EXPECT_NE(config.permissions.closed, "");
        EXPECT_THAT(all(config.diagnostics), HasSubstr("4096"));
        EXPECT_EQ(config.diagnostics.size(), 1u);
    }
}

TEST(Rules, BesideAnApprovalModeAreNotLost) {
    const auto config = user_and(Scope::User, R"([mcp_servers.w]
command = 'w'
[mcp_servers.w.tools.secret]
approval_mode = 'approve'
enabled = false
)");
    EXPECT_THAT(all(config.diagnostics), HasSubstr("secret"));
    for (const auto& server : config.servers) EXPECT_NE(server.id, "w");
}

TEST(Rules, InTheCommandLineStopTheRun) {
    World world;
    world.environment.sets = {"server.u.disabled_tools=['a']"};
    EXPECT_THAT(load(world.environment).config.stop, HasSubstr("did you mean \"servers\"?"));
}

TEST(Rules, AreKnownByTheNamesThatOtherProgramsHaveForThem) {
    for (const auto* name : {"disabled_tools",   "disabledTools",  "disabled-tools",
                             "disabled_tool",    "disabeldTools",  "excludeTools",
                             "exclude_tools",    "includeTools",   "allowedTools",
                             "allowed_tools",    "blockedTools",   "blocked_tools",
                             "disallowedTools",  "availableTools", "toolFilter",
                             "tool_permissions", "deny",           "denied_tools",
                             "Enabled",          "trsut",          "require_approval",
                             "isActive",         "tools_disabled", "block",
                             "whitelist",        "hidden",         "alwaysDeny",
                             "alwaysDenied",     "always_deny",    "alwaysBlock",
                             "neverAllow",       "never_allowed",  "autoDeny",
                             "blocked",          "denyTools",      "forbiddenTools",
                             "rejectedTools",    "prohibitTools",  "requireConfirmation"})
        EXPECT_TRUE(names_a_rule(name)) << name;
    for (const auto* name : {"command",       "argz",
                             "env_file",      "url",
                             "header",        "description",
                             "timeout",       "lasy",
                             "icon",          "notes",
                             "labels",        "include_dirs",
                             "host",          "prot",
                             "version",       "name",
                             "own",           "alwaysLoad",
                             "alwaysApprove", "autoReconnect",
                             "restart",       "rejectUnauthorized",
                             "remote"})
        EXPECT_FALSE(names_a_rule(name)) << name;
}

// A key of an entry of a server, with its value.
struct Unread {
    const char* key;
    const char* value;  // JSON
};

TEST(Rules, InWordsOfOursAreKnownByTheKindOfTheirValue) {
    const Unread cases[] = {{"only", R"(["echo"])"},
                            {"off", "true"},
                            {"off", "false"},
                            {"state", R"("disabled")"},
                            {"status", R"("Read-Only")"},
                            {"mode_of_use", R"("never")"},
                            {"approval_policy", R"("ask")"},
                            {"access", R"("READ_ONLY")"},
                            {"read_only", "true"},
                            {"hide", R"(["echo"])"},
                            {"ban", R"(["echo"])"},
                            {"ban", "[]"},
                            {"autostart", "false"},
                            {"gate", R"({"names": ["echo"]})"},
                            {"gate", R"({"tools_of": {"echo": {"use": false}}})"},
                            {"gate", R"([{"name": "echo", "use": "no"}])"},
                            {"gate", R"([1, "echo"])"},
                            {"gate", R"([["echo"]])"},
                            {"x", "true"},
                            {"Enabled", "true"}};
    for (const auto& [key, value] : cases)
        EXPECT_TRUE(is_rule_of_a_server(key, boost::json::parse(value), Words::Ours))
            << key << " = " << value;
}

TEST(Rules, AWordThatRefusesClosesItsServerUnderAnyKey) {
    for (const auto* key : {"mode", "modex", "comand", "argz", "access"}) {
        for (const auto* word : {"read-only", "disabled", "off", "ask", "Never"}) {
            SCOPED_TRACE(std::string(key) + " = " + word);
            const auto entry =
                "[servers.w]\ncommand = 'w'\n" + std::string(key) + " = '" + word + "'\n";
            auto config = of_user(entry);
            check_transports(config,
                             {{"stdio", boost::json::parse(R"({"properties": {"command": {}},
                                                "additionalProperties": false})")}});
            EXPECT_FALSE(find(config, "w"));
            ASSERT_EQ(config.diagnostics.size(), 1u) << all(config.diagnostics);
            EXPECT_EQ(config.diagnostics[0].severity, Severity::Error);
            EXPECT_EQ(config.diagnostics[0].place.line, 3u);
        }
    }
    EXPECT_FALSE(is_rule_of_a_server("modex", "fast", Words::Ours));
    EXPECT_FALSE(is_rule_of_a_server("x-mode", "off", Words::Ours));
    EXPECT_FALSE(is_rule_of_a_server("title", "off", Words::Ours));
}

TEST(Rules, OfADefinitionThatWaitsCountByTheWordOfItsMode) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", kTwoServers);
    world.folder.write("home/user/src/project/.patchbay/config.toml",
                       "[servers.u]\ncommand = 'x'\nmode = 'disabled'\n");
    FakeApprovals none;
    none.digests.emplace();
    EXPECT_FALSE(find(load(world.environment, {}, &none).config, "u"));
}

TEST(Rules, InWordsOfOursAreNotSeenInWhatCannotForbid) {
    const Unread cases[] = {{"retries", "5"},
                            {"weight", "0.5"},
                            {"colour", R"("red")"},
                            {"colour", "null"},
                            {"sizes", "[1, 2]"},
                            {"extra", R"({"a": {"b": "text", "c": 3}})"},
                            {"extra", "{}"},
                            {"tags", R"(["a"])"},
                            {"metadata", R"({"hidden": true})"},
                            {"Display-Name", R"("off")"},
                            {"autoApprove", R"(["echo"])"},
                            {"alwaysAllow", R"(["echo"])"},
                            {"x-verbose", "true"},
                            {"x_tools", R"(["echo"])"},
                            {"_disabled", "true"},
                            {"$comment", R"(["a"])"},
                            {"//disabled_tools", R"(["a"])"},
                            {"extra", R"({"_off": true})"},
                            {"extra", R"({"enabled": true})"},
                            {"comand", "true"},
                            {"argz", R"(["x"])"},
                            {"lasy", "true"},
                            {"timout", "5"}};
    for (const auto& [key, value] : cases)
        EXPECT_FALSE(is_rule_of_a_server(key, boost::json::parse(value), Words::Ours))
            << key << " = " << value;
}

TEST(Rules, InWordsOfAnotherProgramAreKnownByName) {
    const auto is_rule = [](const char* key, const char* value) {
        return is_rule_of_a_server(key, boost::json::parse(value), Words::AnotherPrograms);
    };
    for (const auto* key : {"excludeTools", "alwaysDeny", "alwaysDenied", "neverAllow", "blocked",
                            "blockedTools", "denyTools", "forbiddenTools"})
        EXPECT_TRUE(is_rule(key, R"(["echo"])")) << key;
    EXPECT_FALSE(is_rule("alwaysAllow", R"(["echo"])"));
    EXPECT_TRUE(is_rule("_disabled", "true"));
    EXPECT_TRUE(is_rule("gate", R"({"deny": ["echo"]})"));
    EXPECT_TRUE(is_rule("status", R"("disabled")"));
    EXPECT_TRUE(is_rule("readOnly", "true"));
    EXPECT_TRUE(is_rule("off", "true"));
    EXPECT_FALSE(is_rule("status", R"("connected")"));
    EXPECT_FALSE(is_rule("readOnly", "false"));
    EXPECT_FALSE(is_rule("off", "false"));
    EXPECT_FALSE(is_rule("logLevel", R"("off")"));
    EXPECT_FALSE(is_rule("sandbox", "true"));
    EXPECT_FALSE(is_rule("watch", R"(["src"])"));
}

TEST(Rules, NamesThatAreHarmlessAreNearlyNoRule) {
    for (const auto* name : {"tags", "icon", "description", "name", "title", "notes", "author",
                             "license", "homepage", "docs", "metadata", "annotations",
                             "autoApprove", "alwaysAllow", "autoRun", "gallery", "inputs"}) {
        EXPECT_FALSE(is_rule_of_a_server(name, true, Words::Ours)) << name;
        EXPECT_FALSE(names_a_rule(name)) << name;
    }
}

// The words an entry is written in come from its table.
TEST(Rules, OfAServerRememberInWhoseWordsTheyAre) {
    const auto words_in = [](const char* text) {
        return read_fragment(text, Format::Json, {Scope::User, 0, "x"}).servers.at(0).words;
    };
    EXPECT_EQ(words_in(R"({"servers": {"a": {"command": "x"}}})"), Words::Ours);
    EXPECT_EQ(words_in(R"({"servers": [{"id": "a", "command": "x"}]})"), Words::Ours);
    for (const auto* text : {R"({"mcpServers": {"a": {"command": "x"}}})",
                             R"({"mcp_servers": {"a": {"command": "x"}}})",
                             R"({"inputs": [], "servers": {"a": {"command": "x"}}})",
                             R"({"mcp": {"servers": {"a": {"command": "x"}}}})"})
        EXPECT_EQ(words_in(text), Words::AnotherPrograms) << text;
}

TEST(Rules, ThatCanMatchNoToolAreToldAllAtOnce) {
    const auto config = of_user("[permissions]\ndeny = ['git*', 'mcp__a__b', 'x']\n");
    EXPECT_THAT(
        all(config.diagnostics),
        HasSubstr("permissions.deny: \"git*\", \"x\" can match no tool: public names are "));
}

TEST(Rules, OfADefinitionThatWaitsCountByTheKindOfTheirValue) {
    World world;
    world.folder.write("home/user/.config/patchbay/config.toml", kTwoServers);
    const auto servers_with = [&](const std::string& definition) {
        world.folder.write("home/user/src/project/.patchbay/config.toml", definition);
        FakeApprovals none;
        none.digests.emplace();
        return load(world.environment, {}, &none).config;
    };
    EXPECT_FALSE(find(servers_with("[servers.u]\ncommand = 'x'\nonly = ['a']\n"), "u"));
    EXPECT_FALSE(find(servers_with("[servers.u]\ncommand = 'x'\nconfig = {off = true}\n"), "u"));
    EXPECT_TRUE(find(servers_with("[servers.u]\ncommand = 'x'\nretries = 3\n"), "u"));
    EXPECT_TRUE(find(servers_with("[servers.u]\ntransport = 'quic'\nfast = true\n"), "u"))
        << "its plugin may read that";
    EXPECT_FALSE(find(servers_with("[servers.u]\ntransport = 'quic'\ndeny = ['a']\n"), "u"));
}

}  // namespace
}  // namespace patchbay::config
