// What the verbs about servers and tools find, count and say of what is not there.
#include "integration/home.hpp"

#include <map>
#include <sstream>

namespace patchbay::test {
namespace {

TEST(CommandLine, ShowsALongNameToItsLimit) {
    Home home;
    home.add_example("x");
    const std::string name(300, 'n');
    struct Case {
        Words words;
        std::size_t shown;
    };
    const Case cases[] = {{{"resources", "read", name}, 200},
                          {{"prompts", "get", name}, 200},
                          {{"complete", "--prompt", name, "a=b"}, 200},
                          {{"call", name}, 80},
                          {{"tools", "--server", name}, 64},
                          {{"mcp", "login", name}, 64}};
    for (const auto& [words, shown] : cases) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 6) << done.err;
        EXPECT_THAT(done.err, HasSubstr("\"" + std::string(shown, 'n')));
        EXPECT_THAT(done.err, Not(HasSubstr(std::string(shown + 1, 'n'))));
    }
}

TEST(CommandLine, WhatIsNotFoundBesideABrokenFileIsAMatterOfTheConfiguration) {
    Home home;
    home.write(home.user_config() / "config.toml", "[servers.b");
    for (const Words& list :
         {Words{"tools"}, Words{"resources", "list"}, Words{"prompts", "list", "--json"}})
        EXPECT_EQ(home.run(list).exit_code, 4) << testing::PrintToString(list);
    for (const Words& words : {Words{"call", "mcp__b__x"}, Words{"tools", "--server", "b"}}) {
        for (const bool others : {false, true}) {
            if (others) home.add_example("a");
            auto all = words;
            all.push_back("--json");
            const auto done = home.run(all);
            EXPECT_EQ(done.exit_code, 4) << testing::PrintToString(words) << done.err;
            EXPECT_THAT(done.err, HasSubstr("it may be in what the configuration has wrong"));
            EXPECT_EQ(json::parse(done.out).at_pointer("/error/kind"), "invalid");
        }
    }
}

TEST(CommandLine, DescriptionsAreCutWhereTheConfigurationSaysSo) {
    Home home;
    home.add_example("x");
    const auto shown = [&](const Words& words) {
        std::map<std::string, std::string> texts;
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 0) << done.err;
        const auto list = json::parse(done.out);
        const auto* tools = list.is_array() ? &list.as_array() : &list.at("tools").as_array();
        for (const auto& tool : *tools) {
            const auto* text = tool.as_object().if_contains("description");
            texts[json::value_to<std::string>(tool.at("name"))] =
                text ? json::value_to<std::string>(*text) : "";
        }
        return texts;
    };
    const auto whole = shown({"tools", "--json"});
    const auto cut = shown({"--set", "limits.description_bytes=8", "tools", "--json"});
    ASSERT_FALSE(whole.empty());
    ASSERT_EQ(cut.size(), whole.size());
    const std::size_t kept = std::string("[x] ").size() + 8;
    std::size_t longer = 0;
    for (const auto& [name, text] : whole) {
        longer += text.size() > kept;
        EXPECT_EQ(cut.at(name), text.substr(0, kept)) << name;
    }
    EXPECT_GT(longer, 0u);
}

TEST(CommandLine, NamesAServerThatFailsOnceInALine) {
    const struct {
        const char* what;
        Words flags;
        json::object more;
    } cases[] = {
        {"it leaves", {"--exit-at-start", "3"}, {{"restart", false}}},
        {"it is silent", {"--never-answer"}, {{"startup_timeout_sec", 1}}},
        {"it speaks nothing that we do", {"--protocol", "1999-01-01"}, {{"restart", false}}},
        {"there is none", {}, {{"command", "/nowhere/server"}}}};
    for (const auto& [what, flags, more] : cases) {
        SCOPED_TRACE(what);
        Home home;
        if (flags.empty())
            home.add("bad", more);
        else
            home.add_example("bad", flags, more);
        for (const Words& words :
             {Words{"tools"}, Words{"tools", "--server", "bad"}, Words{"call", "mcp__bad__echo"},
              Words{"resources", "list"}, Words{"resources", "read", "a://b", "--server", "bad"},
              Words{"prompts", "list"}, Words{"prompts", "get", "p", "--server", "bad"},
              Words{"mcp", "status", "bad"}}) {
            SCOPED_TRACE(testing::PrintToString(words));
            const auto done = home.run(words);
            EXPECT_NE(done.exit_code, 0);
            const std::string name = "server \"bad\"";
            std::size_t lines = 0;
            std::istringstream text(done.err + "\n" + done.out);
            for (std::string line; std::getline(text, line);) {
                const auto at = line.find(name);
                if (at == line.npos) continue;
                ++lines;
                EXPECT_EQ(line.find(name, at + 1), line.npos) << line;
            }
            if (words[0] != "mcp") {
                EXPECT_GT(lines, 0u) << done.err;
            }
        }
    }
}

TEST(CommandLine, AMisspeltRuleIsToldBesideTheToolThatItHides) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"ecko"}}});
    const auto done = home.run({"call", "mcp__x__echo", "message=hi"});
    EXPECT_NE(done.exit_code, 0);
    EXPECT_THAT(done.err, HasSubstr("enabled_tools names \"ecko\", and the server has no such "
                                    "tool; did you mean \"echo\"?"));
}

TEST(CommandLine, AServerWithoutToolsIsNoneItself) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"nothing"}}});
    const auto done = home.run({"call", "mcp__x__tool"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, Not(HasSubstr("did you mean")));
}

TEST(CommandLine, ToolsAreCountedAsTheyAreListed) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"echo", "add"}}});
    EXPECT_EQ(json::parse(home.run({"mcp", "status", "x", "--json"}).out).at("tools"), 2);
    EXPECT_EQ(json::parse(home.run({"mcp", "status", "--json"}).out).at(0).at("tools"), 2);
}

TEST(CommandLine, SaysHowAToolIsCalled) {
    Home home;
    home.add_example("everything");
    for (const char* name : {"everything.echo", "everything/echo", "everything__echo"}) {
        const auto done = home.run({"call", name});
        EXPECT_EQ(done.exit_code, 6);
        EXPECT_THAT(done.err, HasSubstr("did you mean \"mcp__everything__echo\"?")) << name;
    }
    const auto bare = home.run({"call", "echo"});
    EXPECT_EQ(bare.exit_code, 6);
    EXPECT_THAT(bare.err, HasSubstr("tools are called mcp__SERVER__TOOL; find it with: patchbay "
                                    "tools echo\n"));
    EXPECT_THAT(home.run({"call", "a'; echo INJECTED; '"}).err,
                HasSubstr(R"(find it with: patchbay tools 'a'\''; echo INJECTED; '\''')"))
        << "what is advised may be pasted";
}

TEST(CommandLine, NamesTheServersThatThereAre) {
    Home home;
    home.add_example("files");
    home.add_example("off", {}, {{"disabled", true}});
    for (const Words& words :
         {Words{"mcp", "logs", "nope"}, Words{"mcp", "status", "nope"},
          Words{"tools", "--server", "nope"}, Words{"resources", "list", "--server", "nope"}}) {
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 6);
        EXPECT_THAT(done.err, HasSubstr("no server \"nope\" is configured; known: files, off"));
    }
    EXPECT_THAT(home.run({"tools", "--server", "off"}).err, HasSubstr("\"off\" is disabled"));
}

TEST(CommandLine, ListsWhatIsThereThoughAnotherServerIsNot) {
    Home home;
    home.add_example("good");
    home.add("dead", {{"command", "/bin/false"}});
    const auto tools = home.run({"tools"});
    EXPECT_EQ(tools.exit_code, 1) << "a script sees that something is missing";
    EXPECT_THAT(tools.out, HasSubstr("mcp__good__echo"));
    EXPECT_THAT(tools.err, HasSubstr("error: server \"dead\": "));
    EXPECT_EQ(home.run({"tools", "--json"}).exit_code, 1);
    const auto resources = home.run({"resources", "list"});
    EXPECT_EQ(resources.exit_code, 1);
    EXPECT_THAT(resources.err, HasSubstr("error: server \"dead\": "));
    EXPECT_EQ(home.run({"tools", "--server", "dead"}).exit_code, 5);
    EXPECT_EQ(home.run({"prompts", "list", "--server", "dead"}).exit_code, 5);
}

TEST(CommandLine, APatternIsAboutTheServersThatItNames) {
    Home home;
    home.add_example("good");
    home.add("dead", {{"command", "/bin/false"}});
    home.add_example("off", {}, {{"disabled", true}});
    const auto dead = home.run({"tools", "mcp__dead__*"});
    EXPECT_EQ(dead.exit_code, 5);
    EXPECT_THAT(dead.err, StartsWith("error: server \"dead\": "));
    const auto as_json = home.run({"tools", "mcp__dead__*", "--json"});
    EXPECT_EQ(as_json.exit_code, 5);
    EXPECT_EQ(json::parse(as_json.out).at_pointer("/error/kind"), "unavailable");
    const auto word = home.run({"tools", "nosuchthing"});
    EXPECT_EQ(word.exit_code, 1) << "the one that did not answer may have it";
    EXPECT_THAT(word.err, AllOf(HasSubstr("error: server \"dead\": "),
                                HasSubstr("no tool matches \"nosuchthing\"")));
    for (const auto& more : {Words{}, Words{"--json"}}) {
        const auto run = [&](const std::string& name) {
            auto words = more;
            words.insert(words.begin(), {"tools", name});
            return home.run(words);
        };
        const auto whole = run("mcp__good__echo");
        EXPECT_EQ(whole.exit_code, 0);
        EXPECT_THAT(whole.out, HasSubstr("mcp__good__echo"));
        EXPECT_EQ(whole.err, "") << "the dead one is not asked";
        const auto near = run("mcp__good__ehco");
        EXPECT_EQ(near.exit_code, 6);
        EXPECT_THAT(near.err, AllOf(StartsWith("error: no tool matches \"mcp__good__ehco\"; did "
                                               "you mean \"mcp__good__echo\""),
                                    Not(HasSubstr("dead"))));
        const auto other = run("mcp__goood__echo");
        EXPECT_EQ(other.exit_code, 6);
        EXPECT_THAT(other.err, StartsWith("error: no server \"goood\" is configured; did you mean "
                                          "\"good\"?"));
    }
    const auto good = home.run({"tools", "mcp__good__e*"});
    EXPECT_EQ(good.exit_code, 0);
    EXPECT_THAT(good.out, HasSubstr("mcp__good__echo"));
    EXPECT_EQ(good.err, "") << "the dead one is not asked";
    const auto none = home.run({"tools", "mcp__good__nosuch*"});
    EXPECT_EQ(none.exit_code, 6);
    EXPECT_THAT(none.err, HasSubstr("error: no tool matches \"mcp__good__nosuch*\"; --refresh"));
    const auto off = home.run({"tools", "mcp__off__*"});
    EXPECT_EQ(off.exit_code, 6);
    EXPECT_THAT(off.err, HasSubstr("server \"off\" is disabled"));
    EXPECT_EQ(home.run({"tools", "mcp__nosuch__*"}).exit_code, 6);
    const auto lists = home.run({"prompts", "list", "--server", "dead", "--json"});
    EXPECT_EQ(lists.exit_code, 5);
    EXPECT_EQ(json::parse(lists.out).at_pointer("/error/kind"), "unavailable");
}

TEST(CommandLine, MarksToolsThatAreDenied) {
    Home home;
    home.add_example("x", {}, {{"tools", {{"echo", "deny"}, {"fail", "disable"}}}});
    const auto shown = home.run({"tools"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("(denied) [x] "), Not(HasSubstr("mcp__x__fail"))));
    EXPECT_EQ(shown.out.find("(denied)"), shown.out.rfind("(denied)"));
    const auto batch = home.run({"batch"}, "{\"id\":1,\"op\":\"tools/list\",\"server\":\"x\"}\n");
    const json::value listed = Lines(batch.out).answer(1);
    for (const auto& tool : listed.at_pointer("/result/tools").as_array())
        EXPECT_EQ(tool.at("level") == "deny", tool.at("tool") == "echo") << tool;
}

TEST(CommandLine, CountsNoToolsThatWereNotListed) {
    Home home;
    home.add_example("x");
    home.add("dead", {{"command", "/bin/false"}});
    const auto list = home.run({"mcp", "list"});
    EXPECT_THAT(list.out, AllOf(HasSubstr("idle   -\n"), Not(HasSubstr("0"))));
    const auto listed = json::parse(home.run({"mcp", "list", "--json"}).out);
    for (const auto& server : listed.as_array())
        EXPECT_TRUE(server.at("tools").is_null()) << server;
    const auto statuses = json::parse(home.run({"mcp", "status", "--json"}).out);
    EXPECT_TRUE(statuses.at_pointer("/0/tools").is_null()) << statuses;
    EXPECT_TRUE(statuses.at_pointer("/1/tools").is_int64()) << statuses;
    const auto batch = home.run({"batch"}, "{\"id\":1,\"op\":\"status\"}\n");
    const json::value told = Lines(batch.out).answer(1);
    EXPECT_TRUE(told.at_pointer("/result/servers/0/tools").is_null()) << batch.out;
}

TEST(CommandLine, TellsOfABrokenEntryWhereItConcernsSomebody) {
    Home home;
    home.add_example("good");
    home.add("bad", {{"command", "/bin/true"}, {"args", "no list"}});
    const auto call = home.run({"call", "mcp__good__echo", "message=hi"});
    EXPECT_EQ(call.exit_code, 0);
    EXPECT_EQ(call.err, "");
    EXPECT_EQ(home.run({"tools", "--server", "good"}).err, "");
    EXPECT_THAT(home.run({"tools"}).err, HasSubstr("\"bad\""));
    EXPECT_THAT(home.run({"tools", "-q"}).err, HasSubstr("\"bad\"")) << "an error is no warning";
    EXPECT_THAT(home.run({"mcp", "status"}).err, HasSubstr("\"bad\""));
    EXPECT_THAT(home.run({"config", "check"}).err, HasSubstr("\"bad\""));
    const auto broken = home.run({"call", "mcp__bad__x", "-q"});
    EXPECT_EQ(broken.exit_code, 4);
    EXPECT_THAT(broken.err, AllOf(HasSubstr("\"bad\""), HasSubstr("args")));
}

TEST(CommandLine, DoesNotSayThatNothingIsConfiguredWhenAnEntryIsBroken) {
    Home home;
    home.add("bad", {{"command", "/bin/true"}, {"args", "no list"}});
    for (const Words& words : {Words{"call", "mcp__other__x"}, Words{"mcp", "logs", "other"}})
        EXPECT_THAT(home.run(words).err, Not(HasSubstr("servers are configured")));
}

TEST(CommandLine, ToolsAreFoundByTheirDescriptionToo) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"tools", "ADDS two"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, StartsWith("mcp__x__add  [x] Adds two numbers."));
    EXPECT_THAT(done.out, Not(HasSubstr("mcp__x__echo")));
}

TEST(CommandLine, WhatAServerAnswersIsPrintedAsItIsWithJson) {
    Home home;
    home.add_example("x");
    const auto read = json::parse(home.run({"resources", "read", "example://text", "--json"}).out);
    EXPECT_EQ(read.at_pointer("/contents/0/text"), "The text of a resource.\n");
    const auto got = json::parse(home.run({"prompts", "get", "simple", "--json"}).out);
    EXPECT_EQ(got.at_pointer("/messages/0/role"), "user");
    EXPECT_THAT(home.run({"prompts", "get", "simple"}).out, StartsWith("user:\n"));
    const auto missing = home.run({"resources", "read", "example://no", "--server", "x"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_THAT(missing.err, HasSubstr("Resource not found"));
}

TEST(CommandLine, ToolsAreShownWithTheirSchemasWhenAskedFor) {
    Home home;
    home.add_example("x", {}, {{"enabled_tools", {"add", "echo"}}, {"tools", {{"add", "deny"}}}});
    const auto plain = json::parse(home.run({"tools", "--json"}).out).as_array();
    ASSERT_EQ(plain.size(), 2u);
    const auto& add = plain.at(0).as_object();
    EXPECT_EQ(add.at("name"), "mcp__x__add");
    EXPECT_EQ(add.at("server"), "x");
    EXPECT_EQ(add.at("tool"), "add");
    EXPECT_EQ(add.at("level"), "deny");
    EXPECT_THAT(json::value_to<std::string>(add.at("description")),
                StartsWith("[x] Adds two numbers."));
    EXPECT_FALSE(add.contains("inputSchema"));
    const auto whole = json::parse(home.run({"tools", "--json", "--schema"}).out);
    EXPECT_EQ(whole.at_pointer("/0/inputSchema/type"), "object");
    const auto shown = home.run({"tools", "mcp__x__add", "--schema"}).out;
    EXPECT_THAT(shown, StartsWith("mcp__x__add  (denied) [x] Adds two numbers."));
    EXPECT_THAT(shown, HasSubstr("\n  {\""));
    EXPECT_EQ(home.run({"tools", "--server", "x", "nosuch", "--json"}).exit_code, 6);
    EXPECT_EQ(home.run({"tools", "--set", "servers.x.enabled_tools=[]"}).err, "no tools\n");
}

TEST(CommandLine, AToolThatIsNamedIsShownWithItsArguments) {
    Home home;
    home.add_example("x");
    const auto echo = home.run({"tools", "mcp__x__echo"});
    EXPECT_EQ(echo.exit_code, 0);
    EXPECT_THAT(echo.out, AllOf(StartsWith("mcp__x__echo\nAnswers with the message.\n"),
                                HasSubstr("\nARGUMENT  TYPE    REQUIRED  DESCRIPTION\n"
                                          "message   string  yes       ")));
    EXPECT_THAT(home.run({"tools", "mcp__x__pid"}).out, HasSubstr("\nno arguments are declared\n"));
    EXPECT_THAT(home.run({"tools", "mcp__x__echo", "--set", "limits.schema_bytes=1"}).out,
                HasSubstr("\nits arguments are not known: the inputSchema that its server lists is "
                          "over 1 bytes (limit schema_bytes); whatever you give is passed on\n"));
    EXPECT_THAT(
        home.run({"call", "mcp__x__echo", "message=hi", "--set", "limits.schema_bytes=1", "--set",
                  "servers.x.pins=\"off\""})
            .err,
        HasSubstr("note: mcp__x__echo: its inputSchema is over 1 bytes (limit schema_bytes), so "
                  "the arguments are sent as they are"));
    const std::string why = "is over 1 bytes (limit schema_bytes)";
    const auto schema =
        home.run({"tools", "mcp__x__echo", "--schema", "--set", "limits.schema_bytes=1"});
    EXPECT_EQ(schema.exit_code, 0);
    EXPECT_EQ(schema.err, "note: mcp__x__echo: its inputSchema " + why +
                              ", so one that takes any arguments stands in its place\n");
    for (const Words& more : {Words{}, Words{"--schema"}}) {
        Words words{"--set", "limits.schema_bytes=1", "tools", "mcp__x__echo", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(json::parse(home.run(words).out).at_pointer("/0/schema_fault"), json::value(why));
    }
    EXPECT_THAT(home.run({"tools", "mcp__x__echo", "--json", "--schema"}).out,
                Not(HasSubstr("schema_fault")));
    const std::string list = R"({"id":1,"op":"tools/list","server":"x"})"
                             "\n";
    EXPECT_THAT(home.run({"batch", "--set", "limits.schema_bytes=1"}, list).out,
                HasSubstr("\"schema_fault\":\"" + why + '"'));
    EXPECT_THAT(home.run({"batch"}, list).out, Not(HasSubstr("schema_fault")));
    EXPECT_THAT(home.run({"tools", "mcp__x__ech"}).out, StartsWith("mcp__x__echo  [x] "));
    EXPECT_THAT(home.run({"tools", "mcp__x__echo", "--set", "servers.x.tools.echo=\"deny\""}).out,
                StartsWith("mcp__x__echo  (denied)\n"));
}

}  // namespace
}  // namespace patchbay::test
