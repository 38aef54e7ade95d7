// Which era and which transport a server behind a URL turns out to speak.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class TransportChoice : public HttpConnectionTest {
protected:
    // An HTTP answer that is no JSON-RPC.
    void refuse(const char* method, unsigned status, int times = 1) {
        for (int i = 0; i < times; ++i)
            server.endings[method].push_back(
                FakeServer::problem(ErrorCode::Io, "HTTP " + std::to_string(status), status));
    }
    std::string failure() { return connection().status().last_error; }
    // Host and connection anew, memory kept.
    void start_over() {
        connection_.reset();
        server.received.clear();
        server.arrivals.clear();
        old_server.received.clear();
    }
};

class LegacyAnswers : public TransportChoice, public ::testing::WithParamInterface<unsigned> {};

TEST_P(LegacyAnswers, ToTheProbeLeadToInitializeOnTheSameChannel) {
    server.be_legacy({tool_named("a")});
    refuse("server/discover", GetParam());
    ASSERT_EQ(connect(), State::Ready) << failure();
    EXPECT_EQ(server.opened, 1);
    EXPECT_EQ(connection().status().protocol, "2025-11-25");
    start_over();
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(server.requests("server/discover").empty()) << "the era is remembered";
}
INSTANTIATE_TEST_SUITE_P(Statuses, LegacyAnswers, ::testing::Values(400, 404, 405, 406, 415));

TEST_F(TransportChoice, AnErrorWithoutIdIsTheProbesAnswer) {
    server.be_legacy({tool_named("a")});
    server.errors.clear();
    bool settled = false;
    connection().connect([&] { settled = true; });
    ASSERT_TRUE(wait([&] { return !server.arrivals.empty(); }));
    server.say_for(server.arrival("server/discover").exchange,
                   R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":null})");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::Ready) << failure();
}

TEST_F(TransportChoice, AStreamWithoutAnswerIsLegacyToo) {
    server.be_legacy({});
    server.endings["server/discover"].push_back(std::nullopt);
    EXPECT_EQ(connect(), State::Ready) << failure();
}

TEST_F(TransportChoice, AModernErrorIsNot) {
    server.errors["server/discover"] = {-32021, "capability missing"};
    ASSERT_EQ(connect(), State::Failed);
    EXPECT_TRUE(server.requests("initialize").empty());
    EXPECT_THAT(failure(), HasSubstr("-32021"));
}

TEST_F(TransportChoice, TroubleOnTheWayIsNoEvidence) {
    server.be_legacy({});
    refuse("server/discover", 503);
    ASSERT_EQ(connect(), State::Failed);
    EXPECT_EQ(failure(), "server \"s\": HTTP 503");
    EXPECT_TRUE(server.requests("initialize").empty());
    EXPECT_EQ(old_server.opened, 0);
}

class NoEvidence : public TransportChoice, public ::testing::WithParamInterface<unsigned> {};

TEST_P(NoEvidence, AreAnswersThatSayNothingOfTheEndpoint) {
    server.be_legacy({});
    server.endings["server/discover"].push_back(
        FakeServer::problem(ErrorCode::Protocol, "HTTP error", GetParam()));
    ASSERT_EQ(connect(), State::Failed);
    EXPECT_TRUE(server.requests("initialize").empty());
    EXPECT_EQ(old_server.opened, 0);
}
INSTANTIATE_TEST_SUITE_P(Statuses, NoEvidence, ::testing::Values(407, 408, 425, 429, 500, 502));

TEST_F(TransportChoice, APageForPeopleIsNoModernAnswer) {
    server.be_legacy({});
    server.endings["server/discover"].push_back(
        FakeServer::problem(ErrorCode::Protocol, "text/html", 200));
    EXPECT_EQ(connect(), State::Ready) << failure();
}

TEST_F(TransportChoice, TroubleOnTheWayIsTriedAgain) {
    long_lived = true;
    server.be_legacy({});
    refuse("server/discover", 503, 2);
    connection().connect({});
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(server.opened, 3);
}

class OldServers : public TransportChoice, public ::testing::WithParamInterface<unsigned> {};

TEST_P(OldServers, AreReachedBySse) {
    refuse("server/discover", GetParam());
    refuse("initialize", GetParam());
    old_server.be_legacy({tool_named("a")}, "2024-11-05");
    ASSERT_EQ(connect(), State::Ready) << failure();
    EXPECT_EQ(connection().status().transport, "sse");
    EXPECT_EQ(connection().status().fallback_from, "http");
    EXPECT_TRUE(old_server.requests("server/discover").empty()) << "sse has no modern era";
    start_over();
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(server.received.empty()) << "the transport is remembered";
}
INSTANTIATE_TEST_SUITE_P(Statuses, OldServers, ::testing::Values(400, 404, 405));

TEST_F(TransportChoice, WhatIsRememberedIsProbedAgainWhenItFails) {
    eras.known["key"] = {"2024-11-05", "sse"};
    old_server.refuse_open = true;
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready) << failure();
    EXPECT_EQ(old_server.opened, 1);
    EXPECT_EQ(connection().status().transport, "http");
    EXPECT_EQ(connection().status().fallback_from, "");
    EXPECT_EQ(eras.known["key"].transport, "");
    EXPECT_EQ(eras.known["key"].version, "2026-07-28");
}

TEST_F(TransportChoice, WithoutThatPluginTheFirstErrorStays) {
    has_sse = false;
    refuse("server/discover", 404);
    refuse("initialize", 404);
    ASSERT_EQ(connect(), State::Failed);
    EXPECT_EQ(failure(), "server \"s\": HTTP 404");
}

TEST_F(TransportChoice, FailuresOfEachTransportAreTold) {
    refuse("server/discover", 405);
    refuse("initialize", 405);
    old_server.refuse_open = true;
    old_server.open_error = "no endpoint event";
    ASSERT_EQ(connect(), State::Error);
    EXPECT_EQ(failure(), "server \"s\": http: HTTP 405; sse: no endpoint event");
    EXPECT_EQ(connection().status().transport, "http");
}

TEST_F(TransportChoice, FailuresOfAnEarlierAttemptAreNotToldAgain) {
    spec.config.fallback = {"sse"};
    server.refuse_open = old_server.refuse_open = true;
    for (int attempt = 1; attempt <= 2; ++attempt) {
        ASSERT_EQ(connect(), State::Error);
        EXPECT_EQ(server.opened, attempt);
        EXPECT_EQ(old_server.opened, attempt);
        EXPECT_EQ(failure(), "server \"s\": http: no such program; sse: no such program");
    }
}

TEST_F(TransportChoice, AConfiguredFallbackServesForOtherTroubleToo) {
    spec.config.fallback = {"sse"};
    refuse("server/discover", 503);
    old_server.be_legacy({tool_named("a")});
    const auto reply = [&] {
        old_server.results["tools/call"] = [](const auto&) -> json::value { return {{"by", 1}}; };
        return ask(call("a"));
    }();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(connection().status().fallback_from, "http");
}

TEST_F(TransportChoice, EachAttemptBeginsWithTheConfiguredOne) {
    long_lived = true;
    spec.config.fallback = {"sse"};
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().status().fallback_from, "");
    server.refuse_open = old_server.refuse_open = true;
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Error; }));
    EXPECT_THAT(failure(), HasSubstr("http: no such program; sse: no such program"));
    EXPECT_EQ(server.opened, 2);
    EXPECT_EQ(old_server.opened, 1);
    server.refuse_open = false;
    EXPECT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.opened, 3);
    EXPECT_EQ(connection().status().pending, 0u);
}

TEST_F(TransportChoice, NothingOfATransportThatFailedIsLeft) {
    server.be_http();
    server.request_scoped = false;
    spec.config.fallback = {"sse"};
    server.leave_on_discover = true;
    server.on_request = [&](const std::string& method) {
        if (method == "initialize") server.crash("exited again");
    };
    old_server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().status().fallback_from, "http");
    EXPECT_EQ(connection().status().pending, 0u);
}

TEST_F(TransportChoice, AConfiguredFallbackReplacesTheImplicitOne) {
    spec.config.fallback = {"ws"};
    has_sse = true;
    server.refuse_open = true;
    ASSERT_EQ(connect(), State::Error);
    EXPECT_EQ(server.opened, 2) << "http and ws";
    EXPECT_EQ(old_server.opened, 0);
}

TEST_F(TransportChoice, DeniedIsNoReasonForAnotherTransport) {
    spec.config.fallback = {"sse"};
    server.endings["server/discover"].push_back(
        FakeServer::problem(ErrorCode::Denied, "address is not allowed"));
    connect();
    EXPECT_EQ(old_server.opened, 0);
    EXPECT_THAT(failure(), HasSubstr("address is not allowed"));
}

TEST_F(TransportChoice, APinnedModernRevisionDoesNotFallBack) {
    spec.config.protocol = "2026-07-28";
    refuse("server/discover", 404);
    has_sse = false;
    ASSERT_NE(connect(), State::Ready);
    EXPECT_THAT(failure(), HasSubstr("HTTP 404"));
    EXPECT_THAT(failure(), HasSubstr("pinned by `protocol`"));
    EXPECT_TRUE(server.requests("initialize").empty());
}

TEST_F(TransportChoice, ALossAfterAFallbackIsALoss) {
    spec.config.fallback = {"sse"};
    refuse("server/discover", 503);
    old_server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    old_server.crash("gone");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(failure(), "server \"s\": connection lost: gone");
    EXPECT_EQ(old_server.opened, 1);
}

TEST_F(TransportChoice, ATransportThatDoesNotLetGoIsTheLastThatIsTried) {
    spec.config.fallback = {"sse"};
    spec.config.startup_timeout = 5ms;
    server.request_scoped = false;
    server.holds_on = true;
    EXPECT_EQ(connect(), State::Error);
    EXPECT_THAT(failure(), HasSubstr("no answer to the handshake within 5 ms"));
    server.let_go();
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(old_server.opened, 0);
}

}  // namespace
}  // namespace patchbay::connection
