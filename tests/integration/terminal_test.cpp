// What a person at a terminal relies on: progress, colours, questions, interrupts.
#include "integration/home.hpp"
#include "integration/on_terminal.hpp"

#include <cctype>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace patchbay::test {
namespace {

TEST(Terminal, ASecretIsTypedUnseen) {
    Home home;
    OnTerminal typing(home.patchbay({"secret", "set", "a"}));
    ASSERT_TRUE(typing.wait_for("it is not shown"));
    typing.type("wrong\x15s3cretX\x7f\r");
    EXPECT_EQ(typing.finish(), 0) << typing.seen();
    EXPECT_THAT(typing.seen(), AllOf(HasSubstr("added: a"), Not(HasSubstr("s3cret"))));
    EXPECT_THAT(read_file(home.root() / "state/patchbay/mcp-secrets.json"),
                HasSubstr("\"value\":\"s3cret\""));
}

TEST(Terminal, InitOffersWhatOtherClientsHave) {
    Home home;
    std::filesystem::create_directories(home.root() / ".cursor");
    std::ofstream(home.root() / ".cursor/mcp.json")
        << R"({"mcpServers": {"one": {"command": "true"}, "two": {"command": "true"}}})";
    const auto config = home.work() / ".patchbay/config.toml";
    OnTerminal none(home.patchbay({"init"}));
    ASSERT_TRUE(none.wait_for("Enter: none: "));
    none.type("\r");
    EXPECT_EQ(none.finish(), 0) << none.seen();
    EXPECT_THAT(read_file(config), Not(HasSubstr("[servers.one]")));
    std::filesystem::remove_all(home.work() / ".patchbay");
    OnTerminal some(home.patchbay({"init"}));
    ASSERT_TRUE(some.wait_for("Enter: none: "));
    some.type("3\r");
    ASSERT_TRUE(some.wait_for("expected numbers from 1 to 2"));
    some.type("2\r");
    EXPECT_EQ(some.finish(), 0) << some.seen();
    EXPECT_THAT(read_file(home.work() / ".patchbay.local.toml"),
                AllOf(HasSubstr("[servers.two]"), Not(HasSubstr("[servers.one]"))))
        << "what is one person's own";
    EXPECT_THAT(read_file(config), Not(HasSubstr("\n[servers.")));
}

TEST(Terminal, ASecretThatIsNotTypedIsNone) {
    Home home;
    for (const auto* key : {"s3\x03", "\x04"}) {
        OnTerminal typing(home.patchbay({"secret", "set", "a"}));
        ASSERT_TRUE(typing.wait_for("it is not shown"));
        typing.type(key);
        EXPECT_NE(typing.finish(), 0);
        EXPECT_THAT(typing.seen(), HasSubstr("nothing was typed"));
    }
    EXPECT_THAT(home.run({"secret", "list"}).err, HasSubstr("no secret is kept"));
}

TEST(Terminal, ShowsProgressAndTakesItBackBeforeTheResult) {
    Home home;
    home.add_example("x");
    OnTerminal call(home.patchbay({"call", "mcp__x__progress", "steps=3"}));
    EXPECT_EQ(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(),
                AllOf(HasSubstr("\r\x1b[K3 / 3  step 3"), HasSubstr("\r\x1b[K3 steps done\r\n")));
}

TEST(Terminal, WhoTypesServeIsToldWhatItWaitsForAndThatThereIsNothingToServe) {
    Home home;
    OnTerminal serve(home.patchbay({"serve"}));
    EXPECT_TRUE(serve.wait_for("warning: no MCP server is configured")) << serve.seen();
    EXPECT_TRUE(serve.wait_for("waits for an MCP client on stdin")) << serve.seen();
    serve.type("\x04");  // Ctrl-D
    EXPECT_EQ(serve.finish(), 0) << serve.seen();
}

TEST(Terminal, ColoursStatesUnlessAskedNotTo) {
    Home home;
    home.add_example("x");
    OnTerminal coloured(home.patchbay({"mcp", "status"}));
    EXPECT_EQ(coloured.finish(), 0);
    EXPECT_THAT(coloured.seen(), HasSubstr("\x1b[32mready\x1b[0m"));
    home.environment["NO_COLOR"] = "1";
    OnTerminal plain(home.patchbay({"mcp", "status"}));
    EXPECT_EQ(plain.finish(), 0);
    EXPECT_THAT(plain.seen(), AllOf(HasSubstr("ready"), Not(HasSubstr("\x1b[32m"))));
}

TEST(Terminal, IsSparedEscapesThatItDoesNotKnowAndWhatQuietLeavesOut) {
    Home home;
    home.add_example("x");
    OnTerminal quiet(home.patchbay({"-q", "mcp", "status"}));
    EXPECT_EQ(quiet.finish(), 0);
    EXPECT_THAT(quiet.seen(), AllOf(HasSubstr("ready"), Not(HasSubstr("connecting"))));
    home.environment["TERM"] = "dumb";
    OnTerminal dumb(home.patchbay({"mcp", "status"}));
    EXPECT_EQ(dumb.finish(), 0);
    EXPECT_THAT(dumb.seen(), AllOf(HasSubstr("ready"), Not(HasSubstr("\x1b"))));
}

TEST(Terminal, IsNotMovedByWhatAToolSays) {
    Home home;
    home.add_example("x");
    OnTerminal call(
        home.patchbay({"call", "mcp__x__echo", "--args", R"({"message":"a\u001b[2Jb"})"}));
    EXPECT_EQ(call.finish(), 0);
    EXPECT_THAT(call.seen(), AllOf(HasSubstr("a\xef\xbf\xbd[2Jb"), Not(HasSubstr("\x1b[2J"))));
    const auto piped = home.run({"call", "mcp__x__echo", "--args", R"({"message":"a\u001b[2Jb"})"});
    EXPECT_EQ(piped.out, "a\x1b[2Jb\n");
}

TEST(Terminal, IsNotMovedByJsonThatStillSaysTheSame) {
    Home home;
    home.add_example("x");
    const Words words{"call", "mcp__x__echo", "--json", "--args",
                      R"({"message":"a\u009b2J\u202eb\udb40\udc41"})"};
    OnTerminal call(home.patchbay(words));
    EXPECT_EQ(call.finish(), 0);
    EXPECT_THAT(call.seen(), AllOf(HasSubstr(R"(a\u009b2J\u202eb\udb40\udc41)"),
                                   Not(HasSubstr("\u009b")), Not(HasSubstr("\u202e"))));
    EXPECT_THAT(home.run(words).out, HasSubstr("a\u009b2J\u202eb\U000e0041")) << "into a pipe";
}

TEST(Terminal, InterruptEndsTheReadingOfArguments) {
    Home home;
    home.add_example("x");
    OnTerminal call(home.patchbay({"call", "mcp__x__echo", "--args", "-"}));
    call.type("\x03");
    EXPECT_EQ(call.finish(), 130) << call.seen();
}

TEST(Terminal, ColoursSayWhatIsInOrder) {
    Home home;
    home.add_example("off", {}, {{"enabled", false}, {"tools", {{"echo", "deny"}}}});
    home.add("dead", {{"command", "/bin/false"}});
    home.write(".mcp.json", R"({"mcpServers": {"theirs": {"command": "x"}}})");
    home.write(home.user_config() / "config.toml", "");
    OnTerminal servers(home.patchbay({"mcp", "status"}));
    EXPECT_EQ(servers.finish(), 5) << servers.seen();
    EXPECT_THAT(servers.seen(),
                AllOf(HasSubstr("\x1b[90mdisabled\x1b[0m"), HasSubstr("\x1b[31mfailed\x1b[0m"),
                      HasSubstr("\x1b[33muntrusted\x1b[0m")));
    OnTerminal places(home.patchbay({"config", "paths"}));
    EXPECT_EQ(places.finish(), 0);
    EXPECT_THAT(places.seen(),
                AllOf(HasSubstr("\x1b[32mread\x1b[0m"), HasSubstr("\x1b[90mabsent\x1b[0m")));
    OnTerminal plugins(home.patchbay({"plugin", "list"}));
    EXPECT_EQ(plugins.finish(), 0);
    EXPECT_THAT(plugins.seen(), HasSubstr("\x1b[32mavailable\x1b[0m"));
}

class Approving : public ::testing::Test {
protected:
    Approving() {
        home.write(".mcp.json", R"({"mcpServers": {"a": {"command": "x"}, "b": {"url": "u"}}})");
    }
    Home home;
};

TEST_F(Approving, ShowsEachDefinitionAndTakesYesForIt) {
    OnTerminal trust(home.patchbay({"trust", "a", "b"}));
    ASSERT_TRUE(trust.wait_for("approve \"a\"? [y/N] ")) << trust.seen();
    EXPECT_THAT(trust.seen(), HasSubstr("\"x\""));
    trust.type("y\n");
    ASSERT_TRUE(trust.wait_for("approve \"b\"? [y/N] ")) << trust.seen();
    trust.type("n\n");
    EXPECT_EQ(trust.finish(), 7) << trust.seen();
    EXPECT_THAT(trust.seen(), AllOf(HasSubstr("not approved: b"), HasSubstr("\napproved: a"),
                                    Not(HasSubstr("\napproved: b"))));
    EXPECT_THAT(home.run({"trust"}).out,
                AllOf(HasSubstr("\"b\"  not approved"), Not(HasSubstr("\"a\""))));
}

TEST_F(Approving, ShowsTheTableThatAServerWouldUseUnlessItIsAskedAboutToo) {
    home.write(".patchbay.local.toml", "[auth.corp]\nkind = \"bearer\"\n");
    home.write(".mcp.json",
               R"({"mcpServers": {"v": {"url": "http://127.0.0.1:9", "auth": "corp"}}})");
    const auto shown = HasSubstr("auth_table:\r\n    \"kind\": \"bearer\"");
    OnTerminal alone(home.patchbay({"trust", "v"}));
    ASSERT_TRUE(alone.wait_for("approve \"v\"? [y/N] ")) << alone.seen();
    EXPECT_THAT(alone.seen(), shown);
    alone.type("n\n");
    EXPECT_EQ(alone.finish(), 7);
    OnTerminal both(home.patchbay({"trust", "v", "auth.corp"}));
    ASSERT_TRUE(both.wait_for("approve \"v\"? [y/N] ")) << both.seen();
    EXPECT_THAT(both.seen(), Not(shown));
    both.type("n\n");
    ASSERT_TRUE(both.wait_for("approve \"auth.corp\"? [y/N] ")) << both.seen();
    both.type("n\n");
    EXPECT_EQ(both.finish(), 7);
}

TEST_F(Approving, TakesAnythingElseForNo) {
    for (const char* answer : {"\n", "yep\n", "\x04"}) {
        OnTerminal trust(home.patchbay({"trust", "a"}));
        ASSERT_TRUE(trust.wait_for("[y/N] ")) << trust.seen();
        trust.type(answer);
        EXPECT_EQ(trust.finish(), 7) << trust.seen();
    }
    EXPECT_FALSE(std::filesystem::exists(home.root() / "state/patchbay/trust.json"));
    for (const char* answer : {"yes\n", "Y\n"}) {
        OnTerminal trust(home.patchbay({"trust", "a"}));
        ASSERT_TRUE(trust.wait_for("[y/N] ")) << trust.seen();
        trust.type(answer);
        EXPECT_EQ(trust.finish(), 0) << trust.seen();
        EXPECT_EQ(home.run({"trust", "--revoke", "a"}).err, "revoked: a\n");
    }
}

class Asked : public ::testing::TestWithParam<const char*> {
protected:
    Asked() { home.add_example("x", {"--era", GetParam()}); }
    Command ask() const {
        return home.patchbay({"--set", "client.elicitation=ask", "call", "mcp__x__ask"});
    }
    Home home;
};

TEST_P(Asked, APersonAnswersTheQuestionOfAServer) {
    OnTerminal call(ask());
    ASSERT_TRUE(call.wait_for("name [\"nobody\"]:")) << call.seen();
    call.type("Ada\n");
    ASSERT_TRUE(call.wait_for("age (integer, at least 0) [30]:")) << call.seen();
    call.type("old\n");
    ASSERT_TRUE(call.wait_for("\"old\" is not an integer")) << call.seen();
    call.type("36\n");
    EXPECT_EQ(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(), HasSubstr(R"({"action":"accept","content":{"name":"Ada","age":36}})"));
}

TEST_P(Asked, AnEmptyLineTakesTheDefault) {
    OnTerminal call(ask());
    ASSERT_TRUE(call.wait_for("name [\"nobody\"]:")) << call.seen();
    call.type("\n\n");
    EXPECT_EQ(call.finish(), 0) << call.seen();
    EXPECT_THAT(call.seen(), HasSubstr(R"("content":{"name":"nobody","age":30})"));
}

TEST_P(Asked, CtrlDDeclinesAndCtrlCCancels) {
    OnTerminal declined(ask());
    ASSERT_TRUE(declined.wait_for("name [\"nobody\"]:")) << declined.seen();
    declined.type("\x04");
    EXPECT_EQ(declined.finish(), 0) << declined.seen();
    EXPECT_THAT(declined.seen(), HasSubstr(R"({"action":"decline"})"));
    OnTerminal cancelled(ask());
    ASSERT_TRUE(cancelled.wait_for("name [\"nobody\"]:")) << cancelled.seen();
    cancelled.type("\x03");
    EXPECT_EQ(cancelled.finish(), 130) << cancelled.seen();
}

TEST_P(Asked, WithoutATerminalTheQuestionIsDeclined) {
    auto command = ask();
    command.argv.insert(command.argv.begin(), {"/usr/bin/setsid", "--wait"});
    const auto done = run(command);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr(R"({"action":"decline"})"));
    EXPECT_THAT(done.err, HasSubstr("note: server \"x\" asked something; there is no terminal, so "
                                    "it was declined\n"));
}

INSTANTIATE_TEST_SUITE_P(, Asked, ::testing::Values("legacy", "modern"),
                         [](const auto& era) { return std::string(era.param); });

// Whatever is in flight then has somebody to tell; sanitizers see when it has not.
class InterruptedWhileConnecting : public ::testing::TestWithParam<Words> {};

TEST_P(InterruptedWhileConnecting, EndsWith130AndLeavesNothing) {
    Home home;
    const auto input = home.add_recorded("x", {"--era", "legacy", "--slow-start", "3600000"});
    Program program(home.patchbay(GetParam()));
    ASSERT_TRUE(wait_for_file(input, "server/discover")) << program.err();
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130) << done.err;
    EXPECT_THAT(done.err, Not(HasSubstr("Sanitizer")));
    EXPECT_EQ(nothing_left(), "");
}

INSTANTIATE_TEST_SUITE_P(, InterruptedWhileConnecting,
                         ::testing::Values(Words{"mcp", "status"}, Words{"mcp", "status", "x"},
                                           Words{"tools"},
                                           Words{"call", "mcp__x__echo", "message=hi"},
                                           Words{"resources", "list"},
                                           Words{"resources", "read", "a://b"},
                                           Words{"resources", "read", "a://b", "--server", "x"},
                                           Words{"prompts", "get", "greet"},
                                           Words{"complete", "--prompt", "greet", "who=A"}),
                         [](const auto& words) {
                             std::string name = std::to_string(words.index);
                             for (const auto& word : words.param) {
                                 name += '_';
                                 for (const char c : word)
                                     if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                             }
                             return name;
                         });

}  // namespace
}  // namespace patchbay::test
