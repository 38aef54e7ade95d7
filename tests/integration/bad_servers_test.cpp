// Servers that misbehave: each gets an error that says what it did, soon, and takes nobody else
// down.
#include "integration/home.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace patchbay::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace json = boost::json;

struct Evil {
    const char* name;
    Words flags;
    int exit_code;
    std::vector<const char*> says;
};

// Behind `good` in the same batch and alone in `call`; `bad` is the server's id.
class BadServers : public ::testing::TestWithParam<Evil> {};

std::string echo(const std::string& id, const std::string& server) {
    return "{\"id\":\"" + id + "\",\"op\":\"tools/call\",\"name\":\"mcp__" + server +
           "__echo\",\"arguments\":{\"message\":\"hi from " + server + "\"}}\n";
}

TEST_P(BadServers, AnErrorSaysWhatTheServerDid) {
    const auto& evil = GetParam();
    Home home;
    home.add_example("bad", evil.flags,
                     {{"startup_timeout_sec", evil.name == std::string("NeverAnswers") ? 1 : 50}});
    const auto done = home.run({"call", "mcp__bad__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, evil.exit_code) << done.err;
    for (const char* part : evil.says) EXPECT_THAT(done.err, HasSubstr(part));
    EXPECT_EQ(done.out, evil.exit_code == 0 ? "hi\n" : "");
    EXPECT_LT(done.took, 30s);
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(BadServers, AGoodServerBesideItAnswers) {
    const auto& evil = GetParam();
    Home home;
    home.add_example("bad", evil.flags, {{"startup_timeout_sec", 1}, {"restart", false}});
    home.add_example("good");
    Program batch(home.patchbay({"batch"}));
    batch.send(echo("a", "bad") + echo("b", "good"));
    ASSERT_TRUE(batch.wait_until([&] {
        return batch.out().find("{\"id\":\"a\"") != std::string::npos &&
               batch.out().find("{\"id\":\"b\"") != std::string::npos;
    })) << batch.out()
        << batch.err();
    batch.send(echo("c", "good"));
    const auto done = batch.finish();
    EXPECT_EQ(done.exit_code, evil.exit_code == 0 ? 0 : 1) << done.out << done.err;
    const Lines lines(done.out);
    EXPECT_EQ(lines.text("b"), "hi from good");
    EXPECT_EQ(lines.text("c"), "hi from good");
    EXPECT_EQ(lines.kind("a").empty(), evil.exit_code == 0);
    for (const char* part : evil.says) EXPECT_THAT(lines.message("a"), HasSubstr(part));
    EXPECT_EQ(nothing_left(), "");
}

INSTANTIATE_TEST_SUITE_P(
    , BadServers,
    ::testing::Values(
        Evil{"PrintsGarbage", {"--garbage"}, 0, {}},
        Evil{"AnswersTwice", {"--answer-twice"}, 0, {}},
        Evil{"AnswersTheWrongId",
             {"--wrong-id"},
             1,
             {"server \"bad\": connection lost: answered id 987654321, which nobody asked"}},
        Evil{"FloodsWithoutANewline",
             {"--flood", "67108864"},
             1,
             {"server \"bad\": connection lost: server sent more than 16777216 bytes without a "
              "newline (limit message_bytes)"}},
        Evil{"FloodsTheHandshake",
             {"--flood", "67108864", "--at", "first"},
             5,
             {"server \"bad\": ",
              "more than 16777216 bytes without a newline (limit message_bytes)"}},
        Evil{"AsksWithoutReading",
             {"--era", "legacy", "--pings", "1000000"},
             1,
             {"server \"bad\": connection lost: sent requests of its own without reading the "
              "answers: "
              "10001 with",
              "(limit server_requests, 10000)"}},
        Evil{"NestsAMillionDeep",
             {"--nest", "1000000"},
             1,
             {"server \"bad\": sent a malformed message: message is nested too deep (limit "
              "json_depth)"}},
        Evil{"ClosesMidMessage",
             {"--close-mid-message"},
             5,
             {"server \"bad\": connection lost: ", "in the middle of a message",
              "stderr: patchbay-example-server: closing in the middle of a message"}},
        Evil{"ExitsAtStart",
             {"--exit-at-start", "3"},
             5,
             {"server \"bad\": ", "exited with code 3",
              "stderr: patchbay-example-server: refusing to start, as asked; see patchbay mcp logs "
              "bad"}},
        Evil{"NeverAnswers",
             {"--never-answer"},
             5,
             {"server \"bad\": no answer to the handshake within 1 s (startup_timeout_sec)"}},
        Evil{"SpeaksAnUnknownRevision",
             {"--protocol", "1999-01-01"},
             5,
             {"server \"bad\": no protocol version in common: server speaks 1999-01-01, Patchbay "
              "speaks 2026-07-28"}},
        Evil{"RepeatsItsCursor", {"--repeat-cursor"}, 0, {}}),
    [](const auto& evil) { return evil.param.name; });

TEST(BadServersMemory, AFloodIsNotKept) {
    Home home;
    home.add_example("good");
    const auto usual = home.run({"call", "mcp__good__echo", "message=hi"});
    home.add_example("bad", {"--flood", "268435456"}, {{"restart", false}});
    const auto done = home.run({"call", "mcp__bad__echo", "message=hi"});
    EXPECT_EQ(done.exit_code, 1) << done.err;
    EXPECT_LT(done.peak_rss_kb - usual.peak_rss_kb, 96 * 1024)
        << "of 256 MiB, with a limit of 16 MiB a message";
    EXPECT_EQ(nothing_left(), "");
}

TEST(BadServersMemory, ALimitOfTheConfigurationHoldsForRequests) {
    Home home;
    home.add_example("x");
    const auto done = home.run({"--set", "limits.message_bytes=20000", "call", "mcp__x__echo",
                                "message=" + std::string(30000, 'x')});
    EXPECT_NE(done.exit_code, 0);
    EXPECT_THAT(done.err, HasSubstr("is over the limit message_bytes (20000)"));
}

TEST(BadServersMemory, ALimitOfTheConfigurationHoldsForAnswers) {
    Home home;
    home.add_example("x");
    const auto done =
        home.run({"--set", "limits.message_bytes=10000", "call", "mcp__x__big", "bytes=20000"});
    EXPECT_NE(done.exit_code, 0);
    EXPECT_THAT(done.err, HasSubstr("more than 10000 (limit message_bytes)"));
    EXPECT_EQ(home.run({"--set", "limits.message_bytes=33554432", "call", "mcp__x__big",
                        "bytes=20000000"})
                  .exit_code,
              0);
}

TEST(BadServersMemory, ALimitOfTheConfigurationHoldsForLinesOfStderr) {
    Home home;
    home.add("bad",
             {{"command", "/bin/sh"},
              {"args", json::array{"-c", "head -c 8192 /dev/zero | tr '\\0' x >&2; exit 3"}}});
    const auto logged = [&](const std::string& limit) {
        home.run({"--set", "limits.stderr_line_bytes=" + limit, "call", "mcp__bad__x"});
        const auto logs = home.run({"mcp", "logs", "bad", "--lines", "1"}).out;
        return std::count(logs.begin(), logs.end(), 'x');
    };
    EXPECT_EQ(logged("8192"), 8192);
    EXPECT_EQ(logged("1000"), 1000);
    const auto more = home.run({"--set", "limits.stderr_line_bytes=8193", "config", "check"});
    EXPECT_EQ(more.exit_code, 4);
    EXPECT_THAT(more.err,
                HasSubstr("limits.stderr_line_bytes: expected a whole number from 1 to 8192"));
}

TEST(BadServersInTime, ATimeOutOfTheCallHoldsWhileTheServerIsStillConnecting) {
    Home home;
    home.add_example("bad", {"--never-answer"});
    const auto done = home.run({"call", "mcp__bad__x", "--timeout", "0.3"});
    EXPECT_EQ(done.exit_code, 8) << done.err;
    EXPECT_THAT(done.err, HasSubstr("server \"bad\" is still connecting after 300 ms"));
    const auto batch =
        home.run({"batch"}, R"({"id":"a","op":"tools/call","name":"mcp__bad__x","timeout_ms":300})"
                            "\n"
                            R"({"id":"b","op":"ping","server":"bad","timeout_ms":400})"
                            "\n");
    const Lines lines(batch.out);
    EXPECT_EQ(lines.kind("a"), "timeout") << batch.out;
    EXPECT_THAT(lines.message("b"), HasSubstr("server \"bad\" is still connecting after 400 ms"));
    EXPECT_EQ(nothing_left(), "");
}

TEST(BadCommands, ACommandThatIsNotThereIsNamedWithWhereWasLooked) {
    Home home;
    home.add("bad", {{"command", "no-such-command"}});
    home.add_example("good");
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(
        done.err,
        HasSubstr(
            "server \"bad\": command \"no-such-command\" not found in the 2 folders of PATH"));
    EXPECT_EQ(home.run({"call", "mcp__good__echo", "message=hi"}).out, "hi\n");
}

TEST(BadCommands, SecretsAmongItsArgumentsAreNotTold) {
    Home home;
    home.add("bad", {{"command", "no-such-command --api-key value-of-a-server"}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("command \"no-such-command --api-key ***\" not found"));
}

TEST(BadCommands, SecretsAmongTheArgumentsOfAnAuthTableAreNotTold) {
    Home home;
    home.write(home.user_config() / "config.toml", R"(
[auth.corp]
kind = "bearer"
command = ["sh", "-c", "echo \"was given $1\" >&2; exit 3", "--password", "value-of-a-table"]
[servers.bad]
url = "http://127.0.0.1:1/mcp"
auth = "corp"
)");
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_THAT(done.err, HasSubstr("stderr: was given ***"));
}

TEST(BadCommands, ACommandThatIsNotThereLeadsToTheNextTransportAndEachSaysWhy) {
    Home home;
    home.add("two", {{"command", "no-such-command"},
                     {"url", "http://127.0.0.1:1/mcp"},
                     {"transport", "stdio"},
                     {"fallback", {"http"}}});
    const auto done = home.run({"call", "mcp__two__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("command \"no-such-command\" not found in the 2 folders"));
    EXPECT_THAT(done.err, HasSubstr("; http: "));
    EXPECT_THAT(done.err, HasSubstr("127.0.0.1:1"));
}

TEST(BadCommands, AFileThatIsNotExecutableIsCalledSo) {
    Home home;
    const auto file = home.write("server.sh", "#!/bin/sh\n");
    home.add("bad", {{"command", file}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, HasSubstr("server \"bad\": command \"" + file + "\" is not executable"));
}

TEST(BadCommands, AFileThatTheSystemCannotRunIsCalledSo) {
    Home home;
    const auto file = home.write("server",
                                 "\x7f"
                                 "ELF but not much of it");
    fs::permissions(file, fs::perms::owner_all);
    home.add("bad", {{"command", file}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, AllOf(HasSubstr("server \"bad\": "), HasSubstr(file)));
    EXPECT_EQ(nothing_left(), "");
}

TEST(BadCommands, AVariableThatIsNotSetIsNamed) {
    Home home;
    home.add("bad", {{"command", example_server()}, {"env", {{"TOKEN", "${NOT_SET_ANYWHERE}"}}}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5);
    EXPECT_THAT(done.err, AllOf(HasSubstr("server \"bad\": "), HasSubstr("NOT_SET_ANYWHERE")));
}

TEST(BadCommands, APortWhereNobodyListensIsGivenUpInTime) {
    Home home;
    home.add("bad", {{"transport", "tcp"}, {"port", 1}, {"startup_timeout_sec", 1}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(done.err,
                HasSubstr("server \"bad\": not connected within 1 s (startup_timeout_sec): "
                          "cannot connect to 127.0.0.1:1: Connection refused"));
}

TEST(BadCommands, APortWhereNobodyListensIsNamedWhenTheAttemptsAreUsedUp) {
    Home home;
    home.add("bad", {{"transport", "tcp"}, {"port", 1}});
    const auto done = home.run({"call", "mcp__bad__x"});
    EXPECT_EQ(done.exit_code, 5) << done.err;
    EXPECT_THAT(
        done.err,
        HasSubstr(
            "server \"bad\": cannot connect to 127.0.0.1:1 (5 attempts): Connection refused"));
}

TEST(BadServersTogether, StatusShowsEachAndIsNotHeldUp) {
    Home home;
    home.add_example("exits", {"--exit-at-start", "3"});
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 1}});
    home.add("missing", {{"command", "no-such-command"}});
    home.add_example("old", {"--protocol", "1999-01-01"});
    for (const char* id : {"one", "two", "three"}) home.add_example(id);
    const auto done = home.run({"mcp", "status", "--json"});
    EXPECT_LT(done.took, 30s);
    json::error_code failed;
    const auto status = json::parse(done.out, failed);
    ASSERT_FALSE(failed) << done.out;
    const auto& servers = status.is_array() ? status.get_array() : status.at("servers").get_array();
    ASSERT_THAT(servers, SizeIs(7));
    for (const auto& server : servers) {
        const auto id = json::value_to<std::string>(server.at("id"));
        const bool good = id == "one" || id == "two" || id == "three";
        EXPECT_EQ(server.at("state") == "ready", good) << server;
    }
    EXPECT_EQ(nothing_left(), "");
}

TEST(OneSilentServer, IsSaidToBeWaitedFor) {
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 60}});
    for (const Words& words : {Words{"call", "mcp__silent__x"}, Words{"resources", "list"},
                               Words{"tools", "--server", "silent"}}) {
        Program program(home.patchbay(words));
        EXPECT_TRUE(program.wait_until([&] {
            return program.err().find("waiting for silent ...\n") != std::string::npos;
        })) << words[0];
        program.signal(SIGINT);
        EXPECT_EQ(program.finish().exit_code, 130);
    }
}

// Each list, and something of a server that answers.
class SilentServer : public testing::TestWithParam<std::pair<Words, const char*>> {};

TEST_P(SilentServer, HoldsNothingBackOfTheOthers) {
    const auto& [words, expected] = GetParam();
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 30}});
    home.add_example("good");
    Program program(home.patchbay(words));
    // Long before the silent one is given up.
    ASSERT_TRUE(program.wait_for_out(expected)) << program.err();
    ASSERT_TRUE(program.wait_until(
        [&] { return program.err().find("waiting for silent ...\n") != std::string::npos; }));
    EXPECT_THAT(program.err(), Not(HasSubstr("startup_timeout_sec")));
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(done.out.find(expected, done.out.find(expected) + 1), std::string::npos)
        << "printed once: " << done.out;
    EXPECT_THAT(done.err, Not(HasSubstr("\"good\": interrupted"))) << "it had answered";
}
INSTANTIATE_TEST_SUITE_P(Lists, SilentServer,
                         testing::Values(std::pair(Words{"tools"}, "mcp__good__echo "),
                                         std::pair(Words{"resources", "list"}, "example://text "),
                                         std::pair(Words{"prompts", "list"}, "greet ")));

// What is named without its server may be the silent one's, and is not for whoever else lists it.
class SilentServerBesideAThing : public testing::TestWithParam<std::pair<Words, const char*>> {};

TEST_P(SilentServerBesideAThing, IsWaitedForAndWhoCannotWaitIsToldHow) {
    const auto& [words, expected] = GetParam();
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 60}});
    home.add_example("good");
    Program program(home.patchbay(words));
    ASSERT_TRUE(program.wait_until(
        [&] { return program.err().find("waiting for silent ...\n") != std::string::npos; }));
    EXPECT_THAT(program.err(), HasSubstr("note: server \"good\" lists it, and others may; "
                                         "--server good does not wait for them\n"));
    program.signal(SIGINT);
    const auto done = program.finish();
    EXPECT_EQ(done.exit_code, 130);
    EXPECT_EQ(done.out, "") << "nobody was asked for it";
    auto named = words;
    named.insert(named.end(), {"--server", "good"});
    const auto one = home.run(named);
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr(expected));
    EXPECT_EQ(nothing_left(), "");
}

TEST_P(SilentServerBesideAThing, IsGivenUpInTimeAndNobodyElseIsTakenForIt) {
    const auto& words = GetParam().first;
    const std::pair<Words, const char*> cases[] = {
        {{"--never-answer"}, "within 3"}, {{"--exit-at-start", "3"}, "exited with code 3"}};
    for (const auto& [flags, why] : cases) {
        Home home;
        home.add_example("first", flags, {{"startup_timeout_sec", 3}});
        const auto sent = home.add_recorded("good");
        const auto done = home.run(words);
        EXPECT_EQ(done.exit_code, 5) << done.err;
        EXPECT_EQ(done.out, "");
        for (const char* asked : {"resources/read", "prompts/get", "completion/complete", "Ada"})
            EXPECT_THAT(read_file(sent), Not(HasSubstr(asked)));
        EXPECT_THAT(done.err, HasSubstr(why));
        EXPECT_THAT(done.err,
                    HasSubstr("is offered by \"good\", and \"first\" could not be asked for it; "
                              "if that one is meant, add --server good\n"));
    }
}
INSTANTIATE_TEST_SUITE_P(
    Things, SilentServerBesideAThing,
    testing::Values(std::pair(Words{"resources", "read", "example://text"}, "text"),
                    std::pair(Words{"prompts", "get", "greet", "who=Ada"}, "Ada"),
                    std::pair(Words{"complete", "--prompt", "greet", "style=f"}, "formal")));

TEST(BadServersTogether, ASilentOneIsToldWhenItsTimeIsOverAndTheExitCodeStays) {
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 4}});
    home.add_example("good");
    const auto done = home.run({"tools"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.out, HasSubstr("mcp__good__echo "));
    EXPECT_THAT(done.err, HasSubstr("server \"silent\": "));
    const auto json = home.run({"tools", "--json"});
    EXPECT_EQ(json.exit_code, 1);
    EXPECT_TRUE(json::parse(json.out).is_array()) << "one document";
    EXPECT_THAT(json.err, Not(HasSubstr("waiting for")));
}

// Not that nobody lists it: nobody could be asked.
TEST(BadServersTogether, WhatNobodyCouldBeAskedForSaysWhy) {
    const Words asked[] = {{"prompts", "get", "greet", "--json"},
                           {"resources", "read", "example://text", "--json"},
                           {"complete", "--prompt", "greet", "style=f", "--json"}};
    struct Case {
        json::object entry;
        const char* setting;
        int exit_code;
        const char* kind;
        const char* says;
    };
    const std::string server = example_server();
    const json::array refuses{"--exit-at-start", "3"};
    const Case cases[] = {
        {{{"command", server}, {"args", refuses}},
         "host.spin_us=0",
         5,
         "unavailable",
         "exited with code 3"},
        {{{"command", server}}, "permissions.deny=[\"mcp__s__*\"]", 7, "denied", "denied"},
        {{{"command", server}, {"enabled", false}},
         "host.spin_us=0",
         6,
         "not_found",
         "no MCP server can be asked (1 disabled)"},
        {{{"command", 7}}, "host.spin_us=0", 4, "invalid", "no MCP server can be asked (1 error)"}};
    for (const auto& words : asked) {
        for (const auto& each : cases) {
            SCOPED_TRACE(each.says);
            Home home;
            home.add("s", each.entry);
            Words all{"--set", each.setting};
            all.insert(all.end(), words.begin(), words.end());
            const auto done = home.run(all);
            EXPECT_EQ(done.exit_code, each.exit_code) << done.err;
            const auto error = json::parse(done.out).at("error").as_object();
            EXPECT_EQ(error.at("kind"), each.kind) << done.out;
            EXPECT_THAT(std::string(error.at("message").as_string()), HasSubstr(each.says));
        }
    }
}

TEST(BadServersTogether, AListThatTheOnlyServerDoesNotOfferSaysSoByItsKind) {
    Home home;
    const std::string deaf = "sed -u 's/,\"prompts\":{[^}]*}//' ";
    home.add("s",
             {{"command", "/bin/sh"}, {"args", {"-c", "'" + example_server() + "' | " + deaf}}});
    for (const Words& words : {Words{"prompts", "list"}, Words{"prompts", "get", "greet"}}) {
        auto all = words;
        all.insert(all.end(), {"--server", "s", "--json"});
        const auto done = home.run(all);
        EXPECT_EQ(done.exit_code, 1) << done.err;
        EXPECT_EQ(json::parse(done.out).at_pointer("/error/kind"), "unsupported") << done.out;
    }
}

TEST(BadServersTogether, AToolThatIsThereIsShownWithoutASilentOne) {
    Home home;
    home.add_example("silent", {"--never-answer"}, {{"startup_timeout_sec", 60}});
    home.add_example("good");
    const auto done = home.run({"tools", "mcp__good__echo"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_LT(done.took, 30s);
}

TEST(BadServersTogether, WhatAServerSaidOnStderrIsInItsLog) {
    Home home;
    home.add_example("bad", {"--exit-at-start", "3"});
    home.run({"call", "mcp__bad__echo", "message=hi"});
    const auto logs = home.run({"mcp", "logs", "bad"});
    EXPECT_EQ(logs.exit_code, 0) << logs.err;
    EXPECT_THAT(logs.out, HasSubstr("refusing to start, as asked"));
}

TEST(BadServersTogether, OneThatStopsReadingIsClosedInTime) {
    Home home;
    home.add_example("bad", {"--stop-reading", "--stubborn", "--spawn-daemon"});
    const auto done = home.run({"call", "mcp__bad__echo", "message=hi", "--timeout", "0.2"});
    EXPECT_EQ(done.exit_code, 8) << done.err;
    EXPECT_LT(done.took, 30s);
    EXPECT_EQ(nothing_left(), "");
}

}  // namespace
}  // namespace patchbay::test
