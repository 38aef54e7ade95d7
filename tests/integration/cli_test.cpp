// The words and options that a command line is made of, and what a wrong one is told.
#include "integration/home.hpp"

#include <gtest/gtest-spi.h>

#include <algorithm>
#include <map>

namespace patchbay::test {
namespace {

TEST(CommandLine, NamesTheNearestVerbOfOneThatIsNotThere) {
    const Home home;
    const auto verb = home.run({"cal", "x"});
    EXPECT_EQ(verb.exit_code, 3);
    EXPECT_THAT(verb.err,
                HasSubstr("patchbay has no \"cal\"; did you mean \"call\"? Known: mcp, "));
    const auto deeper = home.run({"mcp", "stauts"});
    EXPECT_EQ(deeper.exit_code, 3);
    EXPECT_THAT(deeper.err, HasSubstr("patchbay mcp has no \"stauts\"; did you mean \"status\""));
}

TEST(CommandLine, WithoutAVerbShowsTheHelpOnStderr) {
    const auto done = Home().run({});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_EQ(done.out, "");
    EXPECT_THAT(done.err, AllOf(HasSubstr("Examples:"), HasSubstr("Exit codes:")));
}

TEST(CommandLine, NamesAnOptionThatIsNotThere) {
    const auto done = Home().run({"tools", "--jsn"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_THAT(done.err, AllOf(HasSubstr("--jsn"), HasSubstr("`patchbay tools --help`")));
}

TEST(CommandLine, HintsAtWhatAnOptionMayHaveMeant) {
    const Home home;
    EXPECT_THAT(home.run({"tools", "--debug"}).err, HasSubstr("--log-level debug tells more"));
    EXPECT_THAT(home.run({"tools", "--jsno"}).err, HasSubstr("did you mean \"--json\"?"));
    EXPECT_THAT(home.run({"--jsno", "tools"}).err, HasSubstr("did you mean \"--json\"?"));
    EXPECT_THAT(home.run({"tools", "--sever=x"}).err, HasSubstr("did you mean \"--server\"?"));
    EXPECT_THAT(home.run({"tools", "--hepl"}).err, HasSubstr("did you mean \"--help\"?"));
    EXPECT_THAT(home.run({"tools", "-z"}).err, Not(HasSubstr("did you mean")));
    EXPECT_THAT(home.run({"tools", "--scema"}).err, HasSubstr("did you mean \"--schema\"?"));
}

TEST(CommandLine, AnOptionThatNoVerbHasIsNamedWithoutWhatFollowsIt) {
    EXPECT_THAT(Home().run({"--pattern", "x", "tools"}).err,
                StartsWith("error: patchbay tools has no option \"--pattern\"; `patchbay tools"));
    const auto value = Home().run({"tools", "--bogus=s3cret"}).err;
    EXPECT_THAT(value, StartsWith("error: patchbay tools has no option \"--bogus\"; "));
    EXPECT_THAT(value, Not(HasSubstr("s3cret")));
    EXPECT_THAT(Home().run({"tools", "--bo\ngus"}).err, HasSubstr("no option \"--bo\u21B5gus\""));
}

TEST(CommandLine, AnOptionOfAVerbThatStandsElsewhereIsToldWhereItBelongs) {
    const Home home;
    const struct {
        Words words;
        const char* told;
    } cases[] = {
        {{"--timeout", "5", "call", "mcp__x__y"},
         "error: --timeout belongs behind \"patchbay call\"; "},
        {{"--timeout=5", "call", "mcp__x__y"},
         "error: --timeout belongs behind \"patchbay call\"; "},
        {{"mcp", "--lines", "5", "logs", "x"},
         "error: --lines belongs behind \"patchbay mcp logs\"; "},
        {{"call", "mcp__x__y", "--schema"},
         "error: patchbay call has no option \"--schema\"; it belongs behind \"tools\"; "},
        {{"--origin"},
         "error: patchbay has no option \"--origin\"; it belongs behind \"config show\"; "},
        {{"mcp", "add", "x", "npx", "-y", "server"},
         "error: patchbay mcp add has no option \"-y\"; if it is one of \"npx\", write -- ahead of "
         "that: patchbay mcp add ID -- npx -y; "},
    };
    for (const auto& c : cases) {
        const auto done = home.run(c.words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_THAT(done.err, StartsWith(c.told));
        EXPECT_THAT(done.err, Not(HasSubstr("did you mean")));
    }
}

TEST(CommandLine, KnowsTheUsualWordsForVersionAndHelp) {
    const Home home;
    EXPECT_EQ(home.run({"-V"}).out, home.run({"--version"}).out);
    EXPECT_EQ(home.run({"help"}).out, home.run({"--help"}).out);
    EXPECT_EQ(home.run({"help", "mcp", "logs"}).out, home.run({"mcp", "logs", "--help"}).out);
    EXPECT_EQ(home.run({"help", "tools"}).exit_code, 0);
    const auto tools = home.run({"tools", "--help"}).out;
    EXPECT_EQ(home.run({"-q", "help", "tools"}).out, tools);
    EXPECT_EQ(home.run({"--config", "help", "--set=a=b", "help", "tools"}).out, tools);
    EXPECT_EQ(home.run({"help", "-q", "tools"}).out, tools);
    const auto strange = home.run({"-z"});
    EXPECT_EQ(strange.exit_code, 3);
    EXPECT_EQ(strange.err, "error: patchbay has no option \"-z\"; `patchbay --help` tells more\n");
}

TEST(CommandLine, NoHelpIsThereOfAVerbThatIsNot) {
    const Home home;
    for (const auto& words : std::vector<Words>{{"help", "tolls"}, {"tolls", "--help"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.err, HasSubstr("patchbay has no \"tolls\"; did you mean \"tools\"?"));
    }
    EXPECT_THAT(home.run({"help", "mcp", "lits"}).err, HasSubstr("patchbay mcp has no \"lits\""));
}

// CLI11 would take the next word as the value, and an empty one would mean that none was given.
TEST(CommandLine, AnEmptyWordIsNoValue) {
    const Home home;
    struct Case {
        Words words;
        const char* told;
    };
    const Case cases[] = {
        {{"--config=", "mcp", "list"}, "argument 1, --config: a value is missing"},
        {{"--set=", "mcp", "list"}, "argument 1, --set: a value is missing"},
        {{"tools", "--server=", "echo"}, "argument 2, --server: a value is missing"},
        {{"tools", "--server", ""}, "argument 3 is empty: a value is missing"},
        {{"mcp", "status", ""}, "argument 3 is empty: a value is missing"},
        {{"mcp", "logs", ""}, "argument 3 is empty: a value is missing"},
        {{"call", "mcp__a__b", "--args=", "c=d"}, "argument 3, --args: a value is missing"},
        {{"call", "mcp__a__b", "--args", ""}, "argument 4 is empty: a value is missing"},
    };
    for (const auto& c : cases) {
        const auto done = home.run(c.words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_EQ(done.err, "error: " + std::string(c.told) + "\n");
    }
    EXPECT_EQ(home.run({"--set=client.title=", "mcp", "list"}).exit_code, 0) << "one there is";
}

TEST(CommandLine, HelpSaysWhatEveryOptionTakes) {
    const std::pair<Words, Words> cases[] = {
        {{},
         {"--config FILE  ", "--set KEY=VALUE  ", "--plugin-dir DIR  ", "--log-level LEVEL ",
          "-q,--quiet ", "patchbay batch < requests.jsonl", "Exit codes: 0 ok", "--version "}},
        {{"mcp", "logs"},
         {"ID TEXT  ", "--call NUMBER", "-n,--lines UINT=100 ", "mcp logs files -n 20"}},
        {{"mcp", "add"},
         {"ID TEXT  ", "PROGRAM TEXT ...", "--scope", "--env NAME=VALUE ", "--url"}},
        {{"mcp", "login"}, {"ID TEXT REQUIRED", "--scope SCOPES ", "--no-browser "}},
        {{"mcp", "logout"}, {"ID TEXT REQUIRED"}},
        {{"mcp", "status"}, {"ID TEXT  "}},
        {{"tools"}, {"PATTERN TEXT  ", "--server ID ", "--schema ", "marked (denied)"}},
        {{"call"},
         {"NAME TEXT REQUIRED", "KEY=VALUE TEXT ...", "--args JSON|@FILE|- ", "--timeout SECONDS ",
          "--output DIR=. ", "--raw "}},
        {{"resources", "list"}, {"--server ID "}},
        {{"resources", "templates"}, {"--server ID "}},
        {{"resources", "read"}, {"URI TEXT REQUIRED", "--server ID ", "--output DIR=. "}},
        {{"prompts", "list"}, {"--server ID "}},
        {{"prompts", "get"},
         {"NAME TEXT REQUIRED", "KEY=VALUE TEXT ...", "--server ID ", "--output DIR=. "}},
        {{"complete"},
         {"KEY=VALUE TEXT REQUIRED", "--prompt TEXT Excludes: --resource",
          "--resource TEXT Excludes: --prompt", "--server ID ", "--context KEY=VALUE "}},
        {{"batch"}, {"FILE TEXT  ", "--sign-in ", "/share/doc/patchbay/BATCH.md."}},
        {{"config", "show"}, {"--origin "}},
        {{"config", "check"}, {"FILE TEXT  "}},
        {{"trust"}, {"ID TEXT ...", "-y,--yes Excludes: --revoke", "--revoke Excludes: --yes"}},
        {{"serve"},
         {"--http TEXT ", "--auth none|token", "--allow-host HOST ", "--public-url URL "}},
        {{"token", "add"},
         {"NAME TEXT REQUIRED", "--expires TIME ", "--servers ID,... ", "--tools PATTERN,... "}},
        {{"token", "rm"}, {"NAME TEXT REQUIRED"}},
        {{"plugin", "info"}, {"NAME TEXT REQUIRED"}},
        {{"plugin", "doctor"}, {"--load "}},
    };
    for (auto [words, parts] : cases) {
        const bool of_a_verb = !words.empty();
        words.push_back("--help");
        const auto done = Home().run(words);
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_EQ(done.err, "");
        for (const auto& part : parts)
            EXPECT_THAT(done.out, HasSubstr(part)) << ::testing::PrintToString(words);
        if (of_a_verb) {
            EXPECT_THAT(done.out,
                        AllOf(HasSubstr("Examples:\n  "), HasSubstr("Options of every verb")));
        }
    }
}

TEST(CommandLine, OptionsThatMayBeRepeatedTakeOneValueEach) {
    Home home;
    home.add_example("x");
    const auto one = home.write("one.toml", "[servers.y]\ncommand = \"a\"\n");
    const auto two = home.write("two.toml", "[servers.z]\ncommand = \"a\"\n");
    const auto done =
        home.run({"--config", one, "--config", two, "--set", "servers.x.enabled=false", "--set",
                  "servers.y.enabled=false", "--plugin-dir", ".", "--plugin-dir", "..", "mcp",
                  "list", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    std::map<std::string, std::string> states;
    const auto listed = json::parse(done.out);
    for (const auto& status : listed.as_array())
        states[json::value_to<std::string>(status.at("id"))] =
            json::value_to<std::string>(status.at("state"));
    EXPECT_EQ(states, (std::map<std::string, std::string>{
                          {"x", "disabled"}, {"y", "disabled"}, {"z", "idle"}}));
    EXPECT_THAT(home.run({"complete", "--prompt", "greet", "style=f", "--context", "who=Ada",
                          "--context", "who=Alan"})
                    .err,
                HasSubstr("argument \"who\" is given twice"));
}

// What stands behind such an option's one value is the verb's.
TEST(CommandLine, OptionsThatMayBeRepeatedLeaveTheVerbItsWords) {
    Home home;
    home.add_example("x");
    const auto file = home.write("one.toml", "[servers.y]\ncommand = \"a\"\nenabled = false\n");
    const std::pair<std::string, std::string> options[] = {
        {"--config", file}, {"--set", "servers.x.enabled=true"}, {"--plugin-dir", "."}};
    for (const auto& [option, value] : options) {
        SCOPED_TRACE(option);
        EXPECT_EQ(home.run({"call", option, value, "mcp__x__echo", "message=a"}).out, "a\n");
        EXPECT_EQ(home.run({"call", "mcp__x__echo", option, value, "message=a"}).out, "a\n");
        EXPECT_THAT(home.run({"tools", option, value, "echo"}).out,
                    AllOf(HasSubstr("mcp__x__echo"), Not(HasSubstr("mcp__x__slow"))));
        EXPECT_THAT(home.run({"mcp", "status", option, value, "x"}).out, StartsWith("id "));
    }
    EXPECT_EQ(home.run({"complete", "--prompt", "greet", "--context", "style=plain", "who=A"}).out,
              "Ada\nAlan\n");
}

TEST(CommandLine, TakesGlobalOptionsBeforeAndAfterTheVerb) {
    Home home;
    home.add_example("x");
    const auto before = home.run({"--json", "--set", "servers.x.enabled=false", "mcp", "list"});
    const auto after = home.run({"mcp", "list", "--json", "--set", "servers.x.enabled=false"});
    EXPECT_EQ(before.exit_code, 0) << before.err;
    EXPECT_EQ(before.out, after.out);
    EXPECT_THAT(before.out, HasSubstr("\"state\":\"disabled\""));
}

TEST(CommandLine, RefusesATimeOutThatIsNone) {
    for (const char* text : {"-1", "0", "soon", "1e300", "nan", "0.0009", "31622401"}) {
        const auto done = Home().run({"call", "mcp__x__echo", "--timeout", text});
        EXPECT_EQ(done.exit_code, 3) << text;
        EXPECT_THAT(done.err, HasSubstr("is no number of seconds from 0.001 to 31622400")) << text;
    }
}

TEST(CommandLine, TakesATimeOutAndANumberOfLinesToTheirLimits) {
    Home home;
    home.add_example("x");
    for (const char* seconds : {"0.001", "31622400"}) {
        const auto done = home.run({"call", "mcp__nosuch__echo", "--timeout", seconds});
        EXPECT_EQ(done.exit_code, 6) << seconds << done.err;
    }
    EXPECT_EQ(home.run({"mcp", "logs", "x", "-n", "1000000"}).exit_code, 0);
    EXPECT_EQ(home.run({"mcp", "logs", "x", "-n", "1000001"}).exit_code, 3);
}

TEST(CommandLine, SaysWhatANumberOfLinesIs) {
    Home home;
    home.add_example("x");
    for (const char* text : {"0", "-1", "x", "1.5", "99999999999999999999"}) {
        const auto done = home.run({"mcp", "logs", "x", "-n", text});
        EXPECT_EQ(done.exit_code, 3) << text;
        EXPECT_THAT(done.err, HasSubstr("\"" + std::string(text) +
                                        "\" is no number of lines from 1 to 1000000"));
    }
    EXPECT_EQ(home.run({"mcp", "logs", "x", "-n", "1"}).exit_code, 0);
}

TEST(CommandLine, SaysInOneLineThatAnOptionLacksItsValue) {
    for (const Words& words : {Words{"--config"}, Words{"tools", "--server"}, Words{"--set"}}) {
        const auto done = Home().run(words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_EQ(done.out, "");
        EXPECT_THAT(done.err, StartsWith("error: " + words.back() + ": 1 required "));
        EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    }
}

TEST(CommandLine, UsageErrorsAreJsonToo) {
    for (const Words& words :
         {Words{"--json"}, Words{"--json", "nope"}, Words{"mcp", "--json"}, Words{"--json", ""},
          Words{"tools", "--json", "--nosuch"}, Words{"call", "--json"},
          Words{"call", "mcp__x__echo", "--timeout", "x", "--json"}, Words{"--json", "--config"},
          Words{"call", "mcp__x__echo", "message=\xff", "--json"},
          Words{"mcp", "logs", "x", "-n", "0", "--json"}, Words{"batch", "nofile", "--json"},
          Words{"prompts", "get", "greet", "who", "--json"}, Words{"complete", "who=A", "--json"},
          Words{"trust", "--yes", "--json"}}) {
        const auto done = Home().run(words);
        SCOPED_TRACE(::testing::PrintToString(words));
        EXPECT_EQ(done.exit_code, 3);
        json::error_code failed;
        const auto told = json::parse(done.out, failed);
        ASSERT_FALSE(failed) << done.out;
        EXPECT_EQ(told.at_pointer("/error/kind"), "invalid");
        EXPECT_EQ(
            done.err,
            "error: " + json::value_to<std::string>(told.at_pointer("/error/message")) + "\n");
    }
}

TEST(CommandLine, ALevelThatThereIsNotIsWrongUse) {
    const auto done = Home().run({"--log-level", "inof", "mcp", "list"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_THAT(done.err, HasSubstr("did you mean \"info\"?"));
}

TEST(CommandLine, WhoPutsTheServerBeforeTheNameIsToldOfTheOption) {
    for (const Words& words : {Words{"prompts", "get", "ex", "greet"},
                               Words{"resources", "read", "ex", "example://text"}}) {
        const auto done = Home().run(words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_THAT(done.err, HasSubstr("a server is named by --server"));
    }
}

TEST(CommandLine, BadArgumentsAreRefusedBeforeAnythingIsStarted) {
    Home home;
    const auto input = home.add_recorded("x");
    const auto done = home.run({"call", "mcp__x__add", "--args", "{\"a\":1,\"a\":2,\"b\":3}"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_THAT(done.err, HasSubstr("--args has the key \"a\" twice in one object"));
    EXPECT_FALSE(std::filesystem::exists(input));
}

}  // namespace
// The tests of the program itself: what they rely on to see a bug that it survives.
TEST(RunProgram, AnInternalErrorOnStderrFailsATestThatDoesNotExpectIt) {
    Command command{{"/bin/sh", "-c", "echo 'internal error: oh' >&2"}, {}, "/", {}};
    EXPECT_NONFATAL_FAILURE(run(command), "an internal error was told: internal error: oh");
    command.may_break = true;
    EXPECT_EQ(run(command).exit_code, 0);
}

}  // namespace patchbay::test
