// Who may call what: levels that somebody wrote, the questions that they ask, what becomes of the answers.
#include "integration/asking.hpp"
#include "integration/host_guest.hpp"

#include <sys/stat.h>

namespace patchbay::test {
namespace {

constexpr const char* kLine =
    "{\"id\":1,\"op\":\"tools/call\",\"name\":\"mcp__x__echo\",\"arguments\":{\"message\":\"hi\"}}"
    "\n";

Words with_option(Words words, const char* option) {
    words.emplace_back(option);
    return words;
}

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
    const auto why = home.run({"why", "mcp__x__echo", "--json"});
    EXPECT_EQ(json::parse(why.out).at("answer"), "allowed") << why.out;
    EXPECT_THAT(home.run({"why", "mcp__x__echo"}).out, HasSubstr("allow-session by person"));
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

}  // namespace
}  // namespace patchbay::test
