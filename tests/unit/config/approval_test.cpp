#include "config/approval.hpp"

#include "support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

namespace patchbay::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A checkout and what a person has approved of it.
class Approval : public ::testing::Test {
protected:
    World world;
    FakeApprovals approvals;

    void SetUp() override {
        world.variables["PATH"] = world.folder / "bin";
        program("bin/run");
        approvals.digests.emplace();
    }
    void program(const std::string& name) {
        world.folder.write(name, "#!/bin/sh\n");
        ASSERT_EQ(::chmod((world.folder / name).c_str(), 0755), 0);
    }
    void project(const std::string& text) {
        world.folder.write("home/me/work/app/.patchbay/config.toml", text);
    }
    void local(const std::string& text) {
        world.folder.write("home/me/work/app/.patchbay.local.toml", text);
    }
    void user(const std::string& text) {
        world.folder.write("home/me/.config/patchbay/config.toml", text);
    }
    Config now() const { return load(world.environment, {}, &approvals).config; }
    // As `patchbay trust ID...` does.
    void approve(const std::vector<std::string>& ids) {
        const auto config = now();
        for (const auto& id : ids) {
            const auto it = std::find_if(config.untrusted.begin(), config.untrusted.end(),
                                         [&](const auto& proposal) { return proposal.id == id; });
            ASSERT_NE(it, config.untrusted.end()) << id;
            (*approvals.digests)[id] = it->digest;
        }
    }
    std::vector<std::string> waiting() const {
        std::vector<std::string> ids;
        for (const auto& proposal : now().untrusted) ids.push_back(proposal.id);
        return ids;
    }
};

using Ids = std::vector<std::string>;

TEST_F(Approval, ADefinitionIsInertUntilItIsApproved) {
    project("[servers.a]\ncommand = 'run'\n");
    const auto before = now();
    EXPECT_TRUE(before.servers.empty());
    ASSERT_EQ(before.untrusted.size(), 1u);
    const auto& proposal = before.untrusted[0];
    EXPECT_EQ(proposal.id, "a");
    EXPECT_EQ(proposal.directory, world.folder / "home/me/work/app");
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
    world.folder.write("home/me/work/app/named.toml", "[servers.v]\ncommand = 'run'\n");
    world.variables["PATCHBAY_CONFIG"] = world.folder / "home/me/work/app/named.toml";
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

TEST_F(Approval, AnotherProgramOfThatNameIsAnotherDefinition) {
    project("[servers.a]\ncommand = 'run'\n");
    approve({"a"});
    program("earlier/run");
    world.variables["PATH"] = (world.folder / "earlier") + ":" + (world.folder / "bin");
    EXPECT_FALSE(find(now(), "a"));
}

// A checkout may turn its own files into links, and a folder on the way too.
TEST_F(Approval, AProgramThatBecomesALinkIsAnotherDefinition) {
    const std::string app = "home/me/work/app/";
    program(app + "tools/run.sh");
    program("elsewhere/run.sh");
    project("[servers.a]\ncommand = '../tools/run.sh'\n");
    approve({"a"});
    ASSERT_TRUE(find(now(), "a")) << all(now().diagnostics);
    const auto file = world.folder / (app + "tools/run.sh");
    ASSERT_EQ(::rename(file.c_str(), (file + ".kept").c_str()), 0);
    EXPECT_FALSE(find(now(), "a") && ::access(file.c_str(), F_OK) == 0);
    ASSERT_EQ(::symlink((world.folder / "elsewhere/run.sh").c_str(), file.c_str()), 0);
    EXPECT_FALSE(find(now(), "a"));
    EXPECT_EQ(now().untrusted.at(0).definition.at("program"),
              boost::json::value(world.folder / "elsewhere/run.sh"));
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::rename((file + ".kept").c_str(), file.c_str()), 0);
    EXPECT_TRUE(find(now(), "a"));

    const auto folder = world.folder / (app + "tools");
    ASSERT_EQ(::rename(folder.c_str(), (folder + ".kept").c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "elsewhere").c_str(), folder.c_str()), 0);
    EXPECT_FALSE(find(now(), "a"));
}

TEST_F(Approval, AProgramThatPathFindsIsApprovedAsTheFileItLeadsTo) {
    program("versions/one");
    program("versions/two");
    const auto link = world.folder / "bin/tool";
    ASSERT_EQ(::symlink((world.folder / "versions/one").c_str(), link.c_str()), 0);
    project("[servers.a]\ncommand = 'tool'\n[auth.x]\nkind = 'bearer'\ncommand = ['tool']\n");
    approve({"a", "auth.x"});
    ASSERT_TRUE(find(now(), "a"));
    EXPECT_EQ(find(now(), "a")->program.value_or(""), world.folder / "versions/one");
    ASSERT_EQ(::unlink(link.c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "versions/two").c_str(), link.c_str()), 0);
    EXPECT_EQ(waiting(), (Ids{"a", "auth.x"}));
}

// As the child's own search goes: by PATH of its `env`, and from its `cwd` where a folder of PATH
// is relative.
TEST_F(Approval, AProgramIsLookedForWhereTheChildWouldFindIt) {
    program("other/run");
    program("home/me/work/app/sub/run");
    program("home/me/work/app/.patchbay/in/run");
    const struct {
        std::string path, keys, program;
    } cases[] = {
        {world.folder / "bin", "", world.folder / "bin/run"},
        {world.folder / "bin", "env = { PATH = '" + world.folder / "other" + "' }\n",
         world.folder / "other/run"},
        {"sub:" + world.folder / "bin", "", world.folder / "home/me/work/app/sub/run"},
        {":" + world.folder / "bin", "cwd = 'in'\n",
         world.folder / "home/me/work/app/.patchbay/in/run"},
    };
    for (const auto& c : cases) {
        SCOPED_TRACE(c.path + " " + c.keys);
        world.variables["PATH"] = c.path;
        project("[servers.a]\ncommand = 'run'\n" + c.keys);
        EXPECT_EQ(now().untrusted.at(0).definition.at("program"), boost::json::value(c.program));
    }
    project("[servers.a]\ncommand = 'run'\nenv = { PATH = '${PATH}:x' }\n");
    EXPECT_FALSE(now().untrusted.at(0).definition.contains("program")) << "undecided";
    project("[servers.a]\ncommand = 'run'\nenv = { PATH = 'nowhere' }\n");
    EXPECT_TRUE(now().untrusted.at(0).definition.at("program").is_null()) << "there is none";
}

TEST_F(Approval, AProgramThatWasNotThereIsNotTheOneThatComes) {
    project("[servers.a]\ncommand = 'run'\nenv = { PATH = '" + world.folder / "later" +
            "' }\n[servers.b]\ncommand = '../tools/run'\n");
    approve({"a", "b"});
    const auto config = now();
    for (const auto* id : {"a", "b"})
        EXPECT_TRUE(expand(*find(config, id), world.environment)) << "the start says it is missing";
    program("later/run");
    program("home/me/work/app/tools/run");
    for (const auto* id : {"a", "b"}) {
        const auto expanded = expand(*find(config, id), world.environment);
        ASSERT_FALSE(expanded) << id;
        EXPECT_THAT(expanded.error().message, HasSubstr("now, approved was no program"));
        EXPECT_FALSE(find(now(), id)) << "the next run asks";
    }
}

// A host that lives long starts a server again after the checkout has changed.
TEST_F(Approval, WhatTheCommandLeadsToIsComparedAgainAtTheStart) {
    program("home/me/work/app/run.sh");
    project("[servers.a]\ncommand = '../run.sh'\n[servers.b]\ncommand = 'run'\n");
    approve({"a", "b"});
    const auto config = now();
    for (const auto* id : {"a", "b"}) {
        const auto settings = expand(*find(config, id), world.environment);
        EXPECT_TRUE(settings) << settings.error().message;
    }
    const auto file = world.folder / "home/me/work/app/run.sh";
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "bin/run").c_str(), file.c_str()), 0);
    const auto linked = expand(*find(config, "a"), world.environment);
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, ErrorCode::Denied);
    EXPECT_THAT(linked.error().message,
                AllOf(HasSubstr("server \"a\": its command leads to \"" + world.folder / "bin/run" +
                                "\" now, approved was \"" + file + "\""),
                      HasSubstr("patchbay trust a")));
    program("earlier/run");
    world.variables["PATH"] = world.folder / "earlier" + ":" + world.folder / "bin";
    EXPECT_FALSE(expand(*find(config, "b"), world.environment));
    // The user's own word is no approval, and leads where it leads.
    user("[servers.u]\ncommand = 'run'\n");
    EXPECT_TRUE(expand(*find(now(), "u"), world.environment));
}

// The program of a table gets to know a token, or makes one.
TEST_F(Approval, WhatTheCommandOfATableLeadsToIsComparedAgainToo) {
    program("home/me/work/app/.patchbay/token.sh");
    project(
        "[servers.a]\nurl = 'https://example.org'\nauth = 'corp'\n"
        "[auth.corp]\nkind = 'bearer'\ncommand = ['./token.sh', 'x']\n");
    approve({"auth.corp", "a"});
    const auto config = now();
    auto speaker = *find(config, "a");
    speaker.program = config.auth_programs.at("corp");
    const auto expanded = [&] {
        return expand_auth(speaker, config.auth.at("corp"), world.environment);
    };
    EXPECT_TRUE(expanded()) << expanded().error().message;
    const auto file = world.folder / "home/me/work/app/.patchbay/token.sh";
    ASSERT_EQ(::unlink(file.c_str()), 0);
    ASSERT_EQ(::symlink((world.folder / "bin/run").c_str(), file.c_str()), 0);
    ASSERT_FALSE(expanded());
    EXPECT_EQ(expanded().error().code, ErrorCode::Denied);
    EXPECT_THAT(expanded().error().message, AllOf(HasSubstr("auth.corp: its command leads to \"" +
                                                            world.folder / "bin/run" + "\" now"),
                                                  HasSubstr("patchbay trust auth.corp")));
    // A stronger table of the user's own is no approved one.
    world.environment.sets = {"auth.corp={kind = 'bearer', command = ['run']}"};
    EXPECT_EQ(now().auth_programs.at("corp"), std::nullopt);
}

TEST_F(Approval, WhatReferencesDecideAboutTheCommandIsBoundToNoFile) {
    project(
        "[servers.a]\ncommand = '${RUN}'\n[servers.b]\ncommand = 'run'\n"
        "env = { PATH = '${BIN}' }\n[servers.c]\ncommand = 'run'\nargs = ['${ARG}']\n"
        "[servers.d]\nurl = '${URL}'\n[auth.t]\nkind = 'bearer'\ncommand = ['${RUN}']\n");
    std::string unbound;
    for (const auto& proposal : now().untrusted)
        if (proposal.unbound) unbound += proposal.id + " ";
    EXPECT_EQ(unbound, "a auth.t b ");
}

TEST_F(Approval, AReferenceThatStandsForItselfDecidesNothing) {
    const auto file = [&](const char* name) {
        program("home/me/work/app/.patchbay/" + std::string(name));
        return boost::json::value(world.folder / "home/me/work/app/.patchbay" + "/" + name);
    };
    project(
        "[servers.a]\ncommand = './${X}/run'\nexpand = false\n"
        "[servers.b]\ncommand = './$${X}/run'\n"
        "[servers.c]\ncommand = ['./$${X}/run', '${Y}']\nexpand = false\n"
        "[servers.d]\ncommand = 'only'\ncwd = '${X}'\nexpand = false\nenv = { PATH = '.' }\n"
        "[servers.e]\ncommand = 'only'\ncwd = '${X}'\nenv = { PATH = '.' }\n"
        "[auth.t]\nkind = 'bearer'\ncommand = ['./${X}/run']\nexpand = false\n");
    const auto x = file("${X}/run"), escaped = file("$${X}/run"), only = file("${X}/only");
    const std::map<std::string, boost::json::value> bound = {
        {"a", x}, {"b", x}, {"c", escaped}, {"d", only}};
    for (const auto& proposal : now().untrusted) {
        const auto wanted = bound.find(proposal.id);
        EXPECT_EQ(proposal.unbound, wanted == bound.end()) << proposal.id;
        if (wanted != bound.end()) {
            EXPECT_EQ(proposal.definition.at("program"), wanted->second) << proposal.id;
        }
    }
    approve({"a", "b", "c", "d"});
    const auto config = now();
    for (const auto& [id, wanted] : bound) {
        const auto settings = expand(*find(config, id), world.environment);
        EXPECT_TRUE(settings) << settings.error().message;
    }
}

TEST_F(Approval, ItSaysWhyTheCommandCannotBeStarted) {
    world.folder.write("home/me/work/app/.patchbay/plain", "");
    ASSERT_EQ(::symlink("nowhere", (world.folder / "home/me/work/app/.patchbay/link").c_str()), 0);
    const struct {
        const char* command;
        const char* why;
    } cases[] = {
        {"run", ""},
        {"${RUN}", ""},
        {"ran", "command \"ran\" not found in the 1 folder of PATH"},
        {"./none", "command \"./none\": No such file or directory"},
        {"./link", "command \"./link\": No such file or directory"},
        {"./plain", "command \"./plain\": is not executable (chmod +x?)"},
        {"../.patchbay", "command \"../.patchbay\": is a directory"},
    };
    for (const auto& c : cases) {
        project("[servers.a]\ncommand = '" + std::string(c.command) +
                "'\n[auth.t]\nkind = 'bearer'\ncommand = ['" + c.command + "']\n");
        const auto config = now();
        ASSERT_EQ(config.untrusted.size(), 2u);
        for (const auto& proposal : config.untrusted) {
            ASSERT_EQ(proposal.faults.size(), *c.why ? 1u : 0u) << c.command;
            if (*c.why) {
                EXPECT_THAT(proposal.faults[0], HasSubstr(c.why));
            }
        }
    }
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

TEST_F(Approval, AnUnapprovedDefinitionDoesNotReplaceTheUsers) {
    user("[servers.a]\ncommand = 'mine'\n");
    project("[servers.a]\ncommand = 'theirs'\n");
    const auto config = now();
    ASSERT_TRUE(find(config, "a"));
    EXPECT_EQ(find(config, "a")->settings.at("command"), "mine");
    EXPECT_THAT(all(config.diagnostics),
                AllOf(HasSubstr("server \"a\": this definition is not approved, so the one of user "
                                "config"),
                      HasSubstr("stays in force; to see and approve it: patchbay trust a")));
    approve({"a"});
    EXPECT_EQ(find(now(), "a")->settings.at("command"), "theirs");
}

TEST_F(Approval, AFaultyDefinitionWhoseRulesCanBeReadDoesNotTakeTheUsersDown) {
    user("[servers.a]\ncommand = 'mine'\n");
    for (const auto* text :
         {"command = 7\n", "transport = 'x'\nport = 'x'\n", "config = { command = 7 }\n"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\n" + std::string(text));
        EXPECT_TRUE(find(now(), "a"));
        EXPECT_EQ(waiting(), Ids{"a"});
    }
}

TEST_F(Approval, AFaultyEntryWithoutAWayToConnectTakesTheServerDownAsAnOverlayDoes) {
    for (const auto* entry :
         {R"({"disabledTools": ["wipe"], "disabled_tools": ["ok"]})",
          R"({"includeTools": ["ok"], "enabledTools": ["ok"]})",
          R"({"tools": ["ok"], "includeTools": ["wipe"]})", "5", "[]", R"(["wipe"])",
          R"({"config": {"disabled_tools": ["wipe"]}})", R"({"config": 5})"}) {
        for (const auto* file : {".mcp.json", ".patchbay.local.json"}) {
            SCOPED_TRACE(std::string(file) + " " + entry);
            World fresh;
            fresh.folder.write("home/me/.config/patchbay/config.toml",
                               "[servers.a]\ncommand = 'mine'\n[servers.b]\ncommand = 'b'\n");
            fresh.folder.write("home/me/work/app/.patchbay/config.toml", "");
            fresh.folder.write("home/me/work/app/" + std::string(file),
                               "{\"mcpServers\": {\n\"a\": " + std::string(entry) + "}}");
            const auto config = load(fresh.environment, {}, &approvals).config;
            EXPECT_FALSE(find(config, "a"));
            EXPECT_TRUE(find(config, "b"));
            EXPECT_TRUE(config.untrusted.empty()) << "there is nothing to approve";
            ASSERT_EQ(config.diagnostics.size(), 1u) << all(config.diagnostics);
            EXPECT_EQ(config.diagnostics[0].severity, Severity::Error);
            EXPECT_EQ(config.diagnostics[0].server, "a");
            EXPECT_THAT(to_string(config.diagnostics[0].place),
                        HasSubstr(std::string(file) + ":2:"));
        }
    }
}

TEST_F(Approval, AnUnapprovedDefinitionMayForbidAndNothingElse) {
    user("[servers.a]\ncommand = 'mine'\ndisabled_tools = ['wipe']\ntools = { read = 'deny' }\n");
    project(
        "[servers.a]\ncommand = 'theirs'\ndisabled_tools = ['format']\ntrust = 'trusted'\n"
        "tools = { read = 'allow-always', write = 'deny', list = 'allow-always' }\n");
    const auto config = now();
    const auto* a = find(config, "a");
    ASSERT_TRUE(a);
    EXPECT_EQ(a->disabled_tools, (Ids{"wipe", "format"}));
    EXPECT_EQ(a->tools,
              (std::map<std::string, Level>{{"read", Level::Deny}, {"write", Level::Deny}}));
    EXPECT_EQ(a->trust, "");
    EXPECT_TRUE(a->enabled);
    project("[servers.a]\ncommand = 'theirs'\nenabled = false\n");
    EXPECT_FALSE(find(now(), "a")->enabled);
    user("[servers.a]\ncommand = 'mine'\nenabled = false\n");
    project("[servers.a]\ncommand = 'theirs'\nenabled = true\n");
    EXPECT_FALSE(find(now(), "a")->enabled);
}

TEST_F(Approval, WhatAnUnapprovedDefinitionForbidsHasToBeReadable) {
    user("[servers.a]\ncommand = 'mine'\n");
    for (const auto* text :
         {"disabled_tools = 'wipe'", "tools = { wipe = 'denny' }", "enabled = 'no'"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\ncommand = 'theirs'\n" + std::string(text) + "\n");
        EXPECT_FALSE(find(now(), "a"));
        EXPECT_THAT(all(now().diagnostics), HasSubstr(":3:"));
    }
    project("[servers.a]\ncommand = 'theirs'\ntool_timeout_sec = 'x'\n");
    EXPECT_TRUE(find(now(), "a"));
    project(
        "[mcpServers.a]\ncommand = 'theirs'\ndisabledTools = ['wipe']\n"
        "disabled_tools = ['ok']\n");
    EXPECT_FALSE(find(now(), "a"));
    EXPECT_THAT(all(now().diagnostics), HasSubstr("say the same; keep one"));
}

TEST_F(Approval, WhatAnUnapprovedDefinitionForbidsByAWrongNameTakesTheServerDown) {
    user("[servers.a]\ncommand = 'mine'\n[servers.b]\ncommand = 'b'\n");
    for (const auto* text :
         {"disabledTools = ['wipe']", "disabled_tool = ['wipe']", "excludeTools = ['wipe']",
          "blocked_tools = ['wipe']", "config = { disabled_tools = ['wipe'] }",
          "config = { excludeTools = ['wipe'] }", "rules = { disabled_tools = ['wipe'] }",
          "tool = { wipe = 'deny' }", "disabled = true"}) {
        SCOPED_TRACE(text);
        project("[servers.a]\ncommand = 'theirs'\n" + std::string(text) + "\n");
        EXPECT_FALSE(find(now(), "a"));
        EXPECT_TRUE(find(now(), "b"));
        EXPECT_THAT(all(now().diagnostics), HasSubstr(":3:"));
    }
    project("[servers.a]\ncommand = 'theirs'\nargz = ['x']\ncolour = 'red'\n");
    EXPECT_TRUE(find(now(), "a"));
}

TEST_F(Approval, AToolIsForbiddenByTheFileThatSaysSo) {
    user("[servers.a]\ncommand = 'mine'\ndisabled_tools = ['wipe']\n");
    project(
        "[servers.a]\ncommand = 'theirs'\ndisabled_tools = ['format', 'wipe']\n"
        "tools.read = 'deny'\n");
    const auto config = now();
    const auto* a = find(config, "a");
    ASSERT_TRUE(a);
    const auto place = [&](const char* rule, const char* tool) {
        return to_string(a->place_of_rule(rule, tool));
    };
    EXPECT_THAT(place("disabled_tools", "wipe"), HasSubstr("user config"));
    EXPECT_THAT(place("disabled_tools", "format"),
                AllOf(HasSubstr("project config"), HasSubstr(":3:")));
    EXPECT_THAT(place("tools", "read"), AllOf(HasSubstr("project config"), HasSubstr(":4:")));
}

TEST_F(Approval, AnOverlayOfACheckoutDoesNotTurnAServerOn) {
    for (const bool of_project : {true, false}) {
        user("[servers.a]\ncommand = 'mine'\nenabled = false\n");
        project(of_project ? "[servers.a]\nenabled = true\n" : "");
        local(of_project ? "" : "[servers.a]\nenabled = true\n");
        EXPECT_FALSE(find(now(), "a")->enabled);
        EXPECT_THAT(all(now().diagnostics),
                    HasSubstr(of_project ? "a project file may not turn on a server"
                                         : "a local file may not turn on a server"));
    }
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
    world.folder.write("home/me/work/app/.patchbay/config.yaml",
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
    world.folder.write("home/me/work/app/.mcp.toml", "[servers.a]\ncommand = 'second'\n");
    EXPECT_EQ(waiting(), Ids{"a"});
    EXPECT_EQ(now().untrusted[0].definition.at("server").at("command"), "run");
    EXPECT_THAT(all(now().diagnostics), HasSubstr("already defined at"));
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

TEST_F(Approval, RulesOfACheckoutForbidWithoutAnyApproval) {
    user("[servers.a]\ncommand = 'mine'\n");
    project("[permissions]\ndeny = ['mcp__a__wipe']\n[servers.b]\ncommand = 'run'\n");
    EXPECT_EQ(now().permissions.deny, Ids{"mcp__a__wipe"});
}

}  // namespace
}  // namespace patchbay::config
