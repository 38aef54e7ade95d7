// What is told about a configuration: where it is wrong, to whom, and when.
#include "integration/home.hpp"

#include <unistd.h>

namespace patchbay::test {
namespace {

TEST(AuthTables, RefusedSettingsAreAnErrorOfTheirFile) {
    Home home;
    const auto file = home.write(home.user_config() / "config.toml",
                                 "[servers.web]\nurl = \"http://127.0.0.1:9/mcp\"\nauth = "
                                 "\"corp\"\n[auth.corp]\nkind = \"bearer\"\nscheme = \"Token\"\n");
    const auto why = file +
                     ":4:7: server \"web\": auth \"corp\": auth method \"bearer\" refuses "
                     "its settings: fits none of 4 alternatives (anyOf): lacks \"token\", or "
                     "lacks \"bearer_token_env_var\", or lacks \"headers\", or lacks "
                     "\"command\"";
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_EQ(checked.err, "error: user config " + why + " [invalid-auth]\n");
    EXPECT_EQ(home.run({"config", "check", file}).exit_code, 4) << "alone as well";
    const auto called = home.run({"call", "mcp__web__any"});
    EXPECT_EQ(called.exit_code, 4);
    EXPECT_THAT(called.err, HasSubstr(why));
}

TEST(Diagnostics, OfOneFileAreToldUpToABound) {
    Home home;
    std::string many;
    for (int i = 0; i < 60; ++i) {
        const auto id = std::to_string(i);
        many += "[servers.s" + id + "]\ncommand = \"x\"\n";
    }
    const auto project = home.write(".mcp.toml", many);
    home.write(home.user_config() / "config.toml", "[servers.a]\ncomand = \"x\"\n");
    const auto count = [](const std::string& text, const std::string& what) {
        std::size_t found = 0;
        for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
        return found;
    };
    const auto listed = home.run({"mcp", "list"});
    EXPECT_EQ(count(listed.err, "is not approved"), 50u);
    EXPECT_THAT(listed.err, HasSubstr(project + ": "));
    EXPECT_THAT(listed.err, HasSubstr("more errors and warnings; `patchbay config check`"));
    EXPECT_THAT(listed.err, HasSubstr("unknown key \"comand\"")) << "another file's own";
    EXPECT_EQ(count(home.run({"config", "check"}).err, "is not approved"), 60u);
}

TEST(AuthTables, ThatNoServerUsesAreJudgedAsWell) {
    Home home;
    const auto file =
        home.write(home.user_config() / "config.toml",
                   "[auth.corp]\nkind = \"bearer\"\n[auth.good]\nkind = \"bearer\"\ntoken = "
                   "\"${env:T}\"\n[auth.nameless]\n");
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(
        checked.err,
        AllOf(HasSubstr("warning: user config " + file + ":1:7: auth.corp: auth method "),
              HasSubstr("lacks \"token\""), HasSubstr("; no server uses it [invalid-auth]\n"),
              HasSubstr(":6:7: auth.nameless: \"kind\" is missing"), Not(HasSubstr("good"))));
}

TEST(Trust, SaysWhatWouldNotWorkWithoutCallingItAnErrorOfToday) {
    Home home;
    home.write(".mcp.json", R"({"mcpServers": {"a": {"url": "ftp://h/"}, "b": {"type": "no"},
        "c": {"url": "http://h/", "oauth": {"client_idd": "x"}}}})");
    const auto listed = json::parse(home.run({"trust", "--json"}).out).as_array();
    ASSERT_EQ(listed.size(), 3u);
    for (const auto& proposal : listed) {
        ASSERT_EQ(proposal.at("faults").as_array().size(), 1u) << json::serialize(proposal);
        EXPECT_TRUE(proposal.at("faults").at(0).as_string().starts_with("project config "))
            << json::serialize(proposal);
    }
}

// The user's `ex` in a checkout that brings another one, one more server and a table.
class OddCheckout : public ::testing::Test {
protected:
    OddCheckout() {
        home.add_example("ex");
        home.write(".mcp.json",
                   R"({"mcpServers": {"ex": {"command": "x"}, "theirs": {"command": "y"}}})");
        home.write(".patchbay/config.toml", "[auth.corp]\nkind = \"bearer\"\n");
        home.write(home.user_config() / "config.toml", "[limits]\nstrange = 1\n");
    }

    const std::string shadowed = "this definition is not approved, so the one of user config";
    Home home;
};

TEST_F(OddCheckout, IsToldToWhoUsesTheServerItWouldReplaceAndNothingElse) {
    for (const Words& verb :
         {Words{"call", "mcp__ex__echo", "message=a"}, Words{"tools", "mcp__ex__*"},
          Words{"tools", "--server", "ex"}, Words{"mcp", "status", "ex"},
          Words{"mcp", "logs", "ex"}, Words{"resources", "list", "--server", "ex"},
          Words{"resources", "read", "example://text", "--server", "ex"},
          Words{"mcp", "logout", "ex"}}) {
        const auto done = home.run(verb);
        EXPECT_EQ(done.exit_code, 0) << verb[0] << ": " << done.err;
        const auto first = done.err.find(shadowed);
        EXPECT_NE(first, std::string::npos) << verb[0] << ": " << done.err;
        EXPECT_EQ(done.err.find(shadowed, first + 1), std::string::npos) << verb[0] << ": twice";
        EXPECT_THAT(done.err, AllOf(Not(HasSubstr("theirs")), Not(HasSubstr("corp")),
                                    Not(HasSubstr("strange"))))
            << verb[0];
    }
    EXPECT_EQ(home.run({"-q", "call", "mcp__ex__echo", "message=a"}).err, "");
    const auto other = home.run({"call", "mcp__theirs__any"});
    EXPECT_EQ(other.exit_code, 7);
    EXPECT_THAT(other.err, AllOf(HasSubstr("is not approved; to see"), Not(HasSubstr("warning"))));
}

TEST_F(OddCheckout, IsToldWholeByLists) {
    for (const Words& verb :
         {Words{"tools"}, Words{"mcp", "list"}, Words{"mcp", "status"}, Words{"resources", "list"},
          Words{"config", "check"}, Words{"config", "show"}, Words{"batch"}}) {
        EXPECT_THAT(home.run(verb).err, AllOf(HasSubstr(shadowed), HasSubstr("theirs"),
                                              HasSubstr("auth.corp"), HasSubstr("strange")))
            << verb[0];
    }
}

TEST_F(OddCheckout, IsListedByTrustWithoutWarningsOfWhatIsListed) {
    const auto listed = home.run({"trust"});
    EXPECT_THAT(listed.err, AllOf(Not(HasSubstr("not approved")), HasSubstr("strange")));
    EXPECT_THAT(listed.out, AllOf(HasSubstr("theirs"), HasSubstr("auth.corp")));
}

TEST_F(OddCheckout, HidesNoErrorOfAWholeFileOrOfThisRun) {
    home.write(home.user_config() / "config.yaml", "{");
    home.environment["MCP_TOOL_TIMEOUT"] = "soon";
    const auto done = home.run({"call", "mcp__ex__echo", "message=a"});
    EXPECT_EQ(done.exit_code, 7) << "what it forbids is unknown";
    EXPECT_THAT(done.err,
                AllOf(HasSubstr("config.yaml:1:1: not YAML"), HasSubstr("MCP_TOOL_TIMEOUT")));
}

// Whatever asks for the server that it was meant for.
const std::vector<Words> kAskForEx = {{"call", "mcp__ex__echo", "message=a"},
                                      {"tools", "mcp__ex__*"},
                                      {"tools", "--server", "ex"},
                                      {"mcp", "status", "ex"},
                                      {"mcp", "status"},
                                      {"config", "check"}};

TEST(Diagnostics, OfARuleForAServerOfNearlyThatNameAreToldByWhatAsksForIt) {
    const struct {
        const char* rule;
        const char* says;
    } rules[] = {{R"({"servers": {"exx": {"enabled": false}}})", "so nothing is turned off"},
                 {R"({"servers": {"Ex": {"disabled_tools": ["echo"]}}})", "error: "},
                 {R"({"servers": {"exx": {"tools": {"echo": "deny"}}}})", "error: "}};
    for (const auto& rule : rules) {
        for (const auto* how : {"--config", "PATCHBAY_CONFIG_JSON", "the user's own"}) {
            Home home;
            home.add_example("ex");
            home.add_example("other");
            Words flags;
            if (how == std::string("--config"))
                flags = {"--config", home.write("rules.json", rule.rule)};
            else if (how == std::string("PATCHBAY_CONFIG_JSON"))
                home.environment[how] = rule.rule;
            else
                home.write(home.user_config() / "config.json", rule.rule);
            for (auto words : kAskForEx) {
                SCOPED_TRACE(std::string(how) + " " + rule.rule + ": " + words.at(0));
                words.insert(words.begin(), flags.begin(), flags.end());
                EXPECT_THAT(home.run(words).err,
                            AllOf(HasSubstr(rule.says), HasSubstr("did you mean \"ex\"?")));
            }
            flags.insert(flags.end(), {"call", "mcp__other__echo", "message=a"});
            EXPECT_EQ(home.run(flags).err, "") << "it is not about that one";
        }
    }
}

// Patchbay where /etc is a folder of the test's own: in namespaces of its own, which not everybody
// may have.
class EnterpriseFile : public ::testing::Test {
protected:
    Outcome run(const std::string& text, Words arguments) {
        home.write(etc / "patchbay/enterprise.toml", text);
        auto command = home.patchbay(std::move(arguments));
        const Words inside = {"/usr/bin/unshare",
                              "-rm",
                              "/bin/sh",
                              "-c",
                              "mount --bind \"$0\" /etc && exec \"$@\"",
                              etc};
        command.argv.insert(command.argv.begin(), inside.begin(), inside.end());
        return test::run(command);
    }
    void SetUp() override {
        if (run("", {"--version"}).exit_code != 0)
            GTEST_SKIP() << "no namespaces for " << ::getuid();
        home.add_example("ex");
    }

    Home home;
    const std::filesystem::path etc = home.root() / "etc";
};

TEST_F(EnterpriseFile, ThatIsBrokenIsNamedByWhatItDenies) {
    const std::string broken = "exclusive = false\n[permissions]\nallow = \"x\"\n";
    const std::string why =
        "enterprise config /etc/patchbay/enterprise.toml:3:9: the enterprise config is broken "
        "(permissions.allow: expected a list of text, found text; write [...] around it), so every "
        "server and tool is "
        "denied; ask your administrator";
    for (const Words& verb : {Words{"call", "mcp__ex__echo", "message=a"}, Words{"tools"},
                              Words{"mcp", "status"}, Words{"resources", "list"}, Words{"batch"}}) {
        auto words = verb;
        words.insert(words.begin(), "--json");
        const auto done = run(broken, words);
        EXPECT_EQ(done.exit_code, 4) << verb[0];
        EXPECT_EQ(done.out, "{\"error\":{\"kind\":\"invalid\",\"message\":" +
                                json::serialize(json::value(why)) + "}}\n");
        EXPECT_THAT(done.err, ::testing::EndsWith("error: " + why + "\n"));
    }
    const auto shown = run(broken, {"config", "show"});
    EXPECT_EQ(shown.exit_code, 4);
    EXPECT_THAT(shown.out, HasSubstr("\"deny_all\": true"));
    EXPECT_EQ(run(broken, {"mcp", "auth"}).exit_code, 0) << "it asks no server";
}

TEST_F(EnterpriseFile, ThatIsExclusiveIsNamedWhereAServerIsMissing) {
    const std::string exclusive = "[permissions]\ndeny = []\n";
    const auto why =
        HasSubstr("/etc/patchbay/enterprise.toml is exclusive, so no other file counts\n");
    for (const Words& verb : {Words{"call", "mcp__ex__echo"}, Words{"mcp", "status", "ex"},
                              Words{"tools", "--server", "ex"}}) {
        const auto done = run(exclusive, verb);
        EXPECT_EQ(done.exit_code, 6) << verb[0];
        EXPECT_THAT(done.err, why);
    }
    EXPECT_THAT(run(exclusive, {"mcp", "list"}).err, why);
    const auto other = "[servers.corp]\ncommand = \"" + example_server() + "\"\n";
    EXPECT_THAT(run(other, {"mcp", "status", "ex"}).err, why);
    EXPECT_THAT(run(other, {"call", "mcp__corp__no"}).err, Not(why)) << "the server is there";
}

TEST_F(EnterpriseFile, WithARuleForAServerOfNearlyThatNameIsToldByWhatAsksForIt) {
    for (const auto& words : kAskForEx) {
        const auto near = run("exclusive = false\n[servers.exx]\nenabled = false\n", words);
        EXPECT_THAT(near.err, AllOf(HasSubstr("warning: enterprise config "),
                                    HasSubstr("did you mean \"ex\"?")))
            << words[0];
        const auto same = run("exclusive = false\n[servers.EX]\nenabled = false\n", words);
        EXPECT_EQ(same.exit_code, 4) << words[0];
        EXPECT_THAT(same.err, AllOf(HasSubstr("server \"EX\": no source defines it, and \"ex\" "
                                              "differs only in letter case"),
                                    HasSubstr("so every server and tool is denied")));
    }
}

TEST_F(EnterpriseFile, ThatIsExclusiveIsNamedForEachVariableAndFileThatDoesNotCount) {
    const std::string exclusive = "[permissions]\ndeny = []\n";
    const std::string because = "/etc/patchbay/enterprise.toml is exclusive";
    const auto why = because + "\n";
    home.environment["MCP_TOOL_TIMEOUT"] = "5";
    home.environment["PATCHBAY_PLUGIN_PATH"] = "/nowhere";
    EXPECT_THAT(run(exclusive, {"mcp", "list"}).err,
                AllOf(HasSubstr("MCP_TOOL_TIMEOUT: ignored: " + why),
                      HasSubstr("PATCHBAY_PLUGIN_PATH is not looked at: " + why)));
    const auto file = (home.user_config() / "mcp.json").string();
    const auto checked = run(exclusive, {"config", "check", file});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(checked.err,
                HasSubstr(file + ": it does not count: " + because + " [ignored-source]\n"));
    EXPECT_EQ(checked.out, "");
}

TEST_F(EnterpriseFile, ThatTurnsAServerOffIsForItsAdministrator) {
    const std::string off = "exclusive = false\n[servers.ex]\nenabled = false\n";
    const auto advice = HasSubstr(
        "disabled (enterprise config /etc/patchbay/enterprise.toml:3:1); ask your administrator");
    for (const Words& verb : {Words{"call", "mcp__ex__echo"}, Words{"tools", "--server", "ex"},
                              Words{"mcp", "status", "ex"}}) {
        const auto done = run(off, verb);
        EXPECT_THAT(done.out + done.err, advice) << verb[0];
    }
    EXPECT_THAT(run(off, {"--set", "servers.ex.enabled=true", "config", "check"}).err,
                AllOf(HasSubstr("--set: server \"ex\": enabled: it has no effect here"), advice));
}

TEST_F(EnterpriseFile, ThatIsStrongerThanWhatWasNamedForThisRunIsNamedByWhatAsksForThat) {
    const std::string fixed =
        "exclusive = false\n[servers.ex]\ndisabled_tools = ['echo']\n[limits]\nschema_depth = 9\n"
        "[servers.corp]\ncommand = 'none'\nenabled = false\n[permissions]\ndeny = "
        "['mcp__ex__add']\n";
    const auto file = [](int line, int column) {
        return "enterprise config /etc/patchbay/enterprise.toml:" + std::to_string(line) + ":" +
               std::to_string(column);
    };
    const std::string flag = "warning: session config --set: ", ask = "; ask your administrator\n";
    const struct {
        const char *set, *server;
        std::string told;
    } cases[] = {
        {"servers.ex.disabled_tools=[]", "ex",
         "server \"ex\": disabled_tools: it has no effect here, since " + file(3, 1) +
             " says otherwise"},
        {"servers.corp.enabled=true", "corp",
         "server \"corp\": enabled: it has no effect here, since the server is disabled (" +
             file(8, 1) + ")"},
        {"limits.schema_depth=20", "ex",
         "limits.schema_depth: it has no effect here, since " + file(5, 1) + " says it too"},
        {"permissions.deny=[]", "ex",
         "permissions.deny: an empty list lifts nothing, since lists add up: what " + file(10, 9) +
             " denies stays denied"},
    };
    for (const auto& c : cases) {
        const std::string name = c.server;
        for (const Words& verb :
             {Words{"call", "mcp__" + name + "__echo"}, Words{"tools", "mcp__" + name + "__*"},
              Words{"tools", "--server", name}, Words{"mcp", "status", name}}) {
            Words words{"--set", c.set};
            words.insert(words.end(), verb.begin(), verb.end());
            EXPECT_THAT(run(fixed, words).err, HasSubstr(flag + c.told + ask)) << verb[0];
        }
    }
    EXPECT_THAT(run(fixed, {"call", "mcp__ex__echo"}).err,
                HasSubstr("is in disabled_tools of server \"ex\" (" + file(3, 1) + ")" + ask));
    EXPECT_THAT(run(fixed, {"call", "mcp__ex__add"}).err,
                HasSubstr("[permissions] deny = \"mcp__ex__add\" (" + file(10, 9) + ")" + ask));
    EXPECT_THAT(run(fixed, {"call", "mcp__ex__pid", "--set", "servers.corp.enabled=true"}).err,
                Not(HasSubstr("corp")));
    home.environment["PATCHBAY_CONFIG_JSON"] = R"({"servers":{"corp":{"command":"mine"}}})";
    EXPECT_THAT(
        run("exclusive = false\n[servers.corp]\ncommand = 'none'\n", {"mcp", "status", "corp"}).err,
        HasSubstr("server \"corp\": this entry has no effect here, since " + file(2, 10) +
                  " defines the server" + ask));
}

TEST_F(EnterpriseFile, WhoseAllowListLacksAToolIsNamedAndNotTheUsersOwn) {
    home.write(home.user_config() / "config.toml", "[permissions]\nallow = ['mcp__ex__*']\n");
    const auto done = run("exclusive = false\n[policy]\nallow = ['mcp__ex__add']\n",
                          {"call", "mcp__ex__echo", "message=a"});
    EXPECT_EQ(done.exit_code, 7);
    EXPECT_THAT(done.err,
                HasSubstr("mcp__ex__echo is denied, as the enterprise config "
                          "/etc/patchbay/enterprise.toml:3:10 does not allow it; ask your "
                          "administrator\n"));
}

}  // namespace
}  // namespace patchbay::test
