// Servers that misbehave: each gets an error that says what it did, soon, and takes nobody else
// down.
#include "integration/home.hpp"

#include <chrono>

namespace patchbay::test {
namespace {

using ::testing::SizeIs;
using namespace std::chrono_literals;

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
