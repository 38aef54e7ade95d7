#include "config/approval.hpp"

#include "approval_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(Approval, ADefinitionIsInertUntilItIsApproved) {
    project("[servers.a]\ncommand = 'run'\n");
    const auto before = now();
    EXPECT_TRUE(before.servers.empty());
    ASSERT_EQ(before.untrusted.size(), 1u);
    const auto& proposal = before.untrusted[0];
    EXPECT_EQ(proposal.id, "a");
    EXPECT_EQ(proposal.directory, world.folder / "home/user/src/project");
    EXPECT_EQ(proposal.definition.at("program"), boost::json::value(world.folder / "bin/run"));
    EXPECT_EQ(proposal.definition.at("plugins"), boost::json::parse(R"({"stdio":"fake.stdio"})"));
    EXPECT_THAT(all(before.diagnostics),
                HasSubstr("config.toml:1:10: server \"a\": this definition is not approved; to see "
                          "and approve it: patchbay trust a"));
    approve({"a"});
    EXPECT_TRUE(find(now(), "a"));
    EXPECT_TRUE(now().untrusted.empty());
    EXPECT_EQ(all(now().diagnostics), "");
}

TEST_F(Approval, NobodyAskedIsNobodyApproved) {
    project("[servers.a]\ncommand = 'run'\n[auth.x]\nkind = 'bearer'\n");
    const auto config = load(world.environment).config;
    EXPECT_TRUE(config.servers.empty());
    EXPECT_TRUE(config.auth.empty());
    EXPECT_EQ(config.untrusted.size(), 2u);
}

TEST_F(Approval, WhatTheUserSaysNeedsNone) {
    user("[servers.u]\ncommand = 'run'\n[auth.u]\nkind = 'bearer'\n");
    world.folder.write("flag.toml", "[servers.f]\ncommand = 'run'\n");
    world.environment.config_files = {world.folder / "flag.toml"};
    world.environment.sets = {"servers.s.command=run"};
    world.variables["PATCHBAY_CONFIG_JSON"] = R"({"servers": {"j": {"command": "run"}}})";
    // Named by the user, wherever it lies: here in the checkout.
    world.folder.write("home/user/src/project/named.toml", "[servers.v]\ncommand = 'run'\n");
    world.variables["PATCHBAY_CONFIG"] = world.folder / "home/user/src/project/named.toml";
    const auto config = now();
    for (const auto* id : {"u", "f", "s", "j", "v"}) EXPECT_TRUE(find(config, id)) << id;
    EXPECT_EQ(config.auth.count("u"), 1u);
    EXPECT_TRUE(config.untrusted.empty());
    EXPECT_TRUE(approvals.asked.empty());
}

TEST_F(Approval, AnyChangeWithdrawsIt) {
    const std::string base =
        "[servers.a]\ncommand = 'run'\nargs = ['x']\nenv = { K = 'v' }\nauth = 'corp'\n"
        "[auth.corp]\nkind = 'bearer'\ntoken = 't'\n";
    const struct {
        const char* what;
        std::string was, is;
    } changes[] = {
        {"another argument", "'x'", "'y'"},
        {"another program", "'run'", "'./run'"},
        {"another variable", "K = 'v'", "K = 'w'"},
        {"one more variable", "K = 'v'", "K = 'v', LD_PRELOAD = 'x'"},
        {"a folder", "args", "cwd = '/'\nargs"},
        {"a transport", "args", "transport = 'tcp'\nport = 1\nargs"},
        {"a key of a transport", "args", "stop_grace_ms = 1\nargs"},
        {"a proxy", "args", "proxy = 'http://p'\nargs"},
        {"a CA", "args", "ca_file = 'ca.pem'\nargs"},
        {"a token", "args", "bearer_token_env_var = 'TOKEN'\nargs"},
        {"headers", "args", "headers = { H = '${TOKEN}' }\nargs"},
        {"oauth", "args", "oauth = { client_id = 'x' }\nargs"},
        {"a fallback", "args", "fallback = ['tcp']\nargs"},
        {"a level", "args", "tools = { wipe = 'allow-always' }\nargs"},
        {"no expansion", "args", "expand = false\nargs"},
        {"the table it names", "token = 't'", "token = 'u'"},
        {"the method of the table", "'bearer'", "'oauth'"},
    };
    project(base);
    approve({"auth.corp", "a"});
    ASSERT_TRUE(find(now(), "a")) << all(now().diagnostics);
    for (const auto& change : changes) {
        SCOPED_TRACE(change.what);
        auto text = base;
        text.replace(text.find(change.was), change.was.size(), change.is);
        project(text);
        EXPECT_FALSE(find(now(), "a"));
    }
    project(base);
    EXPECT_TRUE(find(now(), "a")) << "the approval is of the definition, not of a moment";
    const std::string remote =
        "[servers.r]\nurl = 'https://example.org/mcp'\nclient_certificate = 'c.pem'\n"
        "client_key = 'k.pem'\nauth = 'corp'\n[auth.corp]\nkind = 'bearer'\ntoken = 't'\n";
    project(remote);
    approve({"r"});  // the table has been
    ASSERT_TRUE(find(now(), "r")) << all(now().diagnostics);
    const struct {
        const char* what;
        std::string was, is;
    } remote_changes[] = {
        {"another host", "example.org", "example.com"},
        {"another path", "/mcp", "/mcp2"},
        {"without TLS", "https:", "http:"},
        {"a query", "/mcp", "/mcp?${TOKEN}"},
        {"another certificate", "c.pem", "d.pem"},
        {"no certificate", "client_certificate = 'c.pem'\n", ""},
        {"another key", "k.pem", "l.pem"},
        {"no key", "client_key = 'k.pem'\n", ""},
        {"another table", "auth = 'corp'", "auth = 'oauth'"},
        {"no table", "auth = 'corp'\n", ""},
    };
    for (const auto& change : remote_changes) {
        SCOPED_TRACE(change.what);
        auto text = remote;
        text.replace(text.find(change.was), change.was.size(), change.is);
        project(text);
        EXPECT_FALSE(find(now(), "r"));
    }
    project(remote);
    EXPECT_TRUE(find(now(), "r"));
    project(
        "# a remark, and another order\n[auth.corp]\ntoken = 't'\nkind = 'bearer'\n"
        "[servers.a]\nenv = { K = 'v' }\nargs = ['x']\nauth = 'corp'\ncommand = 'run'\n");
    EXPECT_TRUE(find(now(), "a"));
}

TEST_F(Approval, AnotherPluginForItsTransportIsAnotherDefinition) {
    project("[servers.a]\ncommand = 'run'\nfallback = ['tcp']\n");
    approve({"a"});
    approvals.plugin = "other";
    EXPECT_FALSE(find(now(), "a"));
}

// Behind a URL an older server is reached by "sse", and one that refuses is signed in to by "oauth",
// though nobody has written so.
TEST_F(Approval, AnotherPluginForWhatNobodyHasWrittenIsAnotherDefinition) {
    const struct {
        std::string settings, plugin;
        bool counts;
    } cases[] = {
        {"url = 'https://example.org'\n", "http", true},
        {"url = 'https://example.org'\n", "sse", true},
        {"url = 'https://example.org'\nfallback = []\n", "sse", true},
        {"url = 'https://example.org'\nfallback = ['ws']\n", "ws", true},
        {"url = 'https://example.org'\nfallback = ['ws']\n", "sse", false},
        {"url = 'https://example.org'\ntransport = 'sse'\n", "http", false},
        {"config = { url = 'https://example.org' }\n", "sse", true},
        {"command = 'run'\n", "sse", false},
        {"url = 'https://example.org'\n", "auth.oauth", true},
        {"url = 'https://example.org'\nauth = 'bearer'\n", "auth.bearer", true},
        {"url = 'https://example.org'\nauth = 'bearer'\n", "auth.oauth", false},
        {"url = 'https://example.org'\nauth = 'corp'\n", "auth.made", true},
        {"url = 'https://example.org'\nauth = 'none'\n", "auth.oauth", false},
        {"command = 'run'\nauth = 'corp'\n", "auth.made", true},
        {"command = 'run'\n", "auth.oauth", false},
    };
    user("[auth.corp]\nkind = 'made'\n");
    for (const auto& c : cases) {
        SCOPED_TRACE(c.settings + c.plugin);
        approvals.changed.clear();
        approvals.digests->clear();
        project("[servers.a]\n" + c.settings);
        approve({"a"});
        ASSERT_TRUE(find(now(), "a")) << all(now().diagnostics);
        approvals.changed = {c.plugin};
        EXPECT_EQ(find(now(), "a") == nullptr, c.counts);
    }
}

// The plugin gets to know what the table has.
TEST_F(Approval, AnotherPluginForTheMethodOfATableIsAnotherTable) {
    for (const char* key : {"kind", "type"}) {
        approvals.changed.clear();
        approvals.digests->clear();
        project("[auth.corp]\n" + std::string(key) + " = 'made'\ntoken = 't'\n");
        EXPECT_EQ(now().untrusted.at(0).definition.at("plugins"),
                  boost::json::parse(R"({"auth.made":"fake.auth.made"})"));
        approve({"auth.corp"});
        ASSERT_TRUE(waiting().empty());
        approvals.changed = {"auth.made"};
        EXPECT_EQ(waiting(), Ids{"auth.corp"});
    }
}

TEST_F(Approval, WhatOtherFilesOfTheCheckoutAdjustBelongsToIt) {
    project("[servers.a]\ncommand = 'run'\n");
    approve({"a"});
    local("[servers.a]\ntools = { wipe = 'allow-always' }\n");
    EXPECT_FALSE(find(now(), "a"));
    approve({"a"});
    ASSERT_TRUE(find(now(), "a"));
    EXPECT_EQ(find(now(), "a")->tools.at("wipe"), Level::AllowAlways);
}

TEST_F(Approval, WhatIsAdvisedMayBePasted) {
    project("[auth.\"x; touch 'gone'\"]\nkind = 'oauth'\n");
    EXPECT_THAT(all(now().diagnostics),
                HasSubstr(R"(patchbay trust 'auth.x; touch '\''gone'\''')"));
    EXPECT_EQ(trust_command("auth.a-b_2"), "patchbay trust auth.a-b_2");
    const std::string longest(200, 'a');
    EXPECT_EQ(trust_command(longest), "patchbay trust " + longest);
    EXPECT_THAT(trust_command(longest + "b"), ::testing::Not(HasSubstr(longest + "b")));
}

TEST_F(Approval, ATableOfACheckoutDoesNotReplaceTheUsers) {
    user("[servers.u]\ncommand = 'mine'\nauth = 'corp'\n[auth.corp]\nkind = 'oauth'\n");
    project("[auth.corp]\nkind = 'bearer'\ncommand = ['steal']\n");
    EXPECT_EQ(now().auth.at("corp").at("kind"), "oauth");
    EXPECT_EQ(waiting(), Ids{"auth.corp"});
    EXPECT_THAT(all(now().diagnostics),
                AllOf(HasSubstr("auth.corp: this table is not approved, so that of user config"),
                      HasSubstr("patchbay trust auth.corp")));
    approve({"auth.corp"});
    EXPECT_EQ(now().auth.at("corp").at("kind"), "bearer");
}

// Approved with the checkout's table, it must not be sent the credentials of the user's.
TEST_F(Approval, AServerWaitsForTheTableItWasApprovedWith) {
    user("[auth.corp]\nkind = 'oauth'\n");
    project(
        "[servers.a]\nurl = 'https://example.org'\nauth = 'corp'\n[auth.corp]\nkind = 'bearer'\n");
    approve({"a"});
    EXPECT_FALSE(find(now(), "a"));
    EXPECT_EQ(now().untrusted.at(0).waits_for, "auth.corp");
    approve({"auth.corp"});
    EXPECT_TRUE(find(now(), "a")) << all(now().diagnostics);
    (*approvals.digests).erase("auth.corp");
    EXPECT_FALSE(find(now(), "a"));
}

TEST_F(Approval, AChangeOfTheUsersTableWithdrawsItToo) {
    user("[auth.corp]\nkind = 'oauth'\n");
    project("[servers.a]\nurl = 'https://example.org'\nauth = 'corp'\n");
    approve({"a"});
    EXPECT_TRUE(find(now(), "a"));
    user("[auth.corp]\nkind = 'bearer'\n");
    EXPECT_FALSE(find(now(), "a"));
}

// A table as large as a file may be, and as many servers that use it.
TEST_F(Approval, AServerHoldsTheDigestOfItsTableAndNoCopy) {
    const auto table = [](char filling) {
        return "[auth.corp]\nkind = 'bearer'\nx = '" + std::string(100'000, filling) + "'\n";
    };
    const std::string servers =
        "[servers.a]\ncommand = 'run'\nauth = 'corp'\n[servers.b]\ncommand = 'run'\nauth = "
        "'corp'\n";
    project(servers + table('x'));
    const auto config = now();
    ASSERT_EQ(config.untrusted.size(), 3u);
    for (const auto& proposal : config.untrusted) {
        if (proposal.is_table()) continue;
        EXPECT_LT(boost::json::serialize(proposal.definition).size(), 1'000u) << proposal.id;
        EXPECT_EQ(proposal.waits_for, "auth.corp");
    }
    approve({"a", "b", "auth.corp"});
    EXPECT_TRUE(find(now(), "a"));
    EXPECT_TRUE(find(now(), "b"));
    project(servers + table('y'));
    EXPECT_EQ(waiting().size(), 3u) << "another table is another definition of all";
}

TEST_F(Approval, OfOneNameInOneFileTheFirstIsJudged) {
    world.folder.write("home/user/src/project/.patchbay/config.yaml",
                       "servers:\n- {name: a, command: run}\n- {name: a, command: other}\n");
    local("[servers.a]\nenabled = false\n");
    const auto config = now();
    ASSERT_EQ(config.untrusted.size(), 1u) << all(config.diagnostics);
    EXPECT_EQ(config.untrusted[0].definition.at("server").at("command"), "run");
    EXPECT_EQ(config.untrusted[0].definition.at("adjusted_by"),
              boost::json::parse(R"([{"enabled":false}])"));
    approve({"a"});
    EXPECT_TRUE(waiting().empty());
    EXPECT_EQ(find(now(), "a")->settings.at("command"), "run");
}

TEST_F(Approval, AStrongerDefinitionNeedsNoneOfAWeakerOne) {
    project("[servers.a]\ncommand = 'run'\n[auth.x]\nkind = 'bearer'\n");
    world.environment.sets = {"servers.a.command=mine", "auth.x.kind=oauth"};
    EXPECT_EQ(find(now(), "a")->settings.at("command"), "mine");
    EXPECT_EQ(now().auth.at("x").at("kind"), "oauth");
    EXPECT_TRUE(waiting().empty());
    EXPECT_EQ(all(now().diagnostics), "");
}

TEST_F(Approval, OfTwoDefinitionsOfOneStrengthTheFirstIsAskedAbout) {
    project("[servers.a]\ncommand = 'run'\n");
    world.folder.write("home/user/src/project/.mcp.toml", "[servers.a]\ncommand = 'second'\n");
    EXPECT_EQ(waiting(), Ids{"a"});
    EXPECT_EQ(now().untrusted[0].definition.at("server").at("command"), "run");
    EXPECT_THAT(all(now().diagnostics), HasSubstr("already defined at"));
}

// Of the tables that a checkout gives under one name the one that would count is shown, and approving
// it ends the matter.
TEST_F(Approval, OfTwoTablesOfOneStrengthTheFirstIsAskedAbout) {
    const struct {
        const char* first;
        const char* second;
        bool is_local;
    } pairs[] = {{".patchbay/config.toml", ".patchbay/config.json", false},
                 {".patchbay/config.yaml", ".mcp.yaml", false},
                 {".mcp.toml", ".mcp.json", false},
                 {".patchbay.local.toml", ".patchbay.local.json", true}};
    const auto write = [&](const std::string& name, const std::string& token) {
        const bool is_toml = name.ends_with(".toml");
        world.folder.write("home/user/src/project/" + name,
                           is_toml ? "[auth.corp]\nkind = 'bearer'\ntoken = '" + token + "'\n"
                                   : "{\"auth\": {\"corp\": {\"kind\": \"bearer\", \"token\": \"" +
                                         token + "\"}}}");
    };
    for (const auto& pair : pairs) {
        SCOPED_TRACE(std::string(pair.first) + ", " + pair.second);
        std::filesystem::remove_all(world.folder / "home/user/src/project");
        approvals.digests->clear();
        world.folder.write("home/user/src/project/.mcp.jsonc",
                           R"({"servers": {"a": {"command": "run", "auth": "corp"}}})");
        // The one that will be the second is approved as long as it is alone.
        write(pair.second, "second");
        approve({"auth.corp", "a"});
        ASSERT_TRUE(find(now(), "a"));
        write(pair.first, "first");
        const auto asked = now();
        EXPECT_FALSE(asked.auth.contains("corp")) << "no approval of the first counts for another";
        EXPECT_FALSE(find(asked, "a"));
        EXPECT_EQ(waiting(), (Ids{"a", "auth.corp"}));
        EXPECT_EQ(asked.untrusted.at(1).definition.at("auth").at("token"), "first");
        EXPECT_EQ(asked.untrusted.at(1).place.file,
                  world.folder / ("home/user/src/project/" + std::string(pair.first)));
        EXPECT_THAT(
            all(asked.diagnostics),
            AllOf(HasSubstr("warning: " + std::string(pair.is_local ? "local" : "project") +
                            " config " +
                            (world.folder / ("home/user/src/project/" + std::string(pair.second)))),
                  HasSubstr(": auth.corp: already given by "),
                  HasSubstr("; the first one is used")));
        approve({"auth.corp", "a"});
        EXPECT_TRUE(waiting().empty());
        EXPECT_EQ(now().auth.at("corp").at("token"), "first");
        EXPECT_TRUE(find(now(), "a"));
        EXPECT_THAT(all(now().diagnostics), HasSubstr(": auth.corp: already given by "));
        std::filesystem::remove(world.folder /
                                ("home/user/src/project/" + std::string(pair.first)));
        EXPECT_EQ(waiting(), (Ids{"a", "auth.corp"})) << "the other is another table";
    }
}

TEST_F(Approval, ATableOfALocalFileIsAskedAboutBeforeTheProjectsIsReplaced) {
    project("[auth.corp]\nkind = 'bearer'\ntoken = 'project'\n");
    approve({"auth.corp"});
    local("[auth.corp]\nkind = 'bearer'\ntoken = 'local'\n");
    EXPECT_EQ(now().auth.at("corp").at("token"), "project");
    EXPECT_EQ(waiting(), Ids{"auth.corp"});
    approve({"auth.corp"});
    EXPECT_EQ(now().auth.at("corp").at("token"), "local");
    EXPECT_TRUE(waiting().empty());
}

TEST_F(Approval, WhatIsNoTableOfThatNameIsNotAskedAboutNorTheFirst) {
    project("[auth]\ncorp = 1\n");
    world.folder.write("home/user/src/project/.mcp.toml", "[auth.corp]\nkind = 'bearer'\n");
    EXPECT_EQ(waiting(), Ids{"auth.corp"});
    EXPECT_THAT(all(now().diagnostics), HasSubstr("auth.corp: expected a table, found"));
    approve({"auth.corp"});
    EXPECT_EQ(now().auth.at("corp").at("kind"), "bearer");
}

TEST_F(Approval, ALocalDefinitionIsAskedAboutBeforeTheProjectsIsReplaced) {
    project("[servers.a]\ncommand = 'run'\n");
    approve({"a"});
    local("[servers.a]\ncommand = 'local'\n");
    EXPECT_EQ(find(now(), "a")->settings.at("command"), "run");
    EXPECT_EQ(waiting(), Ids{"a"});
    approve({"a"});
    EXPECT_EQ(find(now(), "a")->settings.at("command"), "local");
}

}  // namespace
}  // namespace patchbay::config
