// What the verbs that change files take out, and what `config undo` takes back; what is left where they are killed.
#include "integration/edit_fixture.hpp"
#include "support/killed_at.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::test {
namespace {

TEST_F(EditVerbs, AnUndoTakesBackTheApprovalOfWhatItTakesBack) {
    ASSERT_EQ(edit(example({"add", "ex"})).exit_code, 0);
    const auto written = text(project);
    ASSERT_TRUE(works("ex"));
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    home.write(project, written);  // as a checkout may bring it
    EXPECT_FALSE(works("ex"));
    EXPECT_THAT(home.run({"trust"}).out, HasSubstr("ex"));
    // Of what was approved before, that stays.
    ASSERT_EQ(home.run({"trust", "ex", "--yes"}).exit_code, 0);
    ASSERT_EQ(edit({"add", "ex", "--replace", "--", "cat"}).exit_code, 0);
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_TRUE(works("ex"));
}

TEST_F(EditVerbs, WhatAdjustsAServerThatIsTakenOutIsToldAndBreaksNothing) {
    ASSERT_EQ(edit(example({"add", "other"})).exit_code, 0);
    ASSERT_EQ(edit(example({"add", "ex", "--scope", "user"})).exit_code, 0);
    ASSERT_EQ(edit({"disable", "ex", "--scope", "local"}).exit_code, 0);
    ASSERT_EQ(edit({"enable", "ex", "--scope", "local"}).exit_code, 0);
    const auto removed = edit({"remove", "ex", "--scope", "user"});
    EXPECT_EQ(removed.exit_code, 0);
    EXPECT_THAT(removed.err, HasSubstr("what adjusts it is left: local config "));
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(checked.err + checked.out,
                AllOf(HasSubstr("warning: local config "), HasSubstr("adjusts nothing")));
    const auto listed = edit({"list"});
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_THAT(listed.out, Not(HasSubstr("ex ")));
    const auto weaker = edit({"add", "ex", "--key", "tool_timeout_sec=5"});
    EXPECT_EQ(weaker.exit_code, 3) << "nothing is below it";
    EXPECT_THAT(weaker.err, HasSubstr("nothing says how to reach"));
}

TEST_F(EditVerbs, AnUndoNamesTheChangeThatItTakesBackAndShowsItBefore) {
    ASSERT_EQ(edit(example({"add", "first", "--scope", "user"})).exit_code, 0);
    ASSERT_EQ(edit({"add", "ex", "--env", "API_KEY=sk-very-secret-1", "--", "cat"}).exit_code, 0);
    const auto before = text(project);
    const auto shown = home.run({"config", "undo", "--dry-run"});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_THAT(shown.err,
                ::testing::ContainsRegex("would be removed: .*config.toml, which was made by "
                                         "`patchbay mcp add ex` of 20[0-9-]+T[0-9:]+Z"));
    EXPECT_THAT(shown.out, AllOf(HasSubstr("-[servers.ex]"), Not(HasSubstr("very-secret"))));
    EXPECT_EQ(text(project), before);
    const auto told = home.run({"config", "undo", "--dry-run", "--json"});
    EXPECT_EQ(boost::json::parse(told.out).at("by"), "mcp add ex");
    EXPECT_THAT(home.run({"config", "undo"}).err, HasSubstr("`patchbay mcp add ex` of 20"));
    EXPECT_THAT(home.run({"config", "undo"}).err, HasSubstr("`patchbay mcp add first` of 20"))
        << "an older one, of another file";
}

TEST_F(EditVerbs, AnUndoGivesNoApprovalBackThatWasRevoked) {
    ASSERT_EQ(edit(example({"add", "ex"})).exit_code, 0);
    ASSERT_EQ(edit({"disable", "ex", "--scope", "project"}).exit_code, 0);
    ASSERT_EQ(home.run({"trust", "--revoke", "ex"}).exit_code, 0);
    ASSERT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__ex__echo", "message=hi"}).exit_code, 7);
}

TEST_F(EditVerbs, KilledAtAnyMomentTheyLeaveTheOldTextOrTheNewOneAndAWayOn) {
    const std::string old = "# mine\n[servers.a]\ncommand = \"true\"\n";
    home.environment["ASAN_OPTIONS"] = "detect_leaks=0";  // that does not work under ptrace
    const auto add = example({"mcp", "add", "ex"});
    home.write(project, old);
    ASSERT_EQ(home.run(add).exit_code, 0);
    const auto added = text(project);
    for (const bool undo : {false, true}) {
        SCOPED_TRACE(undo ? "undo" : "add");
        const auto command = home.patchbay(undo ? Words{"config", "undo"} : add);
        int killed = 0;
        for (int nth = 1;; ++nth) {
            fs::remove_all(home.root() / "state/patchbay");
            home.write(project, old);
            if (undo) {
                ASSERT_EQ(home.run(add).exit_code, 0);
            }
            const auto outcome = killed_at(nth, home.root(), [&] { return become(command); });
            EXPECT_THAT(text(project), AnyOf(old, added)) << outcome.last_call;
            if (!outcome.killed) break;
            ++killed;
            EXPECT_EQ(home.run(add).exit_code, 0);
            EXPECT_EQ(text(project), added) << outcome.last_call << " " << nth;
            EXPECT_TRUE(works("ex")) << outcome.last_call << " " << nth;
        }
        EXPECT_GE(killed, 5);
    }
}

TEST_F(EditVerbs, WhatIsRemovedSaysWhoStillDefinesIt) {
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    ASSERT_EQ(edit({"add", "x", "--scope", "user", "--", "false"}).exit_code, 0);
    const auto removed = edit({"remove", "x"});
    EXPECT_EQ(removed.exit_code, 0);
    EXPECT_THAT(removed.err, AllOf(HasSubstr("removed: x from " + (home.work() / project).string()),
                                   HasSubstr("what counts is user config")));
    EXPECT_THAT(text(project), Not(HasSubstr("true")));
    const auto again = edit({"remove", "x"});
    EXPECT_EQ(again.exit_code, 6);
    EXPECT_THAT(again.err, HasSubstr("does not define \"x\"; user config "));
}

TEST_F(EditVerbs, TheLastChangeOfAFileIsTakenBackUnlessSomebodyHasWrittenItSince) {
    const auto before = std::string("# nobody touches this\n[servers.a]\ncommand = \"true\"\n");
    home.write(project, before);
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(text(project), before);
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 6);

    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    home.write(project, before + "# a word\n");
    const auto refused = home.run({"config", "undo", project});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_THAT(refused.err, AllOf(HasSubstr(" was changed since `patchbay mcp add x` of 20"),
                                   HasSubstr("without what was changed since: cp ")));
    EXPECT_EQ(text(project), before + "# a word\n");
    // What it says puts it back.
    fs::remove(home.work() / project);
    const auto gone = home.run({"config", "undo", project});
    EXPECT_EQ(gone.exit_code, 3);
    const auto command = gone.err.substr(gone.err.rfind("cp "));
    EXPECT_THAT(gone.err, HasSubstr(" was removed since `patchbay mcp add x` of 20"));
    EXPECT_EQ(run({{"/bin/sh", "-c", command}, {{"PATH", "/bin"}}, home.work(), {}}).exit_code, 0)
        << command;
    EXPECT_EQ(text(project), before);
    EXPECT_EQ(home.run({"config", "undo", project}).exit_code, 0) << "that was it";
    EXPECT_EQ(text(project), before);
    EXPECT_EQ(home.run({"config", "undo", project}).exit_code, 6);
}

TEST_F(EditVerbs, AFileThatAChangeHasMadeIsNotTakenBackOnceSomebodyHasWrittenIt) {
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    const auto made = text(project);
    home.write(project, made + "# a word\n");
    EXPECT_THAT(home.run({"config", "undo", project}).err,
                HasSubstr("Z, which made it; it is yours to remove"));
    fs::remove(home.work() / project);
    const auto gone = home.run({"config", "undo", project});
    EXPECT_EQ(gone.exit_code, 6);
    EXPECT_THAT(gone.err, HasSubstr("is gone, so there is nothing to take back"));
}

TEST_F(EditVerbs, WhatOneCommandChangedIsTakenBackAtOnce) {
    for (const char* id : {"x", "y", "z"})
        ASSERT_EQ(edit({"add", id, "--", example_server()}).exit_code, 0);
    ASSERT_EQ(edit({"disable", "y", "--scope", "project"}).exit_code, 0);
    const auto before = text(project);
    ASSERT_EQ(edit({"disable", "x", "y", "z", "--scope", "project"}).exit_code, 0);
    EXPECT_NE(text(project), before);
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(text(project), before);
    EXPECT_TRUE(works("x")) << "its approval is back as well";
    EXPECT_TRUE(works("z"));
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 6) << "one step";
    // One that wrote nothing continues nothing.
    ASSERT_EQ(edit({"disable", "x", "--scope", "project"}).exit_code, 0);
    const auto between = text(project);
    ASSERT_EQ(edit({"disable", "x", "z", "--scope", "project"}).exit_code, 0);
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(text(project), between);
}

TEST_F(EditVerbs, WhatOneCommandChangedInTwoFilesIsTakenBackInEach) {
    home.write(project, "");
    home.write(".mcp.json", R"({"mcpServers": {"x": {"command": "true"}}})");
    for (const char* id : {"a", "c"})
        ASSERT_EQ(edit({"add", id, "--file", project, "--", "true"}).exit_code, 0);
    const auto before = text(project);
    ASSERT_EQ(edit({"disable", "a", "x", "c", "--scope", "project"}).exit_code, 0);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(text(project), before);
    EXPECT_EQ(text(".mcp.json"), R"({"mcpServers": {"x": {"command": "true"}}})");
}

TEST_F(EditVerbs, ALinkToAnotherCheckoutIsNoWayToUndoThere) {
    const auto other = home.root() / "other";
    fs::create_directories(other / ".git");
    auto disable = home.patchbay({"mcp", "add", "x", "--", "true"});
    disable.directory = other;
    ASSERT_EQ(Program(disable).finish().exit_code, 0);
    const auto file = other / project;
    const auto written = read_file(file);
    fs::create_directories(home.work() / ".patchbay");
    fs::create_symlink(file, home.work() / project);
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 6);
    EXPECT_EQ(read_file(file), written);
}

TEST_F(EditVerbs, WhatWasDoneInAnotherCheckoutIsNotUndoneFromHere) {
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    const auto elsewhere = home.root() / "elsewhere";
    fs::create_directories(elsewhere);
    auto undo = home.patchbay({"config", "undo"});
    undo.directory = elsewhere;
    Program program(undo);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 6) << done.err;
    EXPECT_THAT(text(project), HasSubstr("[servers.x]"));
}

TEST_F(EditVerbs, WhatChangesNothingIsNoChange) {
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    ASSERT_EQ(edit({"disable", "x", "--scope", "project"}).exit_code, 0);
    const auto again = edit({"disable", "x", "--scope", "project"}).err;
    EXPECT_THAT(again, AllOf(HasSubstr("unchanged: x"), Not(HasSubstr("stronger"))));
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(text(project), "[servers.x]\ncommand = \"true\"\n");
}

TEST_F(EditVerbs, WhatStillAdjustsOneThatIsRemovedIsTold) {
    ASSERT_EQ(edit({"add", "x", "--scope", "user", "--", "true"}).exit_code, 0);
    ASSERT_EQ(edit({"disable", "x", "--scope", "project"}).exit_code, 0);
    EXPECT_THAT(edit({"remove", "x", "--scope", "user"}).err,
                HasSubstr("patchbay mcp remove x --scope project"));
    ASSERT_EQ(edit({"remove", "x"}).exit_code, 0);
    ASSERT_EQ(edit({"add", "y", "--", "true"}).exit_code, 0);
    const auto weaker = edit({"disable", "y", "--scope", "user"});
    EXPECT_EQ(weaker.exit_code, 3);
    EXPECT_THAT(weaker.err, HasSubstr("say --scope project"));
}

TEST_F(EditVerbs, AFileThatWasMadeGoesWithItsFolder) {
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    EXPECT_THAT(home.run({"config", "undo"}).err, HasSubstr("removed: "));
    EXPECT_FALSE(fs::exists(home.work() / ".patchbay"));
}

TEST_F(EditVerbs, ThoseThatAreAddedAtOnceAreAllThere) {
    std::vector<std::unique_ptr<Program>> programs;
    for (int i = 0; i < 8; ++i)
        programs.push_back(std::make_unique<Program>(
            home.patchbay({"mcp", "add", "x" + std::to_string(i), "--", "true"})));
    for (auto& program : programs) EXPECT_EQ(program->finish().exit_code, 0) << program->err();
    for (int i = 0; i < 8; ++i)
        EXPECT_THAT(text(project), HasSubstr("[servers.x" + std::to_string(i) + "]"));
}

TEST_F(EditVerbs, AnUndoShowsReferencesAndNoValueThatAProgramIsGiven) {
    ASSERT_EQ(edit({"add", "one", "--env", "API_TOKEN=${env:MINE}", "--env", "PLACE=attic-3b",
                    "--env", "DEBUG=true", "--scope", "user", "--", "cat"})
                  .exit_code,
              0);
    const auto shown = home.run({"config", "undo", "--dry-run"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("${env:MINE}"), Not(HasSubstr("attic-3b")),
                                 HasSubstr("DEBUG = \"true\"")));
}

// As it is read it stands nowhere in the file, so that no search finds it there.
TEST_F(EditVerbs, ASecretThatIsFoldedOverLinesIsNotShown) {
    home.write(home.user_config() / "config.yaml",
               "servers:\n  one:\n    command: cat\n    env:\n      API_TOKEN: >-\n        "
               "s3cret-one\n        s3cret-two\n");
    ASSERT_EQ(edit({"remove", "one", "--scope", "user"}).exit_code, 0);
    const auto shown = home.run({"config", "undo", "--dry-run"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out + shown.err, AllOf(HasSubstr("not shown"), Not(HasSubstr("s3cret"))));
}

TEST_F(EditVerbs, AnUndoSaysWhoseApprovalIsAnotherOneByIt) {
    // The checkout has one that nobody has approved; what is typed in its place is.
    home.write(project, "[servers.ex]\ncommand = \"cat\"\n");
    ASSERT_EQ(edit(example({"add", "ex", "--replace"})).exit_code, 0);
    ASSERT_TRUE(works("ex"));
    const auto undone = home.run({"config", "undo"});
    EXPECT_EQ(undone.exit_code, 0);
    EXPECT_THAT(undone.err,
                HasSubstr("note: server \"ex\" waits for your approval now: patchbay trust ex"));
    // And where it is approved as it was.
    ASSERT_EQ(home.run({"trust", "ex", "--yes"}).exit_code, 0);
    ASSERT_EQ(edit({"remove", "ex"}).exit_code, 0);
    EXPECT_THAT(home.run({"config", "undo"}).err,
                AnyOf(HasSubstr("server \"ex\" is approved, as it was before that change"),
                      HasSubstr("server \"ex\" waits for your approval now")));
}

TEST_F(EditVerbs, TwoUndosSayEachWhatBecomesOfAnApproval) {
    ASSERT_EQ(edit(example({"add", "ex"})).exit_code, 0);
    ASSERT_EQ(home.run({"policy", "set", "mcp__ex__add", "deny", "--scope", "local"}).exit_code, 0);
    ASSERT_TRUE(works("ex"));
    const auto first = home.run({"config", "undo"});
    EXPECT_THAT(first.err, Not(HasSubstr("waits for your approval")));
    EXPECT_TRUE(works("ex")) << first.err;
    const auto second = home.run({"--json", "config", "undo"});
    EXPECT_EQ(second.exit_code, 0) << second.err;
    const auto told = boost::json::parse(second.out);
    EXPECT_EQ(told.at("approvals").at(0).at("id"), "ex");
    EXPECT_EQ(told.at("approvals").at(0).at("approval"), "gone");
}

}  // namespace
}  // namespace patchbay::test
