// Which transport comes next, without opening one.
#include "connection/transport_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {
namespace {

class TransportDecision : public ::testing::Test {
protected:
    TransportDecision() {
        server.id = "s";
        server.transport = "http";
    }
    bool fail(const std::string& why, ErrorCode code = ErrorCode::Unavailable) {
        error = {code, why};
        return choice.next(error);
    }

    config::Server server;
    TransportChoice choice{server};
    Error error{ErrorCode::Unavailable, ""};
};

TEST_F(TransportDecision, TheConfiguredOneComesFirstThenItsFallbacksInOrder) {
    server.fallback = {"ws", "tcp"};
    choice.begin({}, true);
    EXPECT_EQ(choice.current(), "http");
    EXPECT_TRUE(fail("no"));
    EXPECT_EQ(choice.current(), "ws");
    EXPECT_TRUE(fail("nor this"));
    EXPECT_EQ(choice.current(), "tcp");
    EXPECT_FALSE(fail("nothing"));
    EXPECT_EQ(error.message, "http: no; ws: nor this; tcp: nothing");
}

TEST_F(TransportDecision, OneThatHasLedToASessionIsTheRightOneUntilItIsOpenedAnew) {
    server.fallback = {"ws"};
    choice.begin({}, false);
    EXPECT_TRUE(fail("no"));
    choice.session_agreed();
    EXPECT_FALSE(fail("gone"));
    EXPECT_EQ(error.message, "gone") << "what failed before it is no news";
    EXPECT_EQ(choice.agreed(), "ws");
    choice.begin({}, false);
    EXPECT_EQ(choice.agreed(), "ws") << "nothing is opened yet";
    choice.opening();
    EXPECT_EQ(choice.agreed(), "");
    EXPECT_TRUE(fail("no"));
}

TEST_F(TransportDecision, OneAloneTellsItsFailureAsItIs) {
    choice.begin({}, false);
    EXPECT_FALSE(fail("no"));
    EXPECT_EQ(error.message, "no");
}

TEST_F(TransportDecision, WhatIsKnownComesFirstAndTheRestFromTheStart) {
    server.fallback = {"ws", "tcp"};
    choice.begin({"2025-11-25", "ws"}, false);
    EXPECT_EQ(choice.current(), "ws");
    EXPECT_TRUE(fail("gone"));
    EXPECT_EQ(choice.current(), "http");
    EXPECT_TRUE(fail("gone"));
    EXPECT_EQ(choice.current(), "tcp");
}

TEST_F(TransportDecision, WhatIsKnownCountsNoMoreOnceItIsNotConfigured) {
    server.fallback = {"tcp"};
    choice.begin({"2025-11-25", "ws"}, true);
    EXPECT_EQ(choice.current(), "http");
    choice.begin({"2025-11-25", "sse"}, true);
    EXPECT_EQ(choice.current(), "http") << "a configured fallback replaces the implicit one";
}

TEST_F(TransportDecision, TheOldTransportFollowsTheStatusesThatMeanIt) {
    for (const unsigned status : {400u, 404u, 405u, 401u, 500u, 0u}) {
        choice.begin({}, true);
        choice.opening();
        choice.initialize_refused(status);
        const bool meant = status == 400 || status == 404 || status == 405;
        EXPECT_EQ(fail("no"), meant) << status;
        EXPECT_EQ(choice.current(), meant ? "sse" : "http") << status;
    }
}

TEST_F(TransportDecision, AStatusOfAnEarlierChannelCountsNoMore) {
    choice.begin({}, true);
    choice.initialize_refused(404);
    choice.opening();
    EXPECT_FALSE(fail("no"));
}

TEST_F(TransportDecision, TheOldTransportIsOnlyForAServerBehindHttpThatHasAPluginForIt) {
    choice.begin({}, false);
    choice.initialize_refused(404);
    EXPECT_FALSE(fail("no"));
    server.transport = "ws";
    choice.begin({}, true);
    choice.initialize_refused(404);
    EXPECT_FALSE(fail("no"));
}

TEST_F(TransportDecision, NoOtherIsTriedForWhatAnyWouldMeet) {
    server.fallback = {"ws"};
    for (const auto code : {ErrorCode::AuthRequired, ErrorCode::Denied, ErrorCode::Invalid}) {
        choice.begin({}, true);
        EXPECT_FALSE(fail("no", code));
        EXPECT_EQ(choice.current(), "http");
    }
}

TEST_F(TransportDecision, ARevisionIsRememberedOfTheTransportItWasAgreedOnBy) {
    server.fallback = {"ws", "sse"};
    choice.begin({}, true);
    EXPECT_EQ(choice.remembered_version({"2026-07-28", ""}), "2026-07-28");
    EXPECT_EQ(choice.remembered_version({"2026-07-28", "ws"}), "");
    choice.begin({"2026-07-28", "ws"}, true);
    EXPECT_EQ(choice.remembered_version({"2026-07-28", "ws"}), "2026-07-28");
    choice.begin({"2026-07-28", "sse"}, true);
    EXPECT_EQ(choice.remembered_version({"2026-07-28", "sse"}), "2025-11-25")
        << "which is never modern";
}

TEST_F(TransportDecision, OnlyWhatSpeaksOfTheEndpointIsAHintAtTheOtherEra) {
    for (const unsigned status : {400u, 404u, 405u, 406u, 415u, 422u})
        EXPECT_TRUE(is_legacy_hint(status)) << status;
    for (const unsigned status : {0u, 200u, 401u, 403u, 407u, 408u, 425u, 429u, 500u, 503u})
        EXPECT_FALSE(is_legacy_hint(status)) << status;
}

}  // namespace
}  // namespace patchbay::connection
