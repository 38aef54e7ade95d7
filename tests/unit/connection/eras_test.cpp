// Which revision is spoken with a server that answers late, twice, or both ways.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class EraOfAServer : public ConnectionTest {
protected:
    // Speaks both eras, but says nothing until the test answers.
    EraOfAServer() {
        server.be_legacy({tool_named("a")});
        server.errors.clear();
        server.results.erase("initialize");
    }
    void begin_to_connect() {
        connection().connect([this] { settled = true; });
    }
    std::int64_t id_of(const char* method) {
        EXPECT_TRUE(wait([&] { return !server.requests(method).empty(); })) << method;
        return server.requests(method).at(0).at("id").as_int64();
    }
    void answer_discover() {
        server.answer(id_of("server/discover"),
                      R"({"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],)"
                      R"("capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"})");
    }
    void answer_initialize() {
        server.answer(id_of("initialize"),
                      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
    }
    void elicit() {
        server.received.clear();
        server.say(R"({"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}})");
        server.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
        ASSERT_TRUE(wait([&] { return !caller.methods().empty(); }));
    }
    // Whether `initialize` had been sent when that long has passed.
    bool asked_both_after(std::chrono::milliseconds time) {
        std::optional<bool> both;
        loop.after(time, [&] { both = !server.requests("initialize").empty(); });
        EXPECT_TRUE(wait([&] { return both.has_value(); }));
        return *both;
    }
    bool settled = false;
};

TEST_F(EraOfAServer, AServerThatAnswersBothIsServedAsTheLegacyOneThatItHasSettledOn) {
    begin_to_connect();
    id_of("initialize");  // beside the probe, which is not answered yet
    answer_discover();
    answer_initialize();
    ASSERT_TRUE(wait([&] { return settled; }));
    ASSERT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(connection().status().protocol, "2025-11-25");
    EXPECT_EQ(eras.known["key"].version, "2025-11-25");
    EXPECT_EQ(server.requests("notifications/initialized").size(), 1u);
    EXPECT_FALSE(server.requests("tools/list").back().contains("params")) << "no _meta";
    elicit();
    ASSERT_EQ(server.received.size(), 1u);
    EXPECT_EQ(server.received[0].at("result").at("action"), "accept");
}

TEST_F(EraOfAServer, ItsAnswerToInitializeMayComeWhenItIsReadyAlready) {
    begin_to_connect();
    id_of("initialize");
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    ASSERT_EQ(connection().status().protocol, "2026-07-28");
    answer_initialize();
    ASSERT_TRUE(wait([&] { return connection().status().protocol == "2025-11-25"; }));
    ASSERT_TRUE(wait([&] { return events.tool_changes == 2; }));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(connection().tools().size(), 1u);
    EXPECT_FALSE(server.requests("tools/list").back().contains("params"));
}

TEST_F(EraOfAServer, ASubscriptionMovesToTheRevisionThatItSettlesOn) {
    begin_to_connect();
    const auto id = id_of("initialize");
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    bool taken = false;
    connection().subscribe(caller, "file:///a", true,
                           [&](Result<Reply> reply) { taken = bool(reply); });
    ASSERT_TRUE(wait([&] { return taken; }));
    server.answer(id, R"({"protocolVersion":"2025-11-25",)"
                      R"("capabilities":{"tools":{},"resources":{"subscribe":true}}})");
    ASSERT_TRUE(wait([&] { return !server.requests("resources/subscribe").empty(); }));
    const auto asked_for = server.requests("resources/subscribe").at(0).at("params").at("uri");
    EXPECT_EQ(asked_for, "file:///a");
    EXPECT_EQ(server.requests("notifications/initialized").size(), 1u);
}

TEST_F(ConnectionTest, ASubscriptionIsMadeAgainInTheNextSession) {
    long_lived = true;
    server.be_legacy({});
    server.results["initialize"] = [](const json::object&) -> json::value {
        return json::object{{"protocolVersion", "2025-11-25"},
                            {"capabilities", {{"resources", {{"subscribe", true}}}}}};
    };
    for (const char* method : {"resources/subscribe", "resources/unsubscribe"})
        server.results[method] = [](const json::object&) -> json::value { return json::object(); };
    ASSERT_EQ(connect(), State::Ready);
    int answered = 0;
    for (const auto* uri : {"file:///a", "file:///b"})
        connection().subscribe(caller, uri, true, [&](const Result<Reply>&) { ++answered; });
    ASSERT_TRUE(wait([&] { return answered == 2; }));
    connection().subscribe(caller, "file:///a", false, [&](const Result<Reply>&) { ++answered; });
    ASSERT_TRUE(wait([&] { return answered == 3; }));
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return server.requests("resources/subscribe").size() == 3; }));
    const auto again = server.requests("resources/subscribe").at(2).at("params").at("uri");
    EXPECT_EQ(again, "file:///b");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
}

TEST_F(EraOfAServer, WhatItAnswersFirstCountsWhenThatIsInitialize) {
    begin_to_connect();
    id_of("initialize");
    answer_initialize();
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2025-11-25");
    EXPECT_EQ(server.requests("tools/list").size(), 1u);
}

TEST_F(EraOfAServer, AsLongAsInitializeIsOpenItsRequestsAreAnswered) {
    begin_to_connect();
    id_of("initialize");
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    elicit();
    ASSERT_EQ(server.received.size(), 1u);
    EXPECT_EQ(server.received[0].at("id"), "e");
    EXPECT_EQ(server.received[0].at("result").at("action"), "accept");
}

TEST_F(EraOfAServer, AModernServerThatRefusesInitializeStaysModern) {
    begin_to_connect();
    const auto id = id_of("initialize");
    answer_discover();
    server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
               R"(,"error":{"code":-32601,"message":"no"}})");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2026-07-28");
    elicit();
    EXPECT_TRUE(server.received.empty()) << "this revision knows no requests of servers";
    EXPECT_EQ(connection().status().malformed, 1u);
}

TEST_F(EraOfAServer, ANonsensicalAnswerToInitializeChangesNothing) {
    for (const char* nonsense : {"[]", "{}", R"({"protocolVersion":"1999-01-01"})"}) {
        connection_.reset();
        server.received.clear();
        eras.known.clear();
        settled = false;
        begin_to_connect();
        const auto id = id_of("initialize");
        answer_discover();
        server.answer(id, nonsense);
        ASSERT_TRUE(wait([&] { return settled; }));
        EXPECT_EQ(connection().state(), State::Ready);
        EXPECT_EQ(connection().status().protocol, "2026-07-28") << nonsense;
    }
}

// ---- how long the probe is alone

TEST_F(EraOfAServer, AChildThatHasSaidNothingYetIsGivenTimeToStart) {
    begin_to_connect();
    server.fact("pid", "7");
    EXPECT_FALSE(asked_both_after(400ms));
    server.write_stderr("listening");
    id_of("initialize");
    EXPECT_EQ(server.requests("server/discover").size(), 1u);
}

TEST_F(EraOfAServer, AChildThatStaysSilentIsAskedBothWaysInTheEnd) {
    begin_to_connect();
    server.fact("pid", "7");
    id_of("initialize");
    answer_initialize();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2025-11-25");
}

TEST_F(EraOfAServer, OneThatWasModernTheLastTimeIsWaitedFor) {
    eras.known["key"] = {"2026-07-28", ""};
    begin_to_connect();
    EXPECT_FALSE(asked_both_after(400ms));
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2026-07-28");
    EXPECT_TRUE(server.requests("initialize").empty());
}

TEST_F(EraOfAServer, TheTimeAloneLeavesEnoughOfTheLimitForInitialize) {
    eras.known["key"] = {"2026-07-28", ""};
    spec.config.startup_timeout = 3s;
    begin_to_connect();
    id_of("initialize");
    answer_initialize();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

// ---- who prefers the legacy era (decision 29)

class WhoPrefersTheLegacyEra : public EraOfAServer {
protected:
    WhoPrefersTheLegacyEra() { preferred = protocol::Era::Legacy; }
};

TEST_F(WhoPrefersTheLegacyEra, GetsItWithoutAProbe) {
    begin_to_connect();
    answer_initialize();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2025-11-25");
    EXPECT_TRUE(server.requests("server/discover").empty());
    EXPECT_EQ(eras.known_legacy["key"].version, "2025-11-25");
    EXPECT_TRUE(eras.known.empty()) << "whether it speaks the other one is not known";
}

TEST_F(WhoPrefersTheLegacyEra, IsProbedForWhereThatIsRefusedAndRemembersIt) {
    begin_to_connect();
    server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id_of("initialize")) +
               R"(,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}})");
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2026-07-28");
    EXPECT_EQ(eras.known_legacy["key"].version, "2026-07-28");
    connection_.reset();
    server.received.clear();
    settled = false;
    begin_to_connect();
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_TRUE(server.requests("initialize").empty()) << "it is known";
}

TEST_F(WhoPrefersTheLegacyEra, WaitsLongForTheAnswerBeforeItProbes) {
    begin_to_connect();
    id_of("initialize");
    pass(9s);
    EXPECT_TRUE(server.requests("server/discover").empty());
    server.write_stderr("still starting");
    answer_discover();  // once it is asked
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2026-07-28");
    EXPECT_EQ(server.requests("initialize").size(), 1u);
}

TEST_F(WhoPrefersTheLegacyEra, KnowsALegacyServerFromWhoPreferredTheOther) {
    eras.known["key"] = {"2025-06-18", ""};
    begin_to_connect();
    answer_initialize();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_TRUE(server.requests("server/discover").empty());
}

TEST_F(WhoPrefersTheLegacyEra, AServerThatLeavesAtInitializeIsStartedOnceMoreWithTheProbe) {
    begin_to_connect();
    id_of("initialize");
    server.received.clear();
    server.crash("unknown method");
    answer_discover();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().protocol, "2026-07-28");
    EXPECT_EQ(server.opened, 2);
}

TEST_F(WhoPrefersTheLegacyEra, AServerThatLeavesEitherWayHasFailedAfterTwoStarts) {
    begin_to_connect();
    id_of("initialize");
    server.crash("no");
    id_of("server/discover");
    server.crash("no again");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_NE(connection().state(), State::Ready);
    EXPECT_EQ(server.opened, 2);
}

}  // namespace
}  // namespace patchbay::connection
