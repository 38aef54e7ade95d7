// How a connection comes up, is lost, comes back, and ends.
#include "support/scratch_folder.hpp"
#include "unit/connection/fixture.hpp"

#include <fstream>

namespace patchbay::connection {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What runs meanwhile is the loop: a secret that takes its time is fetched elsewhere.
TEST_F(ConnectionTest, IsOpenedWhenItsSettingsHaveBeenExpandedAndOnlyOnce) {
    server.be_legacy({});
    hold_expansion = true;
    bool settled = false;
    connection().connect([&] { settled = true; });
    connection().connect([] {});
    EXPECT_EQ(connection().state(), State::Connecting);
    ASSERT_EQ(held_expansions.size(), 1u);
    EXPECT_EQ(server.opened, 0);
    held_expansions[0]();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(server.opened, 1);
}

TEST_F(ConnectionTest, AnExpansionThatEndsAfterTheConnectionOpensNothing) {
    server.be_legacy({});
    hold_expansion = true;
    connection().connect([] {});
    bool closed = false;
    connection().close([&] { closed = true; });
    ASSERT_EQ(held_expansions.size(), 1u);
    held_expansions[0]();
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(connection().state(), State::Stopped);
    connection_.reset();
    held_expansions[0]();
    EXPECT_EQ(server.opened, 0);
}

TEST_F(ConnectionTest, OneThatIsDestroyedWhileItListsItsToolsTellsNoFailure) {
    server.be_legacy({});
    server.results.erase("tools/list");
    connection().connect([] {});
    ASSERT_TRUE(wait([&] { return !server.requests("tools/list").empty(); }));
    const auto before = events.states;
    connection_.reset();
    EXPECT_EQ(events.states, before);
}

TEST_F(ConnectionTest, WhoWaitsForAListIsToldWhenTheConnectionIsDestroyed) {
    long_lived = true;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.results.erase("tools/list");
    server.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    ASSERT_TRUE(wait([&] { return server.requests("tools/list").size() == 2; }));
    std::vector<std::string> told;
    connection().refresh_tools([&](const Result<void>& fresh) {
        told.push_back(fresh ? "fresh" : fresh.error().message);
    });
    const auto before = events.states;
    connection_.reset();
    EXPECT_THAT(told, ::testing::ElementsAre("server \"s\": the host is closing"));
    EXPECT_EQ(events.states, before);
}

TEST_F(ConnectionTest, AServerThatLeavesOnTheProbeIsTriedWithoutIt) {
    server.be_legacy({});
    server.leave_on_discover = true;
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.opened, 2);
    EXPECT_EQ(connection().status().pending, 0u) << "nobody waits for the probe";
}

TEST_F(ConnectionTest, TheFirstAndTheLastLinesOfStderrAreToldWithAFailure) {
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 1; i <= 7; ++i) server.write_stderr("line " + std::to_string(i));
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(
        connection().status().last_error,
        "server \"s\": connection lost: exited; stderr: line 1 | ... | line 3 | line 4 | line 5 | "
        "line 6 | line 7");
}

TEST_F(ConnectionTest, ASecretOnStderrIsMaskedToTheEndOfItsLineAndNoFurther) {
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.write_stderr("DB_PASSWORD=hunter2 is not taken");
    server.write_stderr("with sk-abcdefghij1234567890 neither");
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    const auto error = connection().status().last_error;
    EXPECT_THAT(error, Not(AnyOf(HasSubstr("hunter2"), HasSubstr("abcdefghij"))));
    EXPECT_THAT(error, AllOf(HasSubstr("stderr: DB_PASSWORD=*** | with "), HasSubstr(" neither")));
}

TEST_F(ConnectionTest, AWrongWorkingDirectoryIsGuessedOfAProgramThatNeverSpokeAlone) {
    const test::ScratchFolder folder;
    std::ofstream(folder / "server.js") << "beside the configuration";
    spec.config.transport = "stdio";
    spec.config.place = {config::Scope::User, folder / "config.toml", 1, 1};
    spec.config.settings = {{"command", "node"}, {"args", json::array{"server.js"}}};
    server.be_legacy({});
    server.on_request = [this](const std::string&) { server.crash("exited"); };
    ASSERT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error, HasSubstr("set cwd"));
    server.on_request = {};
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(connection().status().last_error, "server \"s\": connection lost: exited");
}

TEST_F(ConnectionTest, AStartThatTakesTooLongSaysHowFarItCame) {
    spec.config.startup_timeout = 30ms;
    EXPECT_NE(connect(), State::Ready);
    EXPECT_EQ(
        connection().status().last_error,
        "server \"s\": no answer to the handshake within 30 ms (startup_timeout_sec); is this "
        "an MCP server? Ask whoever runs it, or raise that time");
    spec.config.settings = {{"command", "run"}};
    connection_.reset();
    EXPECT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error,
                HasSubstr("; is this an MCP server? Run its command by hand, or raise that time"));
    spec.config.settings = {{"url", "http://127.0.0.1:9/mcp?key=s3cr3t"}};
    connection_.reset();
    EXPECT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error,
                HasSubstr("; is http://127.0.0.1:9/mcp an MCP server? Ask whoever"));
    spec.config.settings = {};
    connection_.reset();
    spec.config.startup_timeout_from = "startup_timeout_ms";
    EXPECT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error, HasSubstr("(startup_timeout_ms)"));
    spec.config.startup_timeout_from = "startup_timeout_sec";
    connection_.reset();
    bool settled = false;
    connection().connect([&] { settled = true; });
    server.fact("trouble", "connection refused");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": not connected within 30 ms (startup_timeout_sec): connection refused");
}

TEST_F(ConnectionTest, AStartThatTakesTooLongTellsOfLinesThatAreNoMessages) {
    const std::string told =
        "server \"s\": no answer to the handshake within 30 ms "
        "(startup_timeout_sec); is this an MCP server? Ask whoever runs it, or raise that time; it "
        "wrote ";
    spec.config.startup_timeout = 30ms;
    for (const int lines : {1, 3}) {
        connection_.reset();
        bool settled = false;
        connection().connect([&] { settled = true; });
        ASSERT_TRUE(wait([&] { return server.opened > 0; }));
        for (int i = 0; i < lines; ++i) server.say("Listening\x1b on " + std::to_string(i));
        ASSERT_TRUE(wait([&] { return settled; }));
        EXPECT_EQ(connection().status().last_error,
                  told +
                      (lines == 1 ? "a line that is no JSON-RPC message: "
                                  : "3 lines that are no JSON-RPC messages, the first: ") +
                      "\"Listening\uFFFD on 0\"; see patchbay mcp logs s");
    }
}

TEST_F(ConnectionTest, APinnedRevisionIsTheOnlyOneThatIsTried) {
    spec.config.protocol = "2026-07-28";
    server.be_legacy({});
    server.leave_on_discover = true;
    EXPECT_NE(connect(), State::Ready);
    EXPECT_EQ(server.opened, 1);
}

TEST_F(ConnectionTest, AServerThatLeavesOnEveryFirstWordIsNotTriedForEver) {
    server.be_legacy({});
    server.leave_on_discover = true;
    server.on_request = [&](const std::string& method) {
        if (method == "initialize") server.crash("exited again");
    };
    server.results.erase("initialize");
    EXPECT_NE(connect(), State::Ready);
    EXPECT_EQ(server.opened, 2);
    EXPECT_EQ(connection().status().pending, 0u);
}

TEST_F(ConnectionTest, AnExpansionThatTakesItsTimeWhenTheServerComesBackIsBegunOnce) {
    long_lived = true;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    hold_expansion = true;
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return held_expansions.size() == 1; }));
    EXPECT_EQ(connection().state(), State::Reconnecting);
    connection().connect([] {});
    EXPECT_EQ(held_expansions.size(), 1u);
    held_expansions[0]();
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(server.opened, 2);
}

TEST_F(ConnectionTest, APingThatFailsAtOnceIsNoMiss) {
    long_lived = true;
    health.ping_interval = 2ms;
    health.misses = 2;
    server.be_legacy({});
    for (int i = 0; i < 6; ++i) server.refusals["ping"].push_back(ErrorCode::Internal);
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return server.refusals["ping"].empty(); }));
    EXPECT_EQ(connection().status().restarts, 0u);
}

TEST_F(ConnectionTest, AListThatAClosingChannelRefusesFailsForTheReasonOfItsEnd) {
    health.reconnect_attempts = 0;
    server.be_legacy({tool_named("a")});
    server.refusals["tools/list"] = {ErrorCode::Unavailable};
    server.on_request = [&](const std::string& method) {
        if (method == "initialize") loop.defer([&] { server.crash("exited with code 3"); });
    };
    EXPECT_EQ(connect(), State::Failed);
    EXPECT_THAT(connection().status().last_error, HasSubstr("exited with code 3"));
    EXPECT_THAT(connection().status().last_error, testing::Not(HasSubstr("send refused")));
}

TEST_F(ConnectionTest, ALostServerEndsItsCallsAtOnceAndComesBack) {
    long_lived = true;
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<Error> error;
    connection().request(caller, call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    server.crash("exited with code 3");
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("server \"s\": connection lost: exited with code 3"));
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(connection().status().restarts, 1u);
}

TEST_F(ConnectionTest, AServerThatNeverStartsFailsAfterItsAttempts) {
    long_lived = true;
    health.reconnect_attempts = 3;
    server.results.clear();
    server.leave_on_discover = true;
    spec.config.protocol = "2026-07-28";
    connect();
    EXPECT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(server.opened, 4);
}

TEST_F(ConnectionTest, AProgramThatIsNotThereIsNotTriedAgain) {
    long_lived = true;
    server.refuse_open = true;
    EXPECT_EQ(connect(), State::Error);
    EXPECT_EQ(server.opened, 1);
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("no such program"));
}

TEST_F(ConnectionTest, AConnectionThatIsLostWhileItListsToolsIsNotReady) {
    server.be_legacy({});
    server.results.erase("tools/list");
    bool settled = false;
    connection().connect([&] { settled = true; });
    ASSERT_TRUE(wait([&] { return !server.requests("tools/list").empty(); }));
    server.answer(999, "{}");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_NE(connection().state(), State::Ready);
    EXPECT_THAT(connection().status().last_error, HasSubstr("which nobody asked"));
}

TEST_F(ConnectionTest, ScatteredMissesDoNotEndAServerThatIsHeardOf) {
    long_lived = true;
    health.ping_interval = 5ms;
    health.ping_timeout = 2ms;
    health.misses = 2;
    health.reconnect_attempts = 0;
    server.be_legacy({});
    // No ping is answered, but something else comes after each.
    server.on_request = [&](const std::string& method) {
        if (method == "ping")
            server.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return server.requests("ping").size() == 6; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, AServerThatStopsAnsweringPingsIsGivenUp) {
    long_lived = true;
    health.ping_interval = 5ms;
    health.ping_timeout = 2ms;
    health.misses = 2;
    health.reconnect_attempts = 0;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_THAT(connection().status().last_error, HasSubstr("health.misses"));
}

TEST_F(ConnectionTest, ClosingEndsWhatIsInFlight) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<ErrorCode> code;
    connection().request(caller, call("a"),
                         [&](Result<Reply> reply) { code = reply.error().code; });
    bool closed = false;
    connection().close([&] { closed = true; });
    EXPECT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(code, ErrorCode::Unavailable);
    EXPECT_EQ(connection().state(), State::Stopped);
}

TEST_F(ConnectionTest, WhatAnEarlierStartLeftIsNotToldOfALaterOne) {
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.write_stderr("of the first");
    server.fact("trouble", "of the first");
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(connection().status().facts.empty());
    server.crash("gone");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(connection().status().last_error, "server \"s\": connection lost: gone");
}

// One server starts at a time, and another stands in line behind it.
class PlaceInLine : public ConnectionTest {
protected:
    void begin_to_start() {
        connection();
        context->remote_starts = &line;
        connection().connect([] {});
        behind = line.enter([this] { next = true; });
        ASSERT_FALSE(behind->taken());
    }
    void close_and_let_the_next_start() {
        connection().close([] {});
        EXPECT_TRUE(wait([&] { return next; }));
        EXPECT_EQ(connection().state(), State::Stopped);
    }
    StartQueue line{loop, 1};
    bool next = false;
    std::unique_ptr<StartQueue::Place> behind;
};

TEST_F(PlaceInLine, IsGivenUpByOneThatClosesBeforeItHasAChannel) {
    hold_expansion = true;
    begin_to_start();
    ASSERT_EQ(held_expansions.size(), 1u) << "it has its place";
    close_and_let_the_next_start();
    EXPECT_TRUE(behind->taken());
    held_expansions[0]();
    EXPECT_EQ(server.opened, 0) << "what it waited for comes too late";
}

TEST_F(PlaceInLine, IsGivenUpByOneThatClosesInItsHandshake) {
    begin_to_start();
    ASSERT_TRUE(wait([&] { return !server.received.empty(); }));
    close_and_let_the_next_start();
}

}  // namespace
}  // namespace patchbay::connection
