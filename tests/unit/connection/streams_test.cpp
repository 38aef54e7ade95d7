// What a connection behind HTTP does when the server forgets its session, and when the stream of an
// answer breaks.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class Streams : public HttpConnectionTest {
protected:
    void end_with(const char* method, ErrorCode code, const char* text, bool not_sent = false) {
        auto problem = FakeServer::problem(code, text);
        problem.not_sent = not_sent;
        server.endings[method].push_back(problem);
    }
    static json::object hinted(const char* hint) {
        auto tool = tool_named("a");
        tool["annotations"] = {{hint, true}};
        return tool;
    }
};

// ---- sessions

TEST_F(Streams, ALostSessionIsRenewedOnceForEverybodyAndNoCallFails) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    events.states.clear();
    server.be_legacy({tool_named("a"), tool_named("b")});
    for (int i = 0; i < 3; ++i) end_with("tools/call", ErrorCode::SessionLost, "HTTP 404");
    int answered = 0;
    for (int i = 0; i < 3; ++i) {
        connection().request(caller, call("a"), [&](Result<Reply> reply) {
            EXPECT_TRUE(reply) << reply.error().message;
            ++answered;
        });
    }
    ASSERT_TRUE(wait([&] { return answered == 3; }));
    EXPECT_EQ(server.requests("initialize").size(), 2u) << "one more, for the three of them";
    EXPECT_EQ(server.requests("notifications/initialized").size(), 2u);
    EXPECT_EQ(server.requests("tools/call").size(), 6u);
    EXPECT_EQ(server.opened, 1) << "on the same channel";
    EXPECT_EQ(connection().tools().size(), 2u) << "the tools are read again";
    EXPECT_EQ(events.states, (std::vector{State::Reconnecting, State::Ready}));
}

TEST_F(Streams, ARequestThatLosesTheNewSessionTooFails) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 0; i < 2; ++i) end_with("tools/call", ErrorCode::SessionLost, "HTTP 404");
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::SessionLost);
    EXPECT_EQ(reply.error().message,
              "server \"s\": HTTP 404; the new session was lost as well, the request was not "
              "repeated");
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_TRUE(ask(call("a"))) << "the next call goes well";
}

TEST_F(Streams, ASessionThatABackgroundStreamFindsLostIsRenewedOnce) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    events.states.clear();
    for (int i = 0; i < 2; ++i)
        server.challenge(FakeServer::problem(ErrorCode::SessionLost, "HTTP 404", 404));
    ASSERT_TRUE(wait([&] { return server.requests("initialize").size() == 2; }));
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(server.requests("initialize").size(), 2u);
    EXPECT_EQ(server.opened, 1) << "on the same channel";
    EXPECT_EQ(events.states, (std::vector{State::Reconnecting, State::Ready}));
}

TEST_F(Streams, ARequestThatHadBegunIsNotSentAgain) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    server.results.erase("tools/call");
    std::optional<Error> error;
    connection().request(caller, call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(wait([&] { return !server.requests("tools/call").empty(); }));
    const auto exchange = server.arrival("tools/call").exchange;
    server.say_for(exchange, R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
    server.end(exchange, FakeServer::problem(ErrorCode::SessionLost, "HTTP 404"));
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("may have been carried out"));
    EXPECT_EQ(server.requests("tools/call").size(), 1u);
}

TEST_F(Streams, AServerThatIsGoneAfterItForgotTheSessionIsLost) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    end_with("tools/call", ErrorCode::SessionLost, "HTTP 404");
    end_with("initialize", ErrorCode::Io, "connection refused");
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("connection refused"));
}

TEST_F(Streams, ANewSessionThatGetsNoFurtherHasTheLimitOfAStart) {
    server.be_legacy({tool_named("a")});
    spec.config.startup_timeout = 50ms;
    ASSERT_EQ(connect(), State::Ready);
    server.results.erase("tools/list");
    end_with("tools/call", ErrorCode::SessionLost, "HTTP 404");
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message,
                HasSubstr("tools/list was not answered to its end within 50 ms"));
    EXPECT_NE(connection().state(), State::Ready);
}

TEST_F(Streams, AHealthCheckFindsTheLostSessionBeforeACallDoes) {
    long_lived = true;
    health.ping_interval = 5ms;
    server.be_legacy({tool_named("a")});
    server.results["ping"] = [](const auto&) -> json::value { return json::object(); };
    end_with("ping", ErrorCode::SessionLost, "HTTP 404");
    ASSERT_EQ(connect(), State::Ready);
    events.states.clear();
    EXPECT_TRUE(wait([&] { return server.requests("initialize").size() == 2; }));
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(events.states, (std::vector{State::Reconnecting, State::Ready}));
    EXPECT_EQ(server.opened, 1) << "on the same channel";
    EXPECT_EQ(server.requests("ping").size(), 1u);
    EXPECT_TRUE(wait([&] { return connection().status().pending == 0; })) << "the ping has ended";
}

TEST_F(Streams, ASessionThatIsLostBeforeTheToolsAreListedIsOfNoUse) {
    server.be_legacy({tool_named("a")});
    end_with("tools/list", ErrorCode::SessionLost, "HTTP 404");
    EXPECT_EQ(connect(), State::Failed);
    EXPECT_THAT(connection().status().last_error, HasSubstr("HTTP 404"));
    EXPECT_EQ(server.requests("initialize").size(), 1u);
    EXPECT_EQ(events.states, (std::vector{State::Connecting, State::Failed}));
}

TEST_F(Streams, ASessionThatIsLostByInitializeItselfIsAnAnswerToIt) {
    server.be_legacy({tool_named("a")});
    server.endings["initialize"].push_back(
        FakeServer::problem(ErrorCode::SessionLost, "HTTP 404", 404));
    old_server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().status().transport, "sse") << "what a server of old answers";
    EXPECT_EQ(server.opened, 1);
    EXPECT_EQ(old_server.opened, 1);
}

// ---- broken streams

TEST_F(Streams, AHandshakeThatEndsWithItsConnectionIsNoFailureOfTheServer) {
    server.results.clear();
    close();
    connection().connect([] {});
    ASSERT_TRUE(wait([&] { return !server.arrivals.empty(); }));
    const auto before = events.states;
    connection_.reset();
    EXPECT_EQ(events.states, before);
}

TEST_F(Streams, ABrokenStreamEndsTheCallAndSaysThatItMayHaveRun) {
    server.be_modern({tool_named("a")});
    end_with("tools/call", ErrorCode::Io, "connection reset");
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().message,
              "server \"s\": connection reset; the request may have been carried out");
    EXPECT_EQ(server.requests("tools/call").size(), 1u);
    server.endings["tools/call"].push_back(std::nullopt);
    EXPECT_EQ(ask(call("a")).error().message,
              "server \"s\": the stream ended without an answer (a request is answered with "
              "application/json or text/event-stream; HTTP 202 and an empty body are for "
              "notifications); the request may have been carried out");
}

TEST_F(Streams, WhatWasNeverSentIsSentAgainOnce) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    end_with("tools/call", ErrorCode::Io, "connection refused", true);
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
    for (int i = 0; i < 2; ++i) end_with("tools/call", ErrorCode::Io, "connection refused", true);
    EXPECT_EQ(ask(call("a")).error().message,
              "server \"s\": connection lost: connection refused; the request was not sent");
    EXPECT_EQ(server.requests("tools/call").size(), 4u);
}

TEST_F(Streams, AToolThatMayRunTwiceIsCalledAgain) {
    for (const char* hint : {"idempotentHint", "readOnlyHint"}) {
        connection_.reset();
        server.received.clear();
        server.be_modern({hinted(hint)});
        ASSERT_EQ(connect(), State::Ready);
        end_with("tools/call", ErrorCode::Io, "connection reset");
        EXPECT_TRUE(ask(call("a"))) << hint;
        EXPECT_EQ(server.requests("tools/call").size(), 2u);
    }
}

TEST_F(Streams, AnHttpErrorIsAnAnswerAndNoBrokenStream) {
    server.be_modern({hinted("idempotentHint")});
    for (const unsigned status : {500u, 429u})
        server.endings["tools/call"].push_back(
            FakeServer::problem(ErrorCode::Io, "HTTP " + std::to_string(status), status));
    EXPECT_EQ(ask(call("a")).error().message,
              "server \"s\": HTTP 500; the request may have been carried out");
    EXPECT_EQ(ask(call("a")).error().message, "server \"s\": HTTP 429");
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
}

TEST_F(Streams, CancellingClosesTheStreamOfAModernCall) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    server.results.erase("tools/call");
    std::optional<ErrorCode> code;
    const auto id = connection().request(caller, call("a"),
                                         [&](Result<Reply> reply) { code = reply.error().code; });
    ASSERT_TRUE(wait([&] { return !server.requests("tools/call").empty(); }));
    connection().cancel(id, "enough");
    ASSERT_TRUE(wait([&] { return code.has_value(); }));
    EXPECT_EQ(code, ErrorCode::Cancelled);
    EXPECT_EQ(server.cancelled, std::vector{server.arrival("tools/call").exchange});
    EXPECT_TRUE(server.requests("notifications/cancelled").empty());
}

// ---- subscriptions/listen

TEST_F(Streams, AListenThatEndsAtOnceIsOpenedLessAndLessOften) {
    long_lived = true;
    server.be_modern({tool_named("a")});
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"tools", {{"listChanged", true}}}}}};
    };
    for (int i = 0; i < 6; ++i) server.endings["subscriptions/listen"].push_back(std::nullopt);
    const auto begin = loop.now();
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return server.requests("subscriptions/listen").size() == 7; }));
    EXPECT_EQ(loop.now() - begin, 5ms + 10ms + 20ms + 40ms + 40ms + 40ms);
    EXPECT_EQ(connection().state(), State::Ready);
}

// Over stdio a server may say no more than that (2026-07-28 basic/patterns/cancellation).
TEST_F(ConnectionTest, AListenThatItsServerCancelsIsOpenedAgain) {
    long_lived = true;
    server.be_modern({tool_named("a")});
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"tools", {{"listChanged", true}}}}}};
    };
    ASSERT_EQ(connect(), State::Ready);
    const auto listens = [&] { return server.requests("subscriptions/listen"); };
    ASSERT_TRUE(wait([&] { return listens().size() == 1; }));
    const auto cancel = [&](const json::value& id) {
        server.say(json::serialize(json::object{{"jsonrpc", "2.0"},
                                                {"method", "notifications/cancelled"},
                                                {"params", {{"requestId", id}}}}));
    };
    const auto first = listens()[0].at("id");
    cancel(json::value_to<std::int64_t>(first) + 100);
    cancel(first);
    ASSERT_TRUE(wait([&] { return listens().size() == 2; }));
    cancel(first);
    cancel(listens()[1].at("id"));
    EXPECT_TRUE(wait([&] { return listens().size() == 3; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

}  // namespace
}  // namespace patchbay::connection
