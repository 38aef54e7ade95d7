// What the verbs about resources, templates and prompts find, and say of what is not there.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

TEST(CommandLine, APromptIsNotAskedForWithoutWhatItRequires) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"prompts", "get", "greet", "style=formal"});
    EXPECT_EQ(done.exit_code, 3);
    EXPECT_EQ(done.err, "error: prompt \"greet\": required and not given: \"who\"\n");
}

TEST(CommandLine, WhatSeveralListIsSaidToBeTheirsAlsoWhereAnotherIsSlow) {
    Home home;
    home.add_example("x");
    home.add_example("y");
    home.run({"prompts", "list"});  // which is kept
    home.add_example("slow", {"--slow-start", "2000"});
    for (int time = 0; time < 2; ++time) {
        const auto done = home.run({"prompts", "get", "greet", "who=Ada"});
        EXPECT_EQ(done.exit_code, 3) << done.err;
        EXPECT_THAT(done.err, HasSubstr("\"x\" and \"y\"; say which"));
    }
}

TEST(CommandLine, ListsThatAreForbiddenAreDenied) {
    Home home;
    home.add_example("x");
    home.add_example("y");
    for (const char* list : {"resources", "prompts"}) {
        for (const Words& more : {Words{}, Words{"--server", "x"}}) {
            Words words{list, "list", "--set", "permissions.deny=['mcp__*']"};
            words.insert(words.end(), more.begin(), more.end());
            const auto done = home.run(words);
            EXPECT_EQ(done.exit_code, 7) << testing::PrintToString(words);
            EXPECT_THAT(done.err, StartsWith("error: " + std::string(list) +
                                             " of server \"x\" are denied by [permissions] deny"));
        }
        const auto one = home.run({list, "list", "--set", "permissions.deny=['mcp__y__*']"});
        EXPECT_EQ(one.exit_code, 0) << "the other one is not";
        EXPECT_EQ(one.err, "note: server y is denied\n");
    }
    for (const auto* what : {"resource", "prompt"}) {
        const auto verb = std::string(what) == "prompt" ? "get" : "read";
        const auto missed = home.run({what + std::string("s"), verb, "none:such", "--set",
                                      "permissions.deny=['mcp__y__*']"});
        EXPECT_EQ(missed.exit_code, 6);
        EXPECT_THAT(missed.err, HasSubstr(what + std::string("s of server \"y\" are denied by")))
            << "that one may have it";
    }
}

TEST(CommandLine, NamesTheArgumentsOfAPromptThatThereAre) {
    Home home;
    home.add_example("x");
    for (const Words& words :
         {Words{"prompts", "get", "greet", "who=Ada", "stile=formal"},
          Words{"complete", "--prompt", "greet", "stile=f"},
          Words{"complete", "--prompt", "greet", "who=A", "--context", "stile=f"}}) {
        for (const Words& more : {Words{}, Words{"--server", "x"}}) {
            auto all = words;
            all.insert(all.end(), more.begin(), more.end());
            const auto done = home.run(all);
            EXPECT_EQ(done.exit_code, 3) << done.out;
            EXPECT_EQ(done.err,
                      "error: prompt \"greet\": unknown argument \"stile\"; did you mean "
                      "\"style\"? Known: who, style\n");
        }
    }
    EXPECT_THAT(home.run({"prompts", "get", "simple", "a=b"}).err, HasSubstr("it takes none"));
    EXPECT_THAT(home.run({"complete", "--resource", "example://item/{n}", "amount=1"}).err,
                HasSubstr("unknown argument \"amount\"; known: n"));
    EXPECT_EQ(home.run({"complete", "--resource", "example://item/{n}", "n=1"}).exit_code, 0);
    EXPECT_THAT(home.run({"prompts", "get", "greet", "--server", "nowhere"}).err,
                HasSubstr("no server \"nowhere\" is configured; known: x"));
    EXPECT_THAT(home.run({"prompts", "get", "unlisted", "a=b", "--server", "x"}).err,
                HasSubstr("Unknown prompt: unlisted"))
        << "what is not listed is asked for as it is";
}

TEST(CommandLine, KnowsTheTemplateThatAUriMayHaveComeOf) {
    Home home;
    home.add_example("x");
    const auto made = home.run({"resources", "read", "example://item/3"});
    EXPECT_EQ(made.exit_code, 6);
    EXPECT_THAT(made.err, HasSubstr("it fits the template \"example://item/{n}\" of server \"x\"; "
                                    "to read it, add --server x"));
    EXPECT_EQ(home.run({"resources", "read", "example://item/3", "--server", "x"}).exit_code, 0);
    const auto itself = home.run({"resources", "read", "example://item/{n}"});
    EXPECT_EQ(itself.exit_code, 3);
    EXPECT_THAT(itself.err, HasSubstr("write a value in place of n"));
}

TEST(CommandLine, AThingThatIsNotListedNamesTheServersThatDidNotAnswerToo) {
    Home home;
    home.add_example("x");
    home.add("gone", {{"command", "/nonexistent/server"}});
    const auto done = home.run({"resources", "read", "example://txet"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, AllOf(HasSubstr("did you mean \"example://text\""),
                                HasSubstr("server \"gone\": command")));
}

TEST(CommandLine, WhatTwoServersOfferIsAskedOfTheOneThatIsNamed) {
    Home home;
    home.add_example("b");
    home.add_example("a");
    const auto list = home.run({"resources", "list"});
    EXPECT_EQ(list.out,
              "a  example://text  A line of text.\na  example://blob  blob\n"
              "b  example://text  A line of text.\nb  example://blob  blob\n");
    const auto listed = json::parse(home.run({"resources", "list", "--json"}).out);
    EXPECT_EQ(listed.at_pointer("/0/server"), "a");
    EXPECT_EQ(listed.at_pointer("/0/uri"), "example://text");
    EXPECT_EQ(listed.at_pointer("/3/server"), "b");
    EXPECT_THAT(home.run({"resources", "list", "--server", "b"}).out,
                AllOf(StartsWith("b  "), Not(HasSubstr("a  example"))));
    const struct {
        Words words;
        const char* what;
    } cases[] = {{{"resources", "read", "example://text"}, "resource \"example://text\""},
                 {{"prompts", "get", "simple"}, "prompt \"simple\""},
                 {{"complete", "--prompt", "greet", "who=A"}, "prompt \"greet\""},
                 {{"complete", "--resource", "example://item/{n}", "n=1"},
                  "template \"example://item/{n}\""}};
    for (const auto& [words, what] : cases) {
        const auto unclear = home.run(words);
        EXPECT_EQ(unclear.exit_code, 3) << what;
        EXPECT_EQ(unclear.err, "error: " + std::string(what) +
                                   " is offered by \"a\" and \"b\"; say which with --server\n");
        auto named = words;
        named.insert(named.end(), {"--server", "b"});
        EXPECT_EQ(home.run(named).exit_code, 0) << what;
    }
}

TEST(CommandLine, AnEmptyListSaysWhoseThingsAreDenied) {
    Home home;
    home.add("bare",
             {{"command", "/bin/sh"},
              {"args", {"-c", "'" + example_server() + "' | sed -u 's/\"resources\"/\"none\"/'"}}});
    home.add_example("x");
    const auto list = [&](const std::string& denied) {
        return home.run({"resources", "list", "--set", "permissions.deny=[" + denied + "]"});
    };
    const auto one = list("'mcp__x__*'");
    EXPECT_EQ(one.exit_code, 0);
    EXPECT_EQ(one.err, "no resources; server x is denied\n");
    home.add_example("y");
    EXPECT_EQ(list("'mcp__x__*'").err, "note: server x is denied\n") << "beside what is listed";
    EXPECT_EQ(list("'mcp__x__*', 'mcp__y__*'").err, "no resources; 2 servers are denied: x, y\n");
}

TEST(CommandLine, AnEmptyListSaysOfWhatThereIsNone) {
    Home home;
    home.add_example("off", {}, {{"enabled", false}});
    const std::string why = ": no MCP server can be asked (1 disabled); see patchbay mcp list\n";
    for (const char* kind : {"resources", "prompts"}) {
        const auto done = home.run({kind, "list"});
        EXPECT_EQ(done.exit_code, 0);
        EXPECT_EQ(done.out, "");
        EXPECT_EQ(done.err, "no " + std::string(kind) + why);
    }
    EXPECT_EQ(home.run({"resources", "templates"}).err, "no templates" + why);
    EXPECT_EQ(home.run({"tools"}).err, "no tools" + why);
    EXPECT_EQ(home.run({"prompts", "list", "--json"}).out, "[]\n");
}

class Completing : public ::testing::TestWithParam<const char*> {};

TEST_P(Completing, AsksTheServerThatListsThePrompt) {
    Home home;
    home.add_example("x", {"--era", GetParam()});
    const auto done = home.run({"complete", "--prompt", "greet", "who=A"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, "Ada\nAlan\n");
    EXPECT_EQ(home.run({"complete", "who=A"}).exit_code, 3);
    EXPECT_EQ(home.run({"complete", "--prompt", "greet", "who"}).exit_code, 3);
    EXPECT_EQ(home.run({"complete", "--prompt", "great", "who=A"}).exit_code, 6);
}

INSTANTIATE_TEST_SUITE_P(, Completing, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

TEST(CommandLine, TakesAPromptByTheNameThatClientsHaveForIt) {
    Home home;
    home.add_example("x");
    home.add_example("y");
    const auto got = home.run({"prompts", "get", "mcp__x__greet", "who=Ada"});
    EXPECT_EQ(got.exit_code, 0) << got.err;
    EXPECT_THAT(got.out, HasSubstr("Ada"));
    EXPECT_EQ(got.out, home.run({"prompts", "get", "greet", "who=Ada", "--server", "x"}).out);
    EXPECT_EQ(home.run({"prompts", "get", "mcp__x__greet", "who=Ada", "--server", "x"}).exit_code,
              0);
    const auto completed = home.run({"complete", "--prompt", "mcp__x__greet", "style=f"});
    EXPECT_EQ(completed.exit_code, 0) << completed.err;
    EXPECT_THAT(completed.out, HasSubstr("formal"));
    EXPECT_EQ(home.run({"prompts", "get", "mcp__x__nothing"}).exit_code, 6);
}

TEST(CommandLine, ARefusalNamesThePromptOrTheResource) {
    Home home;
    home.add_example("x");
    const auto prompt = home.run({"prompts", "get", "greet", "who=Ada", "--server", "x", "--set",
                                  "permissions.ask=['mcp__x__*']"});
    EXPECT_EQ(prompt.exit_code, 7) << prompt.err;
    EXPECT_THAT(prompt.err, HasSubstr("prompt \"greet\": prompts of server \"x\" need approval"));
    const auto resource = home.run({"resources", "read", "example://text", "--server", "x", "--set",
                                    "permissions.deny=['mcp__x__*']"});
    EXPECT_EQ(resource.exit_code, 7) << resource.err;
    EXPECT_THAT(resource.err, HasSubstr("resource \"example://text\": resources of server \"x\" "
                                        "are denied by"));
}

TEST(CommandLine, OneToolIsShownWithTheLimitsOfItsArguments) {
    Home home;
    home.add_example("x");
    EXPECT_THAT(home.run({"tools", "mcp__x__sleep"}).out, HasSubstr("integer, at least 0"));
}

}  // namespace
}  // namespace patchbay::test
