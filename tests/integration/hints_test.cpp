// What somebody may have meant who wrote a word, a name or an argument wrong.
#include "integration/home.hpp"

namespace patchbay::test {
namespace {

TEST(Hints, ForWordsThatAreNoVerb) {
    const Home home;
    const struct {
        Words words;
        const char* hint;
    } cases[] = {
        {{"mcp", "satus"}, "has no \"satus\"; did you mean \"status\"?"},
        {{"mcp", "STATUS"}, "did you mean \"status\"?"},
        {{"version"}, "; did you mean \"patchbay --version\"?"},
    };
    for (const auto& c : cases) {
        const auto done = home.run(c.words);
        EXPECT_EQ(done.exit_code, 3);
        EXPECT_THAT(done.err, HasSubstr(c.hint));
    }
    EXPECT_THAT(home.run({"mcp", "st"}).err, Not(HasSubstr("did you mean")));
}

TEST(Hints, ForNamesOfTools) {
    Home home;
    home.add_example("d");
    home.add_example("example");
    const struct {
        const char *name, *meant;
    } cases[] = {{"mcp__D__pid", "mcp__d__"},
                 {"mcp__exmaple__no_such_tool", "mcp__example__"},
                 {"mcp__example__CHANGE_TOOLS", "mcp__example__change_tools"}};
    for (const auto& c : cases) {
        const auto done = home.run({"call", c.name});
        EXPECT_EQ(done.exit_code, 6);
        EXPECT_THAT(done.err, HasSubstr(std::string("did you mean \"") + c.meant + "\"?\n"));
    }
    const auto far = home.run({"call", "mcp__elsewhere__pid"});
    EXPECT_THAT(far.err, HasSubstr("no enabled server has this prefix\n"));
}

TEST(Hints, ForNamesOfToolsOfAServerThatSomethingElseIsSaidAbout) {
    Home home;
    home.add_example("files");
    for (const auto* checkout :
         {R"({"mcpServers":{"files":{"command":"other"}}})",
          R"({"mcpServers":{"files":{"disabled_tools":["x"],"tool_timeout_sec":1}}})"}) {
        home.write(".mcp.json", checkout);
        const auto done = home.run({"call", "mcp__files__ecoh"});
        EXPECT_EQ(done.exit_code, 6) << checkout;
        EXPECT_THAT(done.err,
                    HasSubstr("error: server \"files\" has no tool \"mcp__files__ecoh\""));
        EXPECT_THAT(done.err, HasSubstr("did you mean \"mcp__files__echo\""));
    }
}

TEST(Hints, ForPatternsThatNoServersToolsCanMatch) {
    Home home;
    home.add_example("example");
    const auto near = home.run({"tools", "mcp__exampel__*"});
    EXPECT_EQ(near.exit_code, 6);
    EXPECT_EQ(near.err,
              "error: no server \"exampel\" is configured; did you mean \"example\"? "
              "Known: example\n");
    const auto open = home.run({"tools", "mcp__no*"});
    EXPECT_EQ(open.exit_code, 6);
    EXPECT_EQ(open.err,
              "error: no server's tools can match \"mcp__no*\"; they are called "
              "mcp__SERVER__TOOL\n");
    for (const char* none : {"mcp__example__nope*", "mcp__example__nope", "zzz", "ZZZ*"})
        EXPECT_EQ(home.run({"tools", none}).exit_code, 6) << none;
    const auto as_json = home.run({"tools", "zzz", "--json"});
    EXPECT_EQ(as_json.exit_code, 6);
    EXPECT_THAT(as_json.out, HasSubstr("\"kind\":\"not_found\""));
    EXPECT_EQ(as_json.err,
              "error: no tool matches \"zzz\"; --refresh asks the servers what they have now\n");
    EXPECT_EQ(home.run({"tools", "zzz", "--refresh"}).err, "error: no tool matches \"zzz\"\n");
    EXPECT_EQ(home.run({"tools", "MCP__Example__E*"}).out,
              home.run({"tools", "mcp__example__e*"}).out);
    EXPECT_EQ(home.run({"tools", "mcp__exam*"}).exit_code, 0);
    EXPECT_EQ(Home().run({"tools"}).exit_code, 0) << "nothing was named";
}

TEST(Arguments, ThatAreGivenTwiceAreRefusedByEveryVerb) {
    Home home;
    home.add_example("ex");
    for (const Words& words :
         {Words{"call", "mcp__ex__add", "a=1", "a=2", "b=3"},
          Words{"prompts", "get", "greet", "a=1", "a=2"},
          Words{"complete", "--prompt", "greet", "x=y", "--context", "a=1", "--context", "a=2"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 3) << words[0];
        EXPECT_THAT(done.err, HasSubstr("argument \"a\" is given twice"));
    }
}

TEST(Hints, ANameAsItIsWrittenLeadsToTheId) {
    Home home;
    home.add_example("My Server");
    home.add_example("My-Server");
    const auto done = home.run({"mcp", "status", "My Server"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, ::testing::AllOf(::testing::HasSubstr("is called My-Server-"),
                                           ::testing::HasSubstr("mcp.json:")));
}

}  // namespace
}  // namespace patchbay::test
