// `[import] follow`: the files of other programs as a scope, weaker than what is one's own.
#include "integration/connect_fixture.hpp"
#include "integration/host_guest.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace patchbay::test {
namespace {

class Follow : public Connect {
protected:
    void follow(const std::string& clients, const std::string& more = {}) const {
        put("config/patchbay/config.toml", "[import]\nfollow = [" + clients + "]\n" + more);
    }
    static std::string servers(const std::string& entries) {
        return "{\n  \"mcpServers\": {" + entries + "}\n}\n";
    }
    static std::string example(const std::string& id) {
        return "\"" + id + "\": {\"command\": \"" + example_server() + "\"}";
    }
    std::string cursor(const std::string& entries) const {
        return put(".cursor/mcp.json", servers(entries));
    }
    bool answers(const std::string& id) const {
        return home.run({"call", "mcp__" + id + "__echo", "message=hi"}).exit_code == 0;
    }
    // Scopes by id, as `mcp list` has them.
    std::map<std::string, std::string> scopes(Words words = {"mcp", "list"}) const {
        words.insert(words.begin(), {"--json", "-q"});
        std::map<std::string, std::string> found;
        const auto list = json::parse(home.run(std::move(words)).out);
        for (const auto& each : list.as_array())
            found[each.at("id").as_string().c_str()] = each.at("scope").as_string().c_str();
        return found;
    }
};

using Scopes = std::map<std::string, std::string>;

TEST_F(Follow, WhatAProgramHasIsReadWhereItLiesAndNamed) {
    const auto file = cursor(example("ex"));
    EXPECT_EQ(scopes(), Scopes{}) << "nobody asked for it";
    follow("\"cursor\"");
    EXPECT_EQ(scopes(), (Scopes{{"ex", "client"}}));
    EXPECT_TRUE(answers("ex"));
    EXPECT_THAT(home.run({"mcp", "get", "ex"}).out, HasSubstr("client config " + file + ":2:18"));
    EXPECT_THAT(home.run({"config", "show", "--origin"}).out,
                AllOf(HasSubstr("\"scope\": \"client\""), HasSubstr("\"file\": \"" + file + "\"")));
    EXPECT_THAT(home.run({"config", "paths"}).out, HasSubstr(file));
    EXPECT_EQ(scopes({"mcp", "list", "--scope", "client"}), (Scopes{{"ex", "client"}}));
    // Live: nothing was taken over.
    cursor(example("other"));
    EXPECT_EQ(scopes(), (Scopes{{"other", "client"}}));
    EXPECT_THAT(home.run({"import", "--dry-run"}).out, HasSubstr("would be added"));
}

TEST_F(Follow, OnesOwnFilesAreStrongerAndOfClientsTheFirstNamed) {
    cursor(example("a") + "," + example("b"));
    put(".claude.json", servers("\"a\": {\"command\": \"of-claude\"}"));
    follow("\"claude\", \"cursor\"", "[servers.b]\ncommand = 'mine'\n");
    EXPECT_EQ(scopes(), (Scopes{{"a", "client"}, {"b", "user"}}));
    EXPECT_THAT(home.run({"mcp", "get", "a"}).out, HasSubstr("of-claude"));
    follow("\"cursor\", \"claude\"");
    EXPECT_THAT(home.run({"mcp", "get", "a"}).out, Not(HasSubstr("of-claude")));
    // An overlay of one's own turns it off, and their file is not touched.
    const auto theirs = text(".cursor/mcp.json");
    EXPECT_EQ(home.run({"mcp", "disable", "a", "--scope", "user"}).exit_code, 0);
    EXPECT_EQ(text(".cursor/mcp.json"), theirs);
    EXPECT_FALSE(answers("a"));
}

TEST_F(Follow, WhatACheckoutHasForAProgramWaitsForAnApproval) {
    home.write(".cursor/mcp.json", servers(example("theirs") + "," + example("ex")));
    cursor(example("ex"));
    follow("\"cursor\"");
    EXPECT_FALSE(answers("theirs"));
    EXPECT_TRUE(answers("ex")) << "the user's own stays in force";
    const auto waiting = home.run({"trust"});
    EXPECT_THAT(waiting.out + waiting.err, HasSubstr("theirs"));
    EXPECT_EQ(home.run({"trust", "--yes", "theirs"}).exit_code, 0);
    EXPECT_TRUE(answers("theirs"));
    home.write(".cursor/mcp.json", servers("\"theirs\": {\"command\": \"" + example_server() +
                                           "\", \"args\": [\"--x\"]}"));
    EXPECT_FALSE(answers("theirs")) << "it is another definition now";
}

TEST_F(Follow, AFileThatDoesNotParseTakesOutNothingStronger) {
    const auto file = put(".cursor/mcp.json", "{\n  \"mcpServers\": {,}\n}");
    put(".claude.json", servers(example("ex") + ", \"bad\": {\"command\": [1, 2]}, \"secret\": "
                                                "{\"command\": \"${file:/etc/passwd}\"}"));
    follow("\"claude\", \"cursor\"");
    EXPECT_TRUE(answers("ex"));
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_THAT(checked.out + checked.err, AllOf(HasSubstr("client config " + file + ":2:"),
                                                 HasSubstr("nothing of it is followed"),
                                                 HasSubstr("server \"secret\": not followed")));
}

TEST_F(Follow, OnlyTheUserSaysSoAndAWrongNameIsAnError) {
    cursor(example("ex"));
    home.write(".patchbay/config.toml", "[import]\nfollow = [\"cursor\"]\n");
    auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_THAT(checked.out + checked.err,
                HasSubstr("import.follow: not allowed in a project file"));
    EXPECT_EQ(scopes(), Scopes{});
    std::filesystem::remove_all(home.work() / ".patchbay");
    EXPECT_EQ(home.run({"--set", "import.follow=[\"cursor\"]", "mcp", "list"}).exit_code, 4);
    follow("\"curser\"");
    checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 4);
    EXPECT_THAT(checked.out + checked.err,
                AllOf(HasSubstr("config.toml:2:11: import.follow: no client \"curser\" is known"),
                      HasSubstr("did you mean \"cursor\"?"), HasSubstr("claude")));
}

TEST_F(Follow, AHostThatRunsHearsOfTheirChanges) {
    home.environment["PATCHBAY_HOST_PATIENCE_MS"] = "60000";
    cursor(example("x"));
    follow("\"cursor\"");
    const auto says = [](RunningHost& host, const std::string& text) {
        return host.program().wait_until(
            [&] { return host.program().err().find(text) != std::string::npos; });
    };
    RunningHost host(home);
    cursor(example("x") + "," + example("y"));
    EXPECT_TRUE(says(host, "configuration: start y")) << host.program().err();
    follow("\"claude\", \"cursor\"");
    EXPECT_THAT(home.run({"-v", "call", "mcp__y__echo", "message=hi"}).err, HasSubstr(" is asked"))
        << "it is the host of the same configuration still";
    // What cannot be read, of theirs or of one's own, changes nothing of what runs.
    const int before = pid_of(home, "x");
    ASSERT_GT(before, 0);
    cursor("\"x\": [,");
    EXPECT_TRUE(says(host, "nothing of it is followed")) << host.program().err();
    EXPECT_EQ(pid_of(home, "x"), before);
    cursor(example("x") + "," + example("y"));
    put("config/patchbay/config.toml", "[import]\nfollow = [\"cursor\"]\n[servers.z\n");
    EXPECT_TRUE(says(host, "config.toml:3:")) << host.program().err();
    EXPECT_EQ(pid_of(home, "x"), before);
    follow("\"cursor\"", "[servers.z]\ncommand = '" + example_server() + "'\n");
    EXPECT_TRUE(says(host, "start z")) << host.program().err();
    EXPECT_EQ(pid_of(home, "x"), before);
    EXPECT_EQ(host.end().exit_code, 0);
}

// What it forbade nobody knows, so that nothing weaker takes its place.
TEST_F(Follow, AFileThatCannotBeReadLiftsNothingThatItForbade) {
    put(".claude.json", servers(example("ex") + ", " + example("other")));
    cursor("\"ex\": {\"command\": \"" + example_server() + "\", \"disabledTools\": [\"echo\"]}");
    follow("\"cursor\", \"claude\"");
    EXPECT_FALSE(answers("ex"));
    EXPECT_TRUE(answers("other"));
    put(".cursor/mcp.json", "{\"mcpServers\": {");
    EXPECT_FALSE(answers("ex"));
    EXPECT_FALSE(answers("other")) << "it may have been forbidden there by now";
    EXPECT_THAT(home.run({"config", "check"}).out + home.run({"config", "check"}).err,
                HasSubstr("is mended"));
    cursor(example("ex"));
    EXPECT_TRUE(answers("ex"));
    follow("\"cursr\", \"claude\"");
    EXPECT_FALSE(answers("ex")) << "whose rules were meant is not known";
}

TEST_F(Follow, ABrokenFileOfACheckoutTakesNothingOfTheUsersDown) {
    std::filesystem::create_directories(home.work() / ".git");
    home.write(".cursor/mcp.json", "{");
    put(".claude.json", servers(example("ex")));
    follow("\"cursor\", \"claude\"");
    EXPECT_TRUE(answers("ex"));
}

TEST_F(Follow, AListThatIsNoneIsAFaultOfItsFile) {
    for (const auto* list : {"\"ex\"", "[\"other\", 5]"}) {
        put(".claude.json", "{\"disabledMcpServers\": " + std::string(list) +
                                ", \"mcpServers\": {" + example("ex") + "}}");
        follow("\"claude\"");
        EXPECT_FALSE(answers("ex")) << list;
        EXPECT_EQ(home.run({"config", "check"}).exit_code, 4);
    }
}

TEST_F(Follow, WhatAListOfItsFileTurnsOffIsOff) {
    put(".claude.json", "{\"mcpServers\": {" + example("ex") + ", " + example("off") +
                            "}, \"projects\": {\"" + home.work().string() +
                            "\": {\"disabledMcpServers\": [\"off\"], \"mcpServers\": {}}}}");
    std::filesystem::create_directories(home.work() / ".git");
    follow("\"claude\"");
    EXPECT_TRUE(answers("ex"));
    EXPECT_FALSE(answers("off"));
    EXPECT_THAT(home.run({"mcp", "list", "--json"}).out, HasSubstr("\"off\"")) << "and told";
}

TEST_F(Follow, WhatAListTurnsOffIsToldAtItsPlaceInTheList) {
    const auto file =
        put(".claude.json", "{\n  \"mcpServers\": {" + example("off") +
                                "},\n  \"disabledMcpServers\": [\n    \"off\"\n  ]\n}");
    follow("\"claude\"");
    const auto why = home.run({"why", "off"});
    EXPECT_THAT(why.out + why.err,
                AllOf(HasSubstr(file + ":4:5"),
                      HasSubstr("take it out of \"disabledMcpServers\" in line 3 of that file")));
}

// Nobody can mend it by a file of ours.
TEST_F(Follow, AFaultOfAnEntryIsAWarningAndThatServerIsNotThere) {
    const auto file = cursor(example("ex") + ",\n  \"odd\": {\"command\": \"" + example_server() +
                             "\", \"enabled\": \"perhaps\"}");
    follow("\"cursor\"");
    const auto checked = home.run({"config", "check"});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(checked.err, AllOf(HasSubstr("warning: client config " + file + ":3:"),
                                   HasSubstr("server \"odd\": enabled: expected true or false"),
                                   HasSubstr("[invalid-value]")));
    const auto listed = home.run({"mcp", "list"});
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_THAT(listed.out, HasSubstr("odd"));
    EXPECT_TRUE(answers("ex"));
    EXPECT_EQ(home.run({"call", "mcp__odd__echo", "message=hi"}).exit_code, 4);
    // One's own entry that does not work is an error still.
    follow("\"cursor\"", "[servers.mine]\ncommand = 'cat'\nenabled = 'perhaps'\n");
    EXPECT_EQ(home.run({"config", "check"}).exit_code, 4);
}

TEST_F(Follow, AFileOfACheckoutThatOthersMayWriteIsNotRead) {
    std::filesystem::create_directories(home.work() / ".git");
    const auto file = home.write(".cursor/mcp.json", servers(example("pj")));
    follow("\"cursor\"");
    ASSERT_EQ(home.run({"trust", "pj", "--yes"}).exit_code, 0);
    EXPECT_TRUE(answers("pj"));
    std::filesystem::permissions(file, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
    EXPECT_FALSE(answers("pj"));
    EXPECT_THAT(home.run({"mcp", "list"}).err, HasSubstr("others may write it"));
}

}  // namespace
}  // namespace patchbay::test
