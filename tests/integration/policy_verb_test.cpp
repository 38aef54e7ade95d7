// `patchbay policy list, set, reset`: which level counts for each tool by which file, and how it is changed.
#include "integration/asking.hpp"
#include "support/result_schema.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace patchbay::test {
namespace {

class PolicyVerb : public Asking {
protected:
    PolicyVerb() {
        home.add_example("x");
        home.run({"tools"});  // it lists its tools, which are known from then on
    }
    std::string config() const { return read_file(home.user_config() / "mcp.json"); }
    json::object row(const std::string& tool) {
        const auto told = home.run({"policy", "list", "--json"});
        EXPECT_EQ(told.exit_code, 0) << told.err;
        const auto rows = json::parse(told.out);
        for (const auto& each : rows.as_array())
            if (each.at("tool").as_string() == tool) return each.as_object();
        ADD_FAILURE() << "no " << tool << " in " << told.out;
        return {};
    }
};

TEST_F(PolicyVerb, SetWritesALevelThatCountsAndUndoTakesItBack) {
    const auto before = config();
    const auto set = home.run({"policy", "set", "mcp__x__echo", "deny"});
    EXPECT_EQ(set.exit_code, 0) << set.err;
    EXPECT_THAT(set.err, HasSubstr("x: echo = deny in "));
    EXPECT_EQ(home.run(kCall).exit_code, 7);
    EXPECT_EQ(row("mcp__x__echo").at("decision"), "deny");
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(config(), before);
    EXPECT_EQ(home.run(kCall).exit_code, 0);
}

TEST_F(PolicyVerb, AnUndoOfOneFileNamesTheOtherThatTheCommandChanged) {
    const auto other = home.user_config() / "config.toml";
    home.write(other, "[servers.y]\ncommand = '/bin/cat'\n");
    const auto before = std::pair(config(), read_file(other));
    home.run({"policy", "set", "mcp__x__echo", "mcp__y__echo", "deny"});
    ASSERT_THAT(read_file(other), HasSubstr("deny"));
    const auto foretold = home.run({"config", "undo", "--dry-run", "--json"});
    const auto told = json::parse(foretold.out).at("also_changed").as_array();
    ASSERT_EQ(told.size(), 1u);
    const std::string also(told[0].as_string());
    const auto first = home.run({"config", "undo"});
    EXPECT_THAT(first.err, HasSubstr("note: " + also +
                                     " was changed by that command too; back "
                                     "with: patchbay config undo " +
                                     also));
    const auto second = home.run({"config", "undo", also});
    EXPECT_EQ(second.exit_code, 0);
    EXPECT_THAT(second.err, Not(HasSubstr("too"))) << "the other is back already";
    EXPECT_EQ(std::pair(config(), read_file(other)), before);
    home.run({"mcp", "enable", "x"});
    home.run({"mcp", "disable", "x"});
    home.run({"mcp", "disable", "y"});
    EXPECT_THAT(home.run({"config", "undo"}).err, Not(HasSubstr("too")))
        << "that was another command, however alike";
}

TEST_F(PolicyVerb, SetTakesBeginningsSeveralNamesAndWholeServers) {
    home.add_example("y");
    const auto several =
        home.run({"policy", "set", "mcp__x__e*", "mcp__x__add", "require-approval"});
    EXPECT_EQ(several.exit_code, 0) << several.err;
    EXPECT_EQ(row("mcp__x__echo").at("level"), "require-approval");
    EXPECT_EQ(row("mcp__x__echo").at("rule").at("text"), "e*");
    EXPECT_EQ(row("mcp__x__add").at("level"), "require-approval");
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(row("mcp__x__add").at("decision"), "allow") << "one command back";
    EXPECT_EQ(home.run({"policy", "set", "--server", "x", "deny"}).exit_code, 0);
    EXPECT_EQ(row("mcp__x__add").at("rule").at("text"), "*");
    EXPECT_EQ(home.run({"call", "mcp__y__echo", "message=hi"}).exit_code, 0);
    EXPECT_EQ(home.run({"policy", "set", "--all", "deny"}).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__y__echo", "message=hi"}).exit_code, 7);
}

TEST_F(PolicyVerb, SetSaysWhereAStrongerFileStillOverrulesIt) {
    home.write(".patchbay/config.toml", "");
    home.write(".patchbay.local.toml", "[servers.x.tools]\n\"*\" = \"deny\"\n");
    const auto set = home.run({"policy", "set", "mcp__x__echo", "allow-always"});
    EXPECT_EQ(set.exit_code, 0) << set.err;
    EXPECT_THAT(set.err, AllOf(HasSubstr("it does not count: tools \"*\" = deny (local config"),
                               HasSubstr(".patchbay.local.toml:2:1)")));
    EXPECT_EQ(home.run(kCall).exit_code, 7);
}

TEST_F(PolicyVerb, SetRaisesNothingInAProjectsFile) {
    home.run({"policy", "set", "mcp__x__*", "deny"});
    home.write(".patchbay/config.toml", "# ours\n");
    const auto before = read_file(home.work() / ".patchbay/config.toml");
    const auto set =
        home.run({"policy", "set", "mcp__x__echo", "allow-always", "--scope", "project"});
    EXPECT_NE(set.exit_code, 0);
    EXPECT_THAT(set.err, HasSubstr("raise the level of a tool"));
    EXPECT_EQ(read_file(home.work() / ".patchbay/config.toml"), before);
}

TEST_F(PolicyVerb, SetRefusesWhatItDoesNotKnowAndNamesTheNearest) {
    const auto level = home.run({"policy", "set", "mcp__x__echo", "denny"});
    EXPECT_EQ(level.exit_code, home.run({"call", "mcp__x__add", "a=x"}).exit_code) << level.err;
    EXPECT_THAT(level.err, HasSubstr("did you mean \"deny\"?"));
    home.add_example("files");
    const auto server = home.run({"policy", "set", "mcp__filse__read", "deny"});
    EXPECT_EQ(server.exit_code, 6) << server.err;
    EXPECT_THAT(server.err, HasSubstr("did you mean \"files\"?"));
    const auto before = read_file(home.user_config() / "mcp.json");
    for (const Words& odd : {Words{"mcp__files__*a"}, Words{"--server", "files", "a*d"}}) {
        Words words{"policy", "set"};
        words.insert(words.end(), odd.begin(), odd.end());
        words.push_back("deny");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3) << done.err;
        EXPECT_THAT(done.err, HasSubstr("stands at the end alone"));
    }
    EXPECT_EQ(read_file(home.user_config() / "mcp.json"), before);
    EXPECT_NE(home.run({"policy", "set", "deny"}).exit_code, 0);
    EXPECT_NE(home.run({"policy", "set", "--server", "nobody", "deny"}).exit_code, 0);
}

TEST_F(PolicyVerb, ListSaysWhichFileGaveEachLevelAndWhoAnswered) {
    write_level("echo", "require-approval");
    answer_at_terminal("a\r", 0);
    const auto kept = row("mcp__x__echo");
    EXPECT_EQ(kept.at("level"), "require-approval");
    EXPECT_EQ(kept.at("rule").at("place").at("scope"), "user");
    EXPECT_EQ(kept.at("answers").as_array().at(0).at("level"), "allow-always");
    EXPECT_EQ(kept.at("answers").as_array().at(0).at("by"), "person");
    EXPECT_EQ(row("mcp__x__add").if_contains("rule"), nullptr);
    const auto table = home.run({"policy", "list", "mcp__x__e*"});
    EXPECT_THAT(table.out,
                AllOf(HasSubstr("require-approval  tools \"echo\" (user config"),
                      HasSubstr("allow-always by person, 20"), Not(HasSubstr("mcp__x__add"))));
    EXPECT_EQ(home.run({"policy", "list", "--server", "nobody"}).exit_code, 6);
}

TEST_F(PolicyVerb, ListHasWhatWasAnsweredAboutRequestsThatCallNoTool) {
    const Words ask{"--set", "permissions.ask=[\"mcp__x__*\"]"};
    Words read = ask, list = ask;
    for (const char* word : {"resources", "read", "example://text", "--server", "x"})
        read.emplace_back(word);
    for (const char* word : {"policy", "list", "--server", "x"}) list.emplace_back(word);
    answer_at_terminal("a\r", 0, read);
    const auto table = home.run(list);
    EXPECT_THAT(table.out, AllOf(HasSubstr("\nx: resources/read "), HasSubstr("permissions.ask"),
                                 HasSubstr("allow-always by person, 20")));
    list.emplace_back("resources/read");
    list.emplace_back("--json");
    const auto told = json::parse(home.run(list).out);
    ASSERT_EQ(told.as_array().size(), 1u) << told;
    EXPECT_TRUE(is_a("policy_request", told.at(0))) << told;
    EXPECT_EQ(told.at(0).at("decision"), "ask");
    EXPECT_EQ(told.at(0).at("answers").at(0).at("counts"), true);
    EXPECT_EQ(home.run({"policy", "reset", "--server", "x", "resources/read"}).exit_code, 0);
    EXPECT_THAT(home.run(list).err, HasSubstr("no tool is known that fits \"resources/read\""));
}

TEST_F(PolicyVerb, ResetTakesLevelsAndAnswersAway) {
    write_level("echo", "require-approval");
    answer_at_terminal("a\r", 0);
    const auto reset = home.run({"policy", "reset", "mcp__x__*"});
    EXPECT_EQ(reset.exit_code, 0) << reset.err;
    EXPECT_THAT(reset.err,
                AllOf(HasSubstr("x: echo is taken out of "), HasSubstr("1 answer is forgotten")));
    const auto none = row("mcp__x__echo");
    EXPECT_EQ(none.if_contains("rule"), nullptr);
    EXPECT_THAT(none.at("answers").as_array(), ::testing::IsEmpty());
    EXPECT_THAT(home.run({"policy", "reset", "mcp__x__*"}).err,
                HasSubstr("nothing of that was set"));
}

TEST_F(PolicyVerb, SetNamesWhatStillDecidesOtherwiseWithItsPlace) {
    home.write("../config/patchbay/config.toml",
               "[servers.y]\ncommand = \"" + example_server() +
                   "\"\ndisabled_tools = ['env']\n[servers.y.tools]\necho = "
                   "\"allow-always\"\n\"p*\" = \"allow-once\"\nadd = \"deny\"\n");
    ASSERT_EQ(home.run({"tools", "--server", "y"}).exit_code, 0);
    const auto set = home.run({"policy", "set", "--server", "y", "deny"});
    EXPECT_EQ(set.exit_code, 0) << set.err;
    EXPECT_THAT(
        set.err,
        AllOf(HasSubstr("it does not count for all: tools \"echo\" = allow-always (user config"),
              HasSubstr("config.toml:5:1); patchbay policy reset echo --server y --scope user "
                        "takes it out"),
              HasSubstr("tools \"p*\" = allow-once (user config"),
              HasSubstr("disabled_tools \"env\" = disable (user config"),
              Not(HasSubstr("\"add\""))));
    EXPECT_EQ(home.run({"call", "mcp__y__echo", "message=hi"}).exit_code, 0) << "as was told";
    const auto told = json::parse(home.run({"--json", "policy", "set", "mcp__y__*", "deny"}).out);
    const auto& exceptions = told.at(0).at("exceptions").as_array();
    ASSERT_EQ(exceptions.size(), 3u);
    EXPECT_EQ(exceptions.at(0).at("place").at("line"), 5);
    // The advice does what it says.
    ASSERT_EQ(home.run({"policy", "reset", "echo", "p*", "--server", "y"}).exit_code, 0);
    const auto all = home.run({"policy", "set", "--server", "y", "deny"});
    EXPECT_THAT(all.err, Not(HasSubstr("allow-")));
    EXPECT_EQ(home.run({"call", "mcp__y__echo", "message=hi"}).exit_code, 7);
}

TEST_F(PolicyVerb, SetNamesWhatOfAllToolsIsDeniedByOtherRules) {
    home.write("../config/patchbay/config.toml", "[permissions]\ndeny = ['mcp__x__echo']\n");
    const auto set = home.run({"policy", "set", "mcp__x__*", "allow-always"});
    EXPECT_EQ(set.exit_code, 0) << set.err;
    EXPECT_THAT(set.err, HasSubstr("it does not count for all: permissions.deny \"mcp__x__echo\" "
                                   "= deny (user config"));
}

TEST_F(PolicyVerb, OfOneToolItIsSaidThatItCountsForNothing) {
    home.write("../config/patchbay/config.toml", "[permissions]\ndeny = ['mcp__x__echo']\n");
    EXPECT_THAT(home.run({"policy", "set", "mcp__x__echo", "allow-always"}).err,
                HasSubstr("it does not count: permissions.deny \"mcp__x__echo\""));
}

TEST_F(PolicyVerb, TakesOutAKeyAloneWhereThatIsSaid) {
    const auto file = home.write("../config/patchbay/config.toml",
                                 "[servers.y]\ncommand = \"" + example_server() +
                                     "\"\n[servers.y.tools]\necho = \"deny\"\n\"ech*\" = "
                                     "\"allow-always\"\n");
    const auto set = home.run({"policy", "set", "--server", "y", "require-approval"});
    EXPECT_THAT(set.err, HasSubstr("policy reset 'ech*' --server y --scope user --exact takes"));
    const auto reset = home.run({"policy", "reset", "ech*", "--server", "y", "--exact"});
    EXPECT_EQ(reset.exit_code, 0) << reset.err;
    EXPECT_THAT(read_file(file), AllOf(HasSubstr("echo = \"deny\""), Not(HasSubstr("ech*"))));
}

TEST_F(PolicyVerb, ALevelForAllIsRefusedWhereItIsNotKnownWhoTheyAre) {
    home.write("../config/patchbay/config.toml", "[servers.a]\ncommand = \"x\n[servers.b\n");
    for (const Words& words : {Words{"policy", "set", "--all", "deny"},
                               {"policy", "set", "mcp__*", "deny"},
                               {"policy", "set", "mcp__b__*", "deny"},
                               {"policy", "reset", "--all"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 4) << ::testing::PrintToString(words) << done.err;
        EXPECT_THAT(done.err, AllOf(HasSubstr("config.toml:"), HasSubstr("nothing is written")));
    }
    Home empty;
    const auto none = empty.run({"policy", "set", "--all", "deny"});
    EXPECT_EQ(none.exit_code, 6);
    EXPECT_THAT(none.err, HasSubstr("no server is configured"));
}

TEST_F(PolicyVerb, AServerThatIsAtFaultKeepsTheLevelFromNoOther) {
    home.write("../config/patchbay/config.toml",
               "[servers.bad]\ncommand = 5\n[servers.y]\ncommand = \"" + example_server() + "\"\n");
    const auto set = home.run({"policy", "set", "--all", "deny"});
    EXPECT_EQ(set.exit_code, 4) << set.err;
    EXPECT_THAT(set.err, AllOf(HasSubstr("error: bad: "), HasSubstr("y: * = deny in ")));
    const auto told = home.run({"policy", "set", "--all", "deny", "--json"});
    EXPECT_EQ(told.exit_code, 4);
    EXPECT_THAT(told.out, AllOf(HasSubstr("\"server\":\"y\""), HasSubstr("\"error\":")));
}

TEST_F(PolicyVerb, ResetGoesOnBehindAServerAtFaultToo) {
    const auto file =
        home.write("../config/patchbay/config.toml",
                   "[servers.bad]\ncomand = 'x'\ntools = { add = 'deny' }\n[servers.y]\n"
                   "command = \"" +
                       example_server() + "\"\ntools = { add = 'deny' }\n");
    const auto reset = home.run({"policy", "reset", "--all"});
    EXPECT_EQ(reset.exit_code, 4) << reset.err;
    EXPECT_THAT(reset.err, AllOf(HasSubstr("error: bad: "), HasSubstr("y: add is taken out of ")));
    EXPECT_THAT(read_file(file), HasSubstr("tools = { add = 'deny' }"));
}

TEST_F(PolicyVerb, ADenyIsToldAsWrittenThoughItsServerCouldNotBeApprovedAgain) {
    home.write(".mcp.json", "{\"mcpServers\":{\"pa\":{\"command\":\"" + example_server() +
                                "\"},\"pb\":{\"command\":\"" + example_server() + "\"}}}");
    ASSERT_EQ(home.run({"trust", "pa", "pb", "--yes"}).exit_code, 0);
    const auto lock = home.root() / "state/patchbay/trust.lock";
    const int held = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::flock(held, LOCK_EX), 0);
    const auto set = home.run(
        {"policy", "set", "mcp__pa__*", "mcp__pb__*", "deny", "--scope", "project", "--json"});
    ::close(held);
    EXPECT_EQ(set.exit_code, 8) << set.err;
    const auto told = json::parse(set.out);
    ASSERT_EQ(told.as_array().size(), 1u) << "nothing can be approved: " << set.out;
    EXPECT_TRUE(told.at(0).at("changed").as_bool());
    EXPECT_TRUE(told.at(0).as_object().contains("error"));
    EXPECT_THAT(read_file(home.work() / ".mcp.json"), HasSubstr("\"*\""));
}

TEST_F(PolicyVerb, ListTellsWhatHidesTools) {
    home.write("../config/patchbay/config.toml",
               "[servers.y]\ncommand = \"" + example_server() + "\"\n[servers.z]\nurl = 5\n");
    const auto beside = home.run({"policy", "list"});
    EXPECT_EQ(beside.exit_code, 0) << "the others are shown";
    EXPECT_THAT(beside.err, HasSubstr("server \"z\""));
    EXPECT_EQ(home.run({"policy", "list", "mcp__z__*"}).exit_code, 4);
    EXPECT_EQ(home.run({"policy", "list", "mcp__y__nope"}).exit_code, 6);
    home.write("../config/patchbay/mcp.json", "{");
    home.write("../config/patchbay/config.toml", "x = [");
    for (const Words& words : {Words{"policy", "list"}, {"policy", "list", "--json"}}) {
        const auto none = home.run(words);
        EXPECT_EQ(none.exit_code, 4) << none.out;
        EXPECT_THAT(none.err, HasSubstr("config.toml:1"));
    }
}

TEST_F(PolicyVerb, ANameThatNoToolHasIsWarnedOf) {
    ASSERT_EQ(home.run({"tools", "--server", "x"}).exit_code, 0);
    const auto set = home.run({"policy", "set", "mcp__x__ehco", "deny"});
    EXPECT_EQ(set.exit_code, 0);
    EXPECT_THAT(set.err, HasSubstr("had no tool \"ehco\" when it was asked last; did you mean "
                                   "\"echo\"?"));
}

TEST_F(PolicyVerb, ListOfWhatFitsNothingIsAnError) {
    const auto none = home.run({"policy", "list", "mcp__x__ehco"});
    EXPECT_EQ(none.exit_code, 6);
    EXPECT_THAT(none.err, AllOf(HasSubstr("no tool is known that fits \"mcp__x__ehco\""),
                                HasSubstr("did you mean \"mcp__x__echo\"?")));
    const auto middle = home.run({"policy", "list", "mcp__*echo"});
    EXPECT_EQ(middle.exit_code, 3);
    EXPECT_THAT(middle.err, HasSubstr("stands at the end alone"));
}

TEST_F(PolicyVerb, AndWhySayWhatBecomesOfAClientsCallThatNoRuleNames) {
    const auto plain = home.run({"policy", "list", "mcp__x__echo"});
    EXPECT_THAT(plain.out, AllOf(HasSubstr("no rule"), Not(HasSubstr("a client's"))));
    home.write("../config/patchbay/config.toml", "[gateway]\napprovals = 'rules'\n");
    EXPECT_THAT(
        home.run({"policy", "list", "mcp__x__echo"}).out,
        HasSubstr("no rule: a call that somebody types is approved; a client's is refused, as "
                  "[gateway] approvals = \"rules\""));
    EXPECT_THAT(home.run({"why", "mcp__x__echo"}).out,
                HasSubstr("somebody types is approved; a client's is refused, as [gateway]"));
    home.write("../config/patchbay/config.toml", "[gateway]\napprovals = 'ask'\n");
    EXPECT_THAT(home.run({"policy", "list", "mcp__x__echo"}).out,
                HasSubstr("a client's is asked about"));
}

}  // namespace
}  // namespace patchbay::test
