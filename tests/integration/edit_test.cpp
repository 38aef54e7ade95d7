// The verbs that change servers in the files of scopes: what they write, what they leave, and what they
// do not approve.
#include "integration/edit_fixture.hpp"

#include <boost/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace patchbay::test {
namespace {

TEST_F(EditVerbs, WhatIsAddedIsWrittenToTheProjectAndWorksAtOnce) {
    const auto added = edit(example({"add", "ex", "--env", "A=b=c"}));
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_EQ(added.err, "added: ex in " + (home.work() / project).string() + ", which is new\n");
    EXPECT_EQ(text(project),
              "[servers.ex]\ncommand = \"" + example_server() + "\"\nenv = { A = \"b=c\" }\n");
    EXPECT_TRUE(works("ex"));
}

TEST_F(EditVerbs, TheFileThatDefinesItIsChangedAndEveryOtherByteOfItStays) {
    home.write(".mcp.json",
               "{ // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // why\n  "
               "}\n}\n");
    home.write(project, "# ours\n[servers.other]\ncommand = 'y'\n");
    EXPECT_EQ(edit(example({"add", "a", "--replace"})).exit_code, 0);
    EXPECT_EQ(edit({"add-json", "b", R"({"url": "http://127.0.0.1:9/mcp"})"}).exit_code, 0);
    EXPECT_EQ(text(".mcp.json"),
              "{ // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"" +
                  example_server() + "\"\n    }, // why\n  }\n}\n");
    EXPECT_THAT(text(project), AllOf(HasSubstr("# ours\n[servers.other]\ncommand = 'y'\n"),
                                     HasSubstr("[servers.b]\nurl = \"http://127.0.0.1:9/mcp\"")));
}

TEST_F(EditVerbs, AProgramsOwnTableHasItsOwnWords) {
    home.write("theirs.json", R"({"mcpServers": {}})");
    const auto added = edit({"add", "a", "--file", "theirs.json", "--transport", "http", "--url",
                             "http://127.0.0.1:9/"});
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_THAT(added.err, HasSubstr("no scope reads that file; --config "));
    EXPECT_EQ(text("theirs.json"),
              R"({"mcpServers": {"a": {"type": "http", "url": "http://127.0.0.1:9/"}}})");
}

TEST_F(EditVerbs, OfSeveralServersNoneIsTurnedWhereOneIsNotThere) {
    ASSERT_EQ(edit(example({"add", "a", "--scope", "user"})).exit_code, 0);
    const auto before = read_file(home.user_config() / "config.toml");
    const auto done = edit({"disable", "a", "nosuch", "--scope", "user"});
    EXPECT_EQ(done.exit_code, 6);
    EXPECT_THAT(done.err, HasSubstr("nosuch"));
    EXPECT_EQ(read_file(home.user_config() / "config.toml"), before);
}

TEST_F(EditVerbs, AnAddressIsNoProgram) {
    EXPECT_EQ(edit({"add", "web", "http://127.0.0.1:9/mcp", "--scope", "user"}).exit_code, 0);
    EXPECT_EQ(
        edit({"add", "--scope", "user", "--transport", "http", "other", "http://127.0.0.1:9/"})
            .exit_code,
        0);
    EXPECT_THAT(read_file(home.user_config() / "config.toml"),
                AllOf(HasSubstr("[servers.web]\nurl = \"http://127.0.0.1:9/mcp\"\n"),
                      HasSubstr("transport = \"http\"\nurl = \"http://127.0.0.1:9/\"\n")));
    EXPECT_THAT(edit({"add", "x", "http://127.0.0.1:9/", "more"}).err,
                HasSubstr("say --url for it"));
    EXPECT_THAT(edit({"add", "x", "npx", "-y", "foo"}).err,
                HasSubstr("patchbay mcp add ID -- npx -y"));
}

TEST_F(EditVerbs, WhatIsOnesOwnIsKeptOutOfGit) {
    std::filesystem::create_directories(home.work() / ".git");
    home.write(project, "");
    const auto added = edit(example({"add", "ex", "--scope", "local"}));
    EXPECT_THAT(added.err, HasSubstr("written: .patchbay.local.* into .gitignore"));
    EXPECT_EQ(text(".gitignore"), ".patchbay.local.*\n");
    EXPECT_THAT(edit(example({"add", "two", "--scope", "local"})).err, Not(HasSubstr("gitignore")));
}

TEST_F(EditVerbs, AServerMayBeSaidByATemplate) {
    home.write(project, "[templates.t]\nparams = ['p']\ncommand = '${param:p}'\n");
    EXPECT_EQ(edit({"add", "ex", "--key", "template=t", "--key",
                    "with={\"p\": \"" + example_server() + "\"}"})
                  .exit_code,
              0);
    EXPECT_THAT(text(project), HasSubstr("template = \"t\""));
}

TEST_F(EditVerbs, OneScopesOwnWordIsTested) {
    ASSERT_EQ(edit(example({"add", "ex", "--scope", "user"})).exit_code, 0);
    home.write(".mcp.json", R"({"mcpServers": {"ex": {"command": "nowhere-to-be-found"}}})");
    EXPECT_EQ(edit({"test", "ex"}).exit_code, 0) << "what is not approved does not count";
    EXPECT_EQ(edit({"test", "ex", "--scope", "user"}).exit_code, 0);
    EXPECT_EQ(edit({"test", "ex", "--scope", "project"}).exit_code, 7);
    ASSERT_EQ(home.run({"trust", "ex", "--yes"}).exit_code, 0);
    EXPECT_EQ(edit({"test", "ex"}).exit_code, 5);
    EXPECT_EQ(edit({"test", "ex", "--scope", "user"}).exit_code, 0);
    EXPECT_EQ(edit({"test", "ex", "--scope", "project"}).exit_code, 5);
    EXPECT_EQ(edit({"test", "ex", "--scope", "local"}).exit_code, 6);
}

TEST_F(EditVerbs, WhatWouldNotWorkIsNotWritten) {
    struct Case {
        Words words;
        const char* why;
    };
    const Case cases[] = {
        {{"add", "x"}, "nothing says how to reach it: --url URL"},
        {{"add", "x", "--transport", "pigeon", "--url", "http://127.0.0.1:9/"},
         "unknown transport \"pigeon\""},
        {{"add", "x", "--url", "http://127.0.0.1:9/", "--", "true"},
         "a URL or a program, not both"},
        {{"add", "x", "--command", "true", "--", "true"}, "two programs"},
        {{"add", "x", "--url", "http://127.0.0.1:9/", "--arg", "y"}, "--arg is for a program"},
        {{"add", "x__y", "--", "true"}, "is no id"},
        {{"add", "x", "--env", "novalue", "--", "true"}, "--env: expected NAME=VALUE"},
        {{"add", "x", "--env", "A=1", "--env", "A=2", "--", "true"}, "is given twice"},
        {{"add", "x", "--url", "http://127.0.0.1:9/", "--header", "=v"},
         "--header: expected NAME="},
        {{"add", "x", "--request-timeout-ms", "0", "--", "true"}, "request_timeout_ms"},
        {{"add", "x", "--oauth-client-secret", "-", "--", "true"}, "as a line on stdin"},
        {{"add", "x", "--file", "x.ini", "--", "true"}, "a name that ends in .toml"},
        {{"add-json", "x", "{\"url\": 3}"}, "url: expected text"},
        {{"add-json", "x", "{}"}, "the entry is empty"},
        {{"add", "x", "--request-timeout-ms", "soon", "--", "true"}, "expected milliseconds"},
        {{"add", "x", "--enabled", "maybe", "--", "true"}, "--enabled: maybe"},
        {{"add", "x", "--transport", "tcp", "--key", "host=localhost"}, "needs \"port\""},
        {{"add", "x", "--key", "command=false", "--", "true"}, "by another option"},
        {{"add", "x", "--header", "A=b", "--", "true"}, "--header is for a URL"},
        {{"add", "x", "--url", "http://127.0.0.1:9/", "--env", "A=b"}, "--env is for a program"},
        {{"add", "x", "--url", "http://127.0.0.1:9/", "--cwd", "/"}, "--cwd is for a program"},
        {{"add-json", "x", "{\"enabled\": false}"}, "nothing says how to reach \"x\""},
        {{"add-json", "x", "{\"command\": \"true\", \"env\": {\"A\": null}}"}, "holds null"},
        {{"add-json", "x", R"({"mcpServers": {"a": {}, "b": {}}})"}, "2 servers stand below"},
        {{"add-json", "x", "[1]"}, "expected the entry alone"},
        {{"add-json", "x", "{nope"}, "JSON:1:2"},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.why);
        const auto refused = edit(each.words);
        EXPECT_EQ(refused.exit_code, 3) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(each.why));
        EXPECT_FALSE(fs::exists(home.work() / project));
    }
    EXPECT_EQ(edit({"add", "x", "--scope", "local", "--", "true"}).exit_code, 6);
    const auto nowhere = edit({"add", "x", "--file", "not/here.toml", "--", "true"});
    EXPECT_EQ(nowhere.exit_code, 6);
    EXPECT_THAT(nowhere.err, HasSubstr("there is no folder"));
}

TEST_F(EditVerbs, KeysThatHaveNoOptionAreSaidByName) {
    const auto added = edit({"add", "x", "--transport", "tcp", "--key", "port=9000", "--key",
                             "host=localhost", "--enabled", "false"});
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_THAT(text(project), AllOf(HasSubstr("port = 9000"), HasSubstr("host = \"localhost\"")));
}

TEST_F(EditVerbs, TheTextThatInstructionsPrintIsTheEntryInIt) {
    const auto added = edit({"add-json", "ex", "-"},
                            json::serialize(json::object{
                                {"mcpServers", {{"other", {{"command", example_server()}}}}}}));
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_TRUE(works("ex"));
}

TEST_F(EditVerbs, AServerInAListIsLeftToItsWriter) {
    const std::string list = "servers:\n  - id: x\n    command: \"true\"\n";
    home.write(".patchbay/config.yaml", list);
    for (const Words& words : {Words{"remove", "x"}, Words{"add", "x", "--", "true"},
                               Words{"disable", "x", "--scope", "project"}}) {
        const auto refused = edit(words);
        EXPECT_EQ(refused.exit_code, 3) << refused.err;
        EXPECT_THAT(refused.err, AllOf(HasSubstr("config.yaml:2:"), HasSubstr("list")));
    }
    EXPECT_EQ(text(".patchbay/config.yaml"), list);
}

TEST_F(EditVerbs, OneThatNoFileHasIsTakenForTheNearest) {
    ASSERT_EQ(edit({"add", "files", "--", "true"}).exit_code, 0);
    for (const Words& words :
         {Words{"remove", "flies"}, Words{"disable", "flies", "--scope", "project"}}) {
        const auto refused = edit(words);
        EXPECT_EQ(refused.exit_code, 6);
        EXPECT_THAT(refused.err, HasSubstr("did you mean \"files\"?"));
    }
}

TEST_F(EditVerbs, AFileThatDoesNotReadIsNotWritten) {
    home.write(".patchbay/config.yaml", "servers: [\n");
    const auto refused = edit({"add", "x", "--", "true"});
    EXPECT_EQ(refused.exit_code, 4);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("config.yaml:"), HasSubstr("before that is mended")));
    EXPECT_EQ(text(".patchbay/config.yaml"), "servers: [\n");
    EXPECT_FALSE(fs::exists(home.work() / project));
}

TEST_F(EditVerbs, AnotherDefinitionOfThatScopeStaysWithoutReplace) {
    ASSERT_EQ(edit({"add", "x", "--", "true"}).exit_code, 0);
    const auto before = text(project);
    const auto again = edit({"add", "x", "--", "true"});
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_THAT(again.err, HasSubstr("unchanged: x"));
    const auto other = edit({"add", "x", "--", "false"});
    EXPECT_EQ(other.exit_code, 3);
    EXPECT_THAT(other.err, HasSubstr("--replace"));
    EXPECT_EQ(text(project), before);
    EXPECT_EQ(edit({"add", "x", "--scope", "user", "--", "false"}).exit_code, 0);
}

// ---- approvals

TEST_F(EditVerbs, WhatACheckoutBroughtIsApprovedByNoneOfThem) {
    const auto theirs = "[servers.ex]\ncommand = \"" + example_server() + "\"\n";
    home.write(project, theirs);
    const auto refused = [&] {
        return home.run({"call", "mcp__ex__echo", "message=hi"}).exit_code == 7;
    };
    EXPECT_EQ(edit({"enable", "ex", "--scope", "project"}).exit_code, 0);
    EXPECT_TRUE(refused());
    EXPECT_EQ(edit({"disable", "ex", "--scope", "local"}).exit_code, 0);
    EXPECT_EQ(edit({"enable", "ex", "--scope", "local"}).exit_code, 0);
    EXPECT_TRUE(refused());
    // Nor by a way round.
    EXPECT_EQ(home.run({"config", "undo", project}).exit_code, 0);
    EXPECT_EQ(text(project), theirs);
    EXPECT_TRUE(refused());
    // Nor with what another file of the checkout says of it.
    home.write(".patchbay.local.toml", "[servers.other.tools]\necho = 'allow-always'\n");
    EXPECT_EQ(edit(example({"add", "other"})).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__other__echo", "message=hi"}).exit_code, 7);
}

TEST_F(EditVerbs, OneThatWasApprovedStaysSoWhenItIsTurnedOffAndOnAndWhenThatIsTakenBack) {
    ASSERT_EQ(edit(example({"add", "ex"})).exit_code, 0);
    EXPECT_EQ(edit({"disable", "ex", "--scope", "local"}).exit_code, 0);
    EXPECT_EQ(text(".patchbay.local.toml"), "[servers.ex]\nenabled = false\n");
    EXPECT_FALSE(works("ex"));
    EXPECT_EQ(edit({"enable", "ex", "--scope", "local"}).exit_code, 0);
    EXPECT_TRUE(works("ex"));
    EXPECT_EQ(edit({"add", "ex", "--replace", "--", "false"}).exit_code, 0);
    EXPECT_FALSE(works("ex"));
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_TRUE(works("ex"));
}

TEST_F(EditVerbs, OneThatIsTypedInPlaceOfWhatACheckoutBroughtIsOnesOwn) {
    home.write(project, "[servers.ex]\ncommand = \"rm\"\n");
    EXPECT_EQ(edit(example({"add", "ex", "--replace"})).exit_code, 0);
    EXPECT_TRUE(works("ex"));
    EXPECT_EQ(home.run({"config", "undo"}).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__ex__echo", "message=hi"}).exit_code, 7) << "rm is not";
}

TEST_F(EditVerbs, TheSameWordsInAnotherFileAreNotWhatWasTyped) {
    const std::string typed = "{\"command\": \"" + example_server() + "\"}";
    home.write(".mcp.json", "{\"mcpServers\": {\"x\": " + typed + "}}");
    EXPECT_EQ(edit({"add-json", "x", typed, "--scope", "user"}).exit_code, 0);
    EXPECT_THAT(edit({"list"}).out, AllOf(HasSubstr("user"), Not(HasSubstr("project"))))
        << "the one in force is one's own";
}

TEST_F(EditVerbs, WhatIsAdjustedByOnesOwnWordsStaysApproved) {
    ASSERT_EQ(edit(example({"add", "x"})).exit_code, 0);
    ASSERT_EQ(edit({"disable", "x", "--scope", "local"}).exit_code, 0);
    const auto removed = edit({"remove", "x", "--scope", "local"});
    EXPECT_THAT(removed.err, Not(HasSubstr("is left")));
    EXPECT_TRUE(works("x"));
    ASSERT_EQ(
        edit({"add-json", "x", R"({"disabled_tools": ["fail"]})", "--scope", "local"}).exit_code,
        0);
    EXPECT_TRUE(works("x"));
    EXPECT_EQ(home.run({"call", "mcp__x__fail"}).exit_code, 7);
}

TEST_F(EditVerbs, APathThatIsTypedBeginsWhereItIsTyped) {
    home.write("sub/run.sh", "#!/bin/sh\nexec " + example_server() + "\n");
    home.write("run.sh", "#!/bin/sh\nexit 9\n");
    for (const char* each : {"run.sh", "sub/run.sh"})
        fs::permissions(home.work() / each, fs::perms::owner_all);
    fs::create_directories(home.work() / ".git");
    for (const char* scope : {"project", "user"}) {
        auto add = home.patchbay({"mcp", "add", scope, "--scope", scope, "--", "./run.sh"});
        add.directory = home.work() / "sub";
        EXPECT_EQ(Program(add).finish().exit_code, 0);
        EXPECT_TRUE(works(scope)) << scope;
    }
    EXPECT_THAT(text(project), HasSubstr("\"../sub/run.sh\""));
}

TEST_F(EditVerbs, AnotherProgramByThatIdInTheSameFileIsNotWhatWasTyped) {
    const std::string typed = "{\"command\": \"" + example_server() + "\"}";
    const std::string theirs = R"({"command": "/bin/false"})";
    home.write(".patchbay/config.json",
               "{\"mcpServers\": {\"x\": " + theirs + "}, \"servers\": {\"x\": " + typed + "}}");
    edit(example({"add", "x"}));
    EXPECT_EQ(home.run({"call", "mcp__x__echo", "message=hi"}).exit_code, 7);
    fs::remove(home.work() / ".patchbay/config.json");
    home.write(project, "[servers.\"x y\".tools]\necho = \"allow-always\"\n");
    EXPECT_EQ(edit(example({"add", "x-y"})).exit_code, 0);
    EXPECT_EQ(home.run({"call", "mcp__x-y__echo", "message=hi"}).exit_code, 7);
}

// ---- test

TEST_F(EditVerbs, OneThatIsTestedIsConnectedAndListsItsTools) {
    ASSERT_EQ(edit(example({"add", "ex"})).exit_code, 0);
    ASSERT_EQ(edit({"add", "dead", "--", "/bin/false"}).exit_code, 0);
    home.write(".mcp.json", R"({"mcpServers": {"theirs": {"command": "true"}}})");
    const auto fine = edit({"test", "ex"});
    EXPECT_EQ(fine.exit_code, 0) << fine.err;
    EXPECT_THAT(fine.out, ::testing::ContainsRegex(
                              "^ex: connected over stdio, protocol .*, [0-9]+ tools, in "));
    EXPECT_EQ(json::parse(edit({"test", "ex", "--json"}).out).at("ok"), true);
    const auto dead = edit({"test", "dead"});
    EXPECT_EQ(dead.exit_code, 5);
    EXPECT_THAT(dead.err, HasSubstr("server \"dead\""));
    const auto told = json::parse(edit({"test", "dead", "--json"}).out);
    EXPECT_EQ(told.at("ok"), false);
    EXPECT_EQ(told.at("status").at("state"), "failed");
    EXPECT_EQ(edit({"test", "theirs"}).exit_code, 7);
    EXPECT_EQ(edit({"test", "nobody"}).exit_code, 6);
}

// ---- what is shown

TEST_F(EditVerbs, ASecretComesFromStdinAndIsShownToNobody) {
    const auto added = edit({"add", "x", "--url", "http://127.0.0.1:9/", "--oauth-client-id", "me",
                             "--oauth-client-secret", "-"},
                            "s3cr3tOfMine0123456789\n");
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_THAT(added.err,
                HasSubstr("warning: server \"x\": oauth.client_secret is in clear text"));
    EXPECT_THAT(text(project), HasSubstr("client_secret = \"s3cr3tOfMine0123456789\""));
    for (const auto& words : {Words{"get", "x"}, Words{"get", "x", "--json"}})
        EXPECT_THAT(edit(words).out, AllOf(HasSubstr("client_id"), Not(HasSubstr("s3cr3t"))));
}

TEST_F(EditVerbs, AScopesListSaysWhichOfItCounts) {
    ASSERT_EQ(edit({"add", "x", "--scope", "user", "--", "true"}).exit_code, 0);
    ASSERT_EQ(edit({"add", "x", "--url", "http://127.0.0.1:9/"}).exit_code, 0);
    ASSERT_EQ(edit({"disable", "x", "--scope", "local"}).exit_code, 0);
    const auto counts = [&](const char* scope) {
        const auto list = json::parse(edit({"list", "--scope", scope, "--json"}).out);
        return std::pair(json::value_to<std::string>(list.at(0).at("transport")),
                         list.at(0).at("counts").as_bool());
    };
    EXPECT_EQ(counts("user"), std::pair(std::string("stdio"), false));
    EXPECT_EQ(counts("project"), std::pair(std::string("http"), true));
    EXPECT_EQ(counts("local"), std::pair(std::string(), true));
    EXPECT_THAT(edit({"list", "--scope", "local"}).out, HasSubstr("adjusts"));
    const auto got = json::parse(edit({"get", "x", "--json"}).out);
    EXPECT_EQ(got.at("scope"), "project");
    EXPECT_EQ(got.at("others").as_array().size(), 2u);
    home.write(project, "x = [\n");
    const auto broken = edit({"list", "--scope", "project"});
    EXPECT_EQ(broken.exit_code, 4);
    EXPECT_THAT(broken.err, AllOf(HasSubstr("not TOML"), Not(HasSubstr("defines a server"))));
    EXPECT_EQ(edit({"list", "--scope", "user"}).exit_code, 0);
}

TEST_F(EditVerbs, AnAddressWithoutItsSchemeIsNoProgram) {
    for (const char* word : {"example.com/mcp", "localhost:3000", "127.0.0.1:8080/mcp"}) {
        const auto refused = edit({"add", "docs", word});
        EXPECT_EQ(refused.exit_code, 3) << word;
        EXPECT_THAT(refused.err, HasSubstr("as https://" + std::string(word)));
    }
    EXPECT_FALSE(fs::exists(home.work() / project));
    EXPECT_EQ(edit({"add", "docs", "https://example.com/mcp"}).exit_code, 0);
    EXPECT_EQ(edit({"add", "tool", "--", "some.tool", "a/b"}).exit_code, 0);
}

TEST_F(EditVerbs, AFolderIsWrittenAsShortAsItMayBe) {
    home.write(".mcp.json", R"({"mcpServers": {}})");
    ASSERT_EQ(edit({"add", "here", "--cwd", ".", "--", "cat"}).exit_code, 0);
    EXPECT_THAT(text(".mcp.json"), HasSubstr("\"cwd\": \".\""));
}

TEST_F(EditVerbs, ARemovalHasBothItsNames) {
    ASSERT_EQ(edit(example({"add", "ex"})).exit_code, 0);
    EXPECT_EQ(edit({"rm", "ex"}).exit_code, 0);
    ASSERT_EQ(home.run({"secret", "set", "gh"}, "s3cret").exit_code, 0);
    const auto far = home.run({"secret", "rm", "gx"});
    EXPECT_THAT(far.err, AllOf(HasSubstr("did you mean \"gh\"?"), HasSubstr("patchbay secret list"),
                               Not(HasSubstr("secret set"))));
    EXPECT_EQ(home.run({"secret", "remove", "gh"}).exit_code, 0);
    EXPECT_EQ(home.run({"token", "remove", "none"}).exit_code, 6);
    EXPECT_THAT(home.run({"secret", "set", "big"}, std::string(100'000, 'x')).err,
                HasSubstr("more than 61440 bytes"));
}

TEST_F(EditVerbs, AProgramThatIsNotHereIsWarnedOfAndWrittenAsTheHelpSays) {
    const auto added = edit({"add", "later", "--", "/nowhere/program"});
    EXPECT_EQ(added.exit_code, 0) << added.err;
    EXPECT_THAT(added.err, HasSubstr("server \"later\" would not start here: command"));
    EXPECT_THAT(text(project), HasSubstr("/nowhere/program"));
    const auto wrong = edit({"add", "odd", "--key", "tool_timeout_sec=soon", "--", "cat"});
    EXPECT_EQ(wrong.exit_code, 3);
    EXPECT_THAT(wrong.err, HasSubstr("nothing is written"));
    EXPECT_THAT(edit({"add", "--help"}).out,
                AllOf(HasSubstr("What is wrong by itself"), HasSubstr("warned of and written")));
}

}  // namespace
}  // namespace patchbay::test
