// What no server has been given waits for the next session; what one may have does not run again.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class Waiting : public ConnectionTest {
protected:
    Waiting() {
        long_lived = true;
        spec.config.local = true;  // for one elsewhere nobody waits as long
        server.be_legacy({tool_named("a")});
        server.results["tools/call"] = [this](const auto&) -> json::value {
            ++executed;
            return {{"done", true}};
        };
    }
    bool come_back(unsigned times = 1) {
        return wait([&] {
            return connection().status().restarts == times && connection().state() == State::Ready;
        });
    }
    // Accepted and never answered.
    void stay_silent() { server.results.erase("tools/call"); }
    int executed = 0;
    Outcome outcome;
};

TEST_F(Waiting, ACallThatAClosingChannelRefusesGoesOutInTheNextSession) {
    ASSERT_EQ(connect(), State::Ready);
    server.refusals["tools/call"] = {ErrorCode::Unavailable};
    begin(call("a"), outcome);
    server.crash("exited with code 3");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome) << outcome->error().message;
    EXPECT_EQ(executed, 1);
    EXPECT_EQ(connection().status().restarts, 1u);
}

TEST_F(Waiting, ThroughSeveralAttempts) {
    ASSERT_EQ(connect(), State::Ready);
    int left = 2;
    server.results["initialize"] = [&, well = server.results["initialize"]](const auto& params) {
        if (left-- > 0) server.crash("exited at once");
        return well(params);
    };
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Reconnecting; }));
    ASSERT_TRUE(ask(call("a")));
    EXPECT_EQ(executed, 1);
    EXPECT_LT(left, 0);
}

TEST_F(Waiting, WithinItsOwnLimit) {
    health.reconnect_first = health.reconnect_most = 1h;
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Reconnecting; }));
    EXPECT_TRUE(ask(call("a"))) << "the first time it is started at once for who asks";
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Reconnecting; }));
    const auto reply = ask(call("a", 20ms));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message,
                HasSubstr("tools/call was not sent within 20 ms (the time-out given); the server "
                          "is reconnecting"));
    EXPECT_EQ(connection().status().pending, 0u);
}

TEST_F(Waiting, UntilTheServerIsGivenUp) {
    health.reconnect_attempts = 2;
    ASSERT_EQ(connect(), State::Ready);
    server.refusals["tools/call"] = {ErrorCode::Unavailable};
    begin(call("a"), outcome);
    server.results.erase("initialize");
    server.errors["initialize"] = {-32000, "broken for good"};
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_EQ(connection().state(), State::Failed);
    EXPECT_THAT(outcome->error().message, HasSubstr("broken for good"));
    EXPECT_EQ(executed, 0);
}

TEST_F(Waiting, ButNotForAServerThatNeverCameUp) {
    health.reconnect_first = health.reconnect_most = 1h;
    server.results.erase("initialize");
    server.errors["initialize"] = {-32000, "broken"};
    EXPECT_THAT(ask(call("a")).error().message, HasSubstr("broken"));
    EXPECT_EQ(server.opened, 1);
}

TEST_F(Waiting, AndNotInAOneShotHost) {
    long_lived = false;
    ASSERT_EQ(connect(), State::Ready);
    server.refusals["tools/call"] = {ErrorCode::Unavailable};
    begin(call("a"), outcome);
    server.crash("exited with code 3");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().message,
              "server \"s\": connection lost: exited with code 3; see patchbay mcp logs s; the "
              "request was not sent");
}

TEST_F(Waiting, WhatTheServerMayHaveIsNotSentAgain) {
    ASSERT_EQ(connect(), State::Ready);
    stay_silent();
    begin(call("a"), outcome);
    server.crash("exited with code 3");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome->error().message,
              "server \"s\": connection lost: exited with code 3; see patchbay mcp logs s; the "
              "request may have "
              "been "
              "carried out");
    ASSERT_TRUE(come_back());
    EXPECT_EQ(server.requests("tools/call").size(), 1u);
}

TEST_F(Waiting, WhatAFullTransportWasNotGivenGoesOutOnce) {
    ASSERT_EQ(connect(), State::Ready);
    stay_silent();
    server.full = true;
    Outcome sent;
    begin(call("a"), sent);  // taken, and full with it
    begin(call("b"), outcome);
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return sent.has_value(); }));
    EXPECT_THAT(sent->error().message, HasSubstr("may have been carried out"));
    server.full = false;
    server.results["tools/call"] = [this](const json::object& params) -> json::value {
        ++executed;
        return params;
    };
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(**outcome, HasSubstr("\"b\""));
    EXPECT_EQ(executed, 1);
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
}

TEST_F(Waiting, WhatEndsBeforeItIsHandedOverIsNotSent) {
    ASSERT_EQ(connect(), State::Ready);
    server.full = true;
    connection().notify("notifications/roots/list_changed", "");  // full with it
    const auto id = begin(call("a"), outcome);
    connection().cancel(id, "enough");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    server.writable();
    EXPECT_TRUE(ask(call("b")));
    EXPECT_EQ(executed, 1);
    EXPECT_TRUE(server.requests("notifications/cancelled").empty()) << "nobody has heard of it";
}

TEST_F(Waiting, OldNotificationsAreNotForTheServerThatComesNext) {
    ASSERT_EQ(connect(), State::Ready);
    server.full = true;
    connection().notify("notifications/roots/list_changed", "");
    connection().notify("notifications/roots/list_changed", "");
    server.crash("exited");
    server.full = false;
    ASSERT_TRUE(come_back());
    server.writable();
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(server.requests("notifications/roots/list_changed").size(), 1u);
}

TEST_F(Waiting, AServerThatReadsNothingIsNotWrittenToForEver) {
    limits.queue_messages = 10;
    limits.server_requests = 10;
    ASSERT_EQ(connect(), State::Ready);
    server.full = true;
    for (int i = 0; i < 22; ++i) connection().notify("notifications/roots/list_changed", "");
    server.full = false;
    ASSERT_TRUE(come_back());
    EXPECT_THAT(connection().status().last_error,
                HasSubstr("does not read what it is sent: 20 messages wait"));
}

TEST_F(Waiting, AConnectionThatWeGiveUpIsWaitedForToo) {
    ASSERT_EQ(connect(), State::Ready);
    stay_silent();
    Outcome sent;
    begin(call("a"), sent);
    server.answer(999, "{}");
    ASSERT_TRUE(wait([&] { return sent.has_value(); }));
    EXPECT_EQ(connection().state(), State::Reconnecting);
    server.results["tools/call"] = [](const auto&) -> json::value { return {{"done", true}}; };
    EXPECT_TRUE(ask(call("b")));
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
}

TEST_F(Waiting, ARequestThatIsRefusedForAnotherReasonEndsAndWasNotSent) {
    ASSERT_EQ(connect(), State::Ready);
    server.refusals["tools/call"] = {ErrorCode::Limit};
    EXPECT_EQ(ask(call("a")).error().message,
              "server \"s\": send refused; the request was not sent");
    EXPECT_EQ(connection().state(), State::Ready);
}

// ---- what is remembered of failures

TEST_F(Waiting, FailuresBeforeASessionThatLastedAreForgiven) {
    health.reconnect_attempts = 2;
    ASSERT_EQ(connect(), State::Ready);
    for (unsigned i = 1; i <= 5; ++i) {
        loop.turn(301s);
        server.crash("exited");
        ASSERT_TRUE(come_back(i));
    }
    for (unsigned i = 6; i <= 7; ++i) {  // the last of those has spent one attempt
        server.crash("exited");
        ASSERT_TRUE(wait([&] { return connection().status().restarts == i; }));
        ASSERT_TRUE(wait([&] {
            return connection().state() == State::Ready || connection().state() == State::Failed;
        }));
    }
    EXPECT_EQ(connection().state(), State::Failed) << "it fell over right after each start";
}

TEST_F(Waiting, AConnectionThatWeGiveUpIsForgivenToo) {
    health.reconnect_attempts = 1;
    ASSERT_EQ(connect(), State::Ready);
    stay_silent();
    for (unsigned i = 1; i <= 3; ++i) {
        loop.turn(301s);
        outcome.reset();
        begin(call("a"), outcome);
        server.answer(9999, "{}");
        ASSERT_TRUE(come_back(i));
    }
}

// ---- log level

class LogLevel : public Waiting {
protected:
    LogLevel() {
        server.results["logging/setLevel"] = [](const auto&) -> json::value {
            return json::object();
        };
        server.results["initialize"] = [](const auto&) -> json::value {
            return {{"protocolVersion", "2025-11-25"},
                    {"capabilities", {{"tools", json::object()}, {"logging", json::object()}}}};
        };
    }
    Result<std::string> set(const char* level) {
        Outcome told;
        connection().set_log_level(caller, level, [&](Result<Reply> reply) {
            if (reply)
                told.emplace(std::string(reply->error.empty() ? reply->result : reply->error));
            else
                told.emplace(reply.error());
        });
        EXPECT_TRUE(wait([&] { return told.has_value(); }));
        return *told;
    }
};

TEST_F(LogLevel, IsSaidAgainToALegacyServerThatComesBack) {
    ASSERT_TRUE(set("debug"));
    EXPECT_EQ(server.requests("logging/setLevel").size(), 1u);
    server.crash("exited");
    ASSERT_TRUE(come_back());
    const auto told = server.requests("logging/setLevel");
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[1].at("params").at("level"), "debug");
}

TEST_F(LogLevel, IsNotSaidAgainWhenItWasRefused) {
    server.errors["logging/setLevel"] = {-32602, "no such level"};
    EXPECT_THAT(*set("shrill"), HasSubstr("-32602"));
    server.crash("exited");
    ASSERT_TRUE(come_back());
    EXPECT_EQ(server.requests("logging/setLevel").size(), 1u);
}

TEST_F(LogLevel, GoesWithEveryRequestOfTheModernEraAlsoAfterAReconnect) {
    server.errors.clear();
    server.be_modern({tool_named("a")});
    ASSERT_TRUE(set("debug"));
    const auto level_of = [&](const char* method) -> json::value {
        const auto sent = server.requests(method).back();
        const auto* level = sent.at("params").at("_meta").as_object().if_contains(
            "io.modelcontextprotocol/logLevel");
        return level ? *level : json::value();
    };
    ASSERT_TRUE(ask(call("a")));
    EXPECT_EQ(level_of("tools/call"), "debug");
    server.crash("exited");
    ASSERT_TRUE(come_back());
    ASSERT_TRUE(ask(call("a")));
    EXPECT_EQ(level_of("tools/call"), "debug");
    EXPECT_TRUE(server.requests("logging/setLevel").empty());
}

TEST_F(LogLevel, OfAServerThatDoesNotConnectIsAnError) {
    server.refuse_open = true;
    const auto refused = set("debug");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                ::testing::StartsWith("server \"s\" is error: no such program"));
}

}  // namespace
}  // namespace patchbay::connection
