// Who may call what: levels that somebody wrote, the questions that they ask, what becomes of the answers, and the verbs
// that show and change all of it.
#include "integration/host_guest.hpp"
#include "integration/on_terminal.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

namespace fs = std::filesystem;

const Words kCall = {"call", "mcp__x__echo", "message=hi"};
constexpr const char* kLine =
    "{\"id\":1,\"op\":\"tools/call\",\"name\":\"mcp__x__echo\",\"arguments\":{\"message\":\"hi\"}}"
    "\n";

Words with_option(Words words, const char* option) {
    words.emplace_back(option);
    return words;
}

class Asking : public ::testing::Test {
protected:
    Asking() { home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000"; }
    void write_level(const char* key, const char* level) {
        home.add_example("x", {}, {{"tools", {{key, level}}}});
    }
    void write_user(const std::string& text) {
        fs::create_directories(home.user_config());
        std::ofstream(home.user_config() / "config.toml") << text;
    }
    fs::path decisions() const { return home.root() / "state/patchbay/decisions.json"; }
    // The example server as `mcp.json` has it, with a question for each call of echo, answered so.
    std::string answer_at_terminal(const char* answer, int exit_code, const Words& words = kCall) {
        OnTerminal call(home.patchbay(words));
        EXPECT_TRUE(call.wait_for("approve? [")) << call.seen();
        call.type(answer);
        EXPECT_EQ(call.finish(), exit_code) << call.seen();
        return call.seen();
    }
    bool is_asked(const Words& words = kCall) {
        OnTerminal call(home.patchbay(words));
        const bool asked = call.wait_for("approve? [");
        if (asked) call.type("\r");
        call.finish();
        return asked;
    }

    Home home;
};

TEST_F(Asking, WithoutATerminalALevelThatSomebodyWroteIsRefusedWithWhatWouldAllowIt) {
    write_level("echo", "require-approval");
    const auto refused = home.run(kCall);
    EXPECT_EQ(refused.exit_code, 7) << refused.err;
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("mcp__x__echo needs approval (user config"),
                      HasSubstr("to allow it: [servers.x.tools] echo = \"allow-always\""),
                      HasSubstr("or approve it by --yes")));
    EXPECT_EQ(home.run(with_option(kCall, "--yes")).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__x__add", "a=1", "b=2"}).exit_code, 0) << "nobody wrote one";
}

TEST_F(Asking, IsForBatchesAsForCalls) {
    write_level("*", "require-approval");
    const auto refused = home.run({"batch"}, kLine);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(Lines(refused.out).kind(1), "denied");
    EXPECT_THAT(Lines(refused.out).message(1), HasSubstr("or approve it by --yes"));
    const auto approved = home.run({"batch", "--yes"}, kLine);
    EXPECT_EQ(approved.exit_code, 0) << approved.out;
    EXPECT_EQ(Lines(approved.out).text(1), "hi");
}

TEST_F(Asking, ShowsWhatIsCalledAndTakesALetterForAnAnswer) {
    write_level("echo", "require-approval");
    const auto seen = answer_at_terminal("o\r", 0,
                                         {"call", "mcp__x__echo",
                                          "message=a\x1b[2Jb"
                                          "\xe2\x80\xae"});
    EXPECT_THAT(seen, AllOf(HasSubstr("May the tool \"echo\" be sent to server \"x\"?"),
                            HasSubstr("Server: x (stdio, user config"),
                            HasSubstr("Asked by: tools \"echo\" (user config"),
                            HasSubstr("message: \"a\\u001b[2Jb\\u202e\"")));
    EXPECT_THAT(seen, AllOf(HasSubstr("o  allow-once"), HasSubstr("p  allow-project"),
                            HasSubstr("a  allow-always"), Not(HasSubstr("allow-session"))));
    EXPECT_FALSE(fs::exists(decisions())) << "once is kept nowhere";
}

TEST_F(Asking, MasksSecretsAndFoldsWhatIsLong) {
    write_level("echo", "require-approval");
    const auto seen = answer_at_terminal(
        "\r", 7,
        {"call", "mcp__x__echo", "message=" + std::string(5'000, 'm'), "api_key=hush-hush"});
    EXPECT_THAT(seen, AllOf(HasSubstr("(5002 bytes in all)"), HasSubstr("api_key: \"***\"")));
    const auto question = seen.substr(seen.find("May the tool"));
    EXPECT_THAT(question, Not(HasSubstr("hush")));
}

TEST_F(Asking, TakesNothingAndTheEndOfInputForNo) {
    write_level("echo", "require-approval");
    for (const char* answer : {"\r", "n\r", "\x04"}) {
        const auto seen = answer_at_terminal(answer, 7);
        EXPECT_THAT(seen, HasSubstr("mcp__x__echo was not approved by person")) << answer;
    }
    OnTerminal interrupted(home.patchbay(kCall));
    ASSERT_TRUE(interrupted.wait_for("approve? ["));
    interrupted.type("\x03");
    EXPECT_EQ(interrupted.finish(), 130) << interrupted.seen();
    OnTerminal odd(home.patchbay(kCall));
    ASSERT_TRUE(odd.wait_for("approve? ["));
    odd.type("what?\r");
    ASSERT_TRUE(odd.wait_for("one of these letters"));
    odd.type("\r");
    EXPECT_EQ(odd.finish(), 7) << odd.seen();
}

TEST_F(Asking, ACallWithATimeOutIsNotAskedAboutForLonger) {
    write_level("echo", "require-approval");
    OnTerminal call(home.patchbay({"call", "mcp__x__echo", "message=hi", "--timeout", "2"}));
    ASSERT_TRUE(call.wait_for("approve? ["));
    EXPECT_NE(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(), Not(HasSubstr("\nhi")));
}

TEST_F(Asking, AnAnswerThatLastsIsKeptForThatToolAsItWasDescribed) {
    write_level("echo", "require-approval");
    answer_at_terminal("a\r", 0);
    struct stat info {};
    ASSERT_EQ(::stat(decisions().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
    const auto kept = read_file(decisions());
    EXPECT_THAT(kept, AllOf(HasSubstr(R"("version":1)"), HasSubstr(R"("tool":"echo")"),
                            HasSubstr(R"("level":"allow-always")"), HasSubstr(R"("by":"person")"),
                            HasSubstr(R"("when":"20)"), Not(HasSubstr("message"))));
    EXPECT_EQ(home.run(kCall).exit_code, 0) << "also without a terminal";
    EXPECT_EQ(home.run({"batch"}, kLine).exit_code, 0);
    // Another definition of the server is another server.
    home.add_example("x", {}, {{"tools", {{"echo", "require-approval"}}}, {"env", {{"A", "b"}}}});
    EXPECT_EQ(home.run(kCall).exit_code, 7);
}

TEST_F(Asking, AnAnswerForAProjectIsForThatFolder) {
    write_level("echo", "require-approval");
    fs::create_directories(home.work() / ".git");
    answer_at_terminal("p\r", 0);
    EXPECT_EQ(home.run(kCall).exit_code, 0);
    auto elsewhere = home.patchbay(kCall);
    elsewhere.directory = home.root().string();
    EXPECT_EQ(test::run(elsewhere).exit_code, 7);
}

TEST_F(Asking, ARecordThatMakesNoSenseAnswersNothingAndStaysAsItIs) {
    write_level("echo", "require-approval");
    answer_at_terminal("a\r", 0);
    const auto good = read_file(decisions());
    const std::pair<std::string, const char*> bad[] = {
        {"{\"version\":1,\"decisions\":[{}]}\n", "is damaged"},
        {"not json", "is damaged"},
        {"{\"version\":2,\"decisions\":[]}\n", "is of another version (2"}};
    for (const auto& [text, why] : bad) {
        std::ofstream(decisions(), std::ios::trunc) << text;
        const auto refused = home.run(kCall);
        EXPECT_EQ(refused.exit_code, 7) << text;
        EXPECT_THAT(refused.err, HasSubstr(why));
        const auto seen = answer_at_terminal("a\r", 0);
        EXPECT_THAT(seen, HasSubstr("counts for this once alone")) << text;
        EXPECT_EQ(read_file(decisions()), text) << "whoever wrote it may want it back";
    }
    std::ofstream(decisions(), std::ios::trunc) << good;
    fs::permissions(decisions(), fs::perms::others_write, fs::perm_options::add);
    EXPECT_EQ(home.run(kCall).exit_code, 7) << "others may have written it";
    fs::permissions(decisions(), fs::perms::others_write, fs::perm_options::remove);
    EXPECT_EQ(home.run(kCall).exit_code, 0);
}

// In a namespace of the command alone, where there are any to be had.
TEST_F(Asking, OnADiskThatTakesNothingAnAnswerCountsOnceAndThoseOfBeforeCountOn) {
    const auto state = (home.root() / "state").string();
    const auto behind = [&](const std::string& script, const Words& words) {
        auto command = home.patchbay(words);
        command.argv.insert(command.argv.begin(), {"/usr/bin/unshare", "-Urm", "/bin/sh", "-c",
                                                   script + "\n\"$@\"; code=$?\n"
                                                            "cmp \"$0/patchbay/decisions.json\" "
                                                            "\"$0.was\" || exit 99\nexit $code",
                                                   state});
        return command;
    };
    home.add_example(
        "x", {},
        {{"tools", {{"echo", "require-approval"}, {"add", "require-approval"}}}, {"pins", "off"}});
    answer_at_terminal("a\r", 0);
    fs::copy_file(decisions(), home.root() / "state.was");
    const std::string full =
        "cp -p \"$0/patchbay/decisions.json\" \"$0.copy\" && mount -t tmpfs -o "
        "size=64k,mode=700 none \"$0\" && mkdir -m 700 \"$0/patchbay\" && cp -p \"$0.copy\" "
        "\"$0/patchbay/decisions.json\" || exit 98\nhead -c 1M /dev/zero > \"$0/full\" 2> "
        "/dev/null";
    const std::string read_only =
        "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" || exit 98";
    for (const auto& script : {full, read_only}) {
        SCOPED_TRACE(script);
        const auto known = run(behind(script, kCall));
        if (known.exit_code == 98 || known.err.find("unshare: ") != std::string::npos)
            GTEST_SKIP() << "no namespaces are to be had here: " << known.err;
        EXPECT_EQ(known.exit_code, 0) << known.err;
        OnTerminal call(behind(script, {"call", "mcp__x__add", "a=1", "b=2"}));
        ASSERT_TRUE(call.wait_for("approve? [")) << call.seen();
        call.type("a\r");
        EXPECT_EQ(call.finish(), 0) << call.seen();
        EXPECT_THAT(call.seen(), HasSubstr("counts for this once alone"));
    }
    EXPECT_EQ(home.run(kCall).exit_code, 0);
}

TEST_F(Asking, OfATerminalIsDoneWhereAHostThatRunsMakesTheCall) {
    write_level("echo", "require-approval");
    RunningHost host(home);
    EXPECT_EQ(home.run(kCall).exit_code, 7);
    EXPECT_EQ(home.run(with_option(kCall, "--yes")).exit_code, 0);
    const auto seen = answer_at_terminal("s\r", 0, with_option(kCall, "-v"));
    EXPECT_THAT(seen, AllOf(HasSubstr("the running host (pid "), HasSubstr("Asked by: tools"),
                            HasSubstr("s  allow-session")));
    EXPECT_FALSE(is_asked()) << "as long as the host lives";
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asking, AnAnswerForASessionIsShownOfAHostThatRunsAndTakenBack) {
    write_level("echo", "require-approval");
    RunningHost host(home);
    answer_at_terminal("s\r", 0);
    ASSERT_FALSE(is_asked());
    const auto listed = home.run({"policy", "list", "mcp__x__echo"});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    EXPECT_THAT(listed.out, HasSubstr("allow-session by person, 20"));
    const auto told = home.run({"policy", "list", "mcp__x__echo", "--json"});
    const auto answers = json::parse(told.out).at(0).at("answers");
    ASSERT_EQ(answers.as_array().size(), 1u) << told.out;
    EXPECT_EQ(answers.at(0).at("level"), "allow-session");
    EXPECT_EQ(answers.at(0).at("for"), "terminal");
    EXPECT_THAT(home.run({"--alone", "policy", "list", "mcp__x__echo"}).out,
                Not(HasSubstr("allow-session")));

    EXPECT_THAT(home.run({"policy", "reset", "mcp__x__add"}).err, Not(HasSubstr("forgotten")));
    EXPECT_THAT(home.run({"policy", "reset", "mcp__x__echo", "--scope", "local"}).err,
                Not(HasSubstr("forgotten")));
    EXPECT_FALSE(is_asked()) << "it was about something else";
    write_level("echo", "require-approval");
    const auto reset = home.run({"policy", "reset", "mcp__x__e*", "--json"});
    EXPECT_EQ(reset.exit_code, 0) << reset.err;
    EXPECT_THAT(reset.out, HasSubstr("{\"answers_forgotten\":1}"));
    EXPECT_THAT(home.run({"policy", "list", "mcp__x__echo"}).out, Not(HasSubstr("allow-session")));
    write_level("echo", "require-approval");
    EXPECT_TRUE(is_asked());
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asking, OfABatchIsDoneBehindABarrierToo) {
    write_level("echo", "require-approval");
    const auto file = home.write("requests", std::string(kLine) +
                                                 "{\"id\":2,\"op\":\"barrier\"}\n"
                                                 "{\"id\":3,\"op\":\"tools/call\",\"name\":"
                                                 "\"mcp__x__echo\",\"arguments\":{\"message\":"
                                                 "\"there\"}}\n");
    const auto answer = [&](const Words& words) {
        OnTerminal batch(home.patchbay(words));
        EXPECT_TRUE(batch.wait_for("approve? [")) << batch.seen();
        batch.type("s\r");
        EXPECT_EQ(batch.finish(), 0) << batch.seen();
        EXPECT_THAT(batch.seen(),
                    AllOf(HasSubstr("\"text\":\"hi\""), HasSubstr("\"text\":\"there\"")));
    };
    answer({"batch", file});
    RunningHost host(home);
    answer({"-v", "batch", file});
    EXPECT_EQ(home.run({"batch"}, kLine).exit_code, 1) << "the answer was of that batch";
    EXPECT_EQ(host.end().exit_code, 0);
}

// A program that speaks the protocol and says nothing of approvals is asked nothing.
TEST_F(Asking, IsNotForProgramsThatDoNotKnowOfIt) {
    write_level("echo", "require-approval");
    RunningHost host(home);
    HostGuest guest(host.socket());
    ASSERT_TRUE(guest.greet());
    const auto refused = guest.ask(
        {{"op", "tools/call"}, {"name", "mcp__x__echo"}, {"arguments", {{"message", "hi"}}}});
    EXPECT_THAT(json::serialize(refused), HasSubstr("needs approval"));
    guest.vanish();
    EXPECT_EQ(host.end().exit_code, 0);
}

TEST_F(Asking, ByAListIsForWhateverIsAllowedOtherwise) {
    home.add_example("x", {}, {{"tools", {{"echo", "allow-always"}}}});
    write_user("[permissions]\nask = ['mcp__x__e*']\n");
    const auto refused = home.run(kCall);
    EXPECT_EQ(refused.exit_code, 7);
    EXPECT_THAT(refused.err, HasSubstr("take \"mcp__x__e*\" out of [permissions] ask"));
    const auto why = home.run({"why", "mcp__x__echo", "--json"});
    EXPECT_THAT(why.out, AllOf(HasSubstr("\"answer\":\"asked\""),
                               HasSubstr("\"kind\":\"permissions.ask\"")));
}

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
    EXPECT_THAT(home.run({"policy", "list", "mcp__x__echo"}).out,
                HasSubstr("no rule: a client's is refused, as [gateway] approvals = \"rules\""));
    EXPECT_THAT(home.run({"why", "mcp__x__echo"}).out,
                HasSubstr("somebody types is approved; a client's is refused, as [gateway]"));
    home.write("../config/patchbay/config.toml", "[gateway]\napprovals = 'ask'\n");
    EXPECT_THAT(home.run({"policy", "list", "mcp__x__echo"}).out,
                HasSubstr("a client's is asked about"));
}

}  // namespace
}  // namespace patchbay::test
