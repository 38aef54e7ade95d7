#include "protocol/handshake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::VariantWith;
using Send = Handshake::Send;
using Wait = Handshake::Wait;
using Done = Handshake::Done;

const ClientIdentity kUs{{{"name", "patchbay"}, {"version", "1"}}, {}};

auto sends(const std::string& method) {
    return VariantWith<Send>(Field(&Send::method, method));
}
auto fails(const std::string& text) {
    return VariantWith<Error>(Field(&Error::message, HasSubstr(text)));
}
auto agrees_on(const std::string& version) {
    return VariantWith<Done>(Field(&Done::session, Field(&Session::version, version)));
}
json::object discovered(std::initializer_list<json::value_ref> versions) {
    return {{"resultType", "complete"},
            {"supportedVersions", json::array(versions)},
            {"capabilities", {{"tools", json::object()}}}};
}
json::object initialized(const char* version) {
    return {{"protocolVersion", version},
            {"capabilities", json::object()},
            {"serverInfo", {{"name", "s"}, {"version", "2"}}}};
}

TEST(Handshake, ProbesFirstAndStaysModernWhenTheServerIs) {
    Handshake handshake(kUs, "auto");
    const auto first = handshake.start();
    ASSERT_THAT(first, sends("server/discover"));
    EXPECT_THAT(std::get<Send>(first).params.meta,
                AllOf(HasSubstr("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""),
                      HasSubstr("clientInfo"), HasSubstr("clientCapabilities")));
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                agrees_on("2026-07-28"));
}

TEST(Handshake, FallsBackToInitializeOnAnyErrorThatIsNotModern) {
    for (const int code : {-32601, -32602, -32600, -32000, -32001}) {
        Handshake handshake(kUs, "auto");
        (void)handshake.start();
        ASSERT_THAT(handshake.on_error("server/discover", {code, "no", ""}), sends("initialize"));
        EXPECT_THAT(handshake.on_result("initialize", initialized("2025-06-18")),
                    agrees_on("2025-06-18"));
    }
}

TEST(Handshake, AsksBothWaysWhenTheProbeMeetsSilence) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    ASSERT_THAT(handshake.on_silence(), sends("initialize"));
    EXPECT_THAT(handshake.on_silence(), VariantWith<Wait>(::testing::_)) << "only once";
    EXPECT_THAT(handshake.on_result("initialize", initialized("2025-11-25")),
                agrees_on("2025-11-25"));
    EXPECT_THAT(handshake.on_error("server/discover", {-32601, "late", ""}),
                VariantWith<Wait>(::testing::_));
}

TEST(Handshake, ASlowModernServerIsStillRecognisedAfterSilence) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    (void)handshake.on_silence();
    EXPECT_THAT(handshake.on_error("initialize", {-32601, "no", ""}),
                VariantWith<Wait>(::testing::_));
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                agrees_on("2026-07-28"));
}

TEST(Handshake, AnAcceptedInitializeTakesModernBack) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    (void)handshake.on_silence();
    EXPECT_FALSE(handshake.ambiguous());
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                agrees_on("2026-07-28"));
    EXPECT_TRUE(handshake.ambiguous());
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                VariantWith<Wait>(::testing::_));
    EXPECT_THAT(handshake.on_result("initialize", initialized("2025-11-25")),
                agrees_on("2025-11-25"));
    EXPECT_FALSE(handshake.ambiguous());
    EXPECT_THAT(handshake.on_result("initialize", initialized("2025-11-25")),
                VariantWith<Wait>(::testing::_));
}

TEST(Handshake, ARefusedInitializeLeavesModern) {
    for (const bool before : {true, false}) {
        Handshake handshake(kUs, "auto");
        (void)handshake.start();
        (void)handshake.on_silence();
        if (before) (void)handshake.on_error("initialize", {-32601, "no", ""});
        EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                    agrees_on("2026-07-28"));
        EXPECT_EQ(handshake.ambiguous(), !before);
        if (!before) (void)handshake.on_error("initialize", {-32601, "no", ""});
        EXPECT_FALSE(handshake.ambiguous());
    }
}

TEST(Handshake, AnInitializeThatOffersNothingOfOursLeavesModern) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    (void)handshake.on_silence();
    (void)handshake.on_result("server/discover", discovered({"2026-07-28"}));
    EXPECT_THAT(handshake.on_result("initialize", initialized("1999-01-01")),
                VariantWith<Wait>(::testing::_));
    EXPECT_FALSE(handshake.ambiguous());
}

TEST(Handshake, ExpectsModernWhereThatIsRememberedAndNothingIsPinned) {
    EXPECT_TRUE(Handshake(kUs, "auto", "2026-07-28").expects_modern());
    EXPECT_FALSE(Handshake(kUs, "auto", "2025-11-25").expects_modern());
    EXPECT_FALSE(Handshake(kUs, "auto").expects_modern());
    EXPECT_FALSE(Handshake(kUs, "2025-11-25", "2026-07-28").expects_modern());
}

TEST(Handshake, NamesBothSidesVersionsWhenThereIsNoneInCommon) {
    {
        Handshake handshake(kUs, "auto", "2025-11-25");
        ASSERT_THAT(handshake.start(), sends("initialize"));
        EXPECT_THAT(handshake.on_result("initialize", initialized("1999-01-01")),
                    AllOf(fails("server speaks 1999-01-01"),
                          fails("Patchbay speaks 2026-07-28, 2025-11-25")));
    }
    {
        Handshake handshake(kUs, "auto");
        (void)handshake.start();
        EXPECT_THAT(handshake.on_error("server/discover",
                                       {-32022, "no", R"({"supported":["2030-01-01"]})"}),
                    fails("server speaks 2030-01-01"));
    }
}

TEST(Handshake, AModernServerThatKnowsALegacyRevisionIsAskedForIt) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    EXPECT_THAT(
        handshake.on_error("server/discover", {-32022, "no", R"({"supported":["2025-11-25"]})"}),
        sends("initialize"));
}

TEST(Handshake, AServerThatRefusesWhatItSaysItSpeaksIsAskedOnceMore) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    const RpcError refusal{-32022, "no", R"({"supported":["2026-07-28"]})"};
    EXPECT_THAT(handshake.on_error("server/discover", refusal), sends("server/discover"));
    EXPECT_THAT(handshake.on_error("server/discover", refusal), fails("server speaks 2026-07-28"));
}

TEST(Handshake, APinnedRevisionIsTheOnlyOneTried) {
    {
        Handshake handshake(kUs, "2025-03-26");
        const auto first = handshake.start();
        ASSERT_THAT(first, sends("initialize"));
        EXPECT_THAT(std::get<Send>(first).params.members,
                    HasSubstr("\"protocolVersion\":\"2025-03-26\""));
        EXPECT_THAT(handshake.on_result("initialize", initialized("2024-11-05")),
                    fails("2025-03-26 (pinned)"));
    }
    {
        Handshake handshake(kUs, "2026-07-28");
        (void)handshake.start();
        EXPECT_THAT(handshake.on_error("server/discover", {-32601, "what?", ""}),
                    fails("pinned by `protocol`"));
    }
}

TEST(Handshake, WhatWasRememberedWronglyCostsOneRoundTrip) {
    Handshake handshake(kUs, "auto", "2025-11-25");
    ASSERT_THAT(handshake.start(), sends("initialize"));
    ASSERT_THAT(handshake.on_error("initialize", {-32601, "modern now", ""}),
                sends("server/discover"));
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                agrees_on("2026-07-28"));
}

TEST(Session, KnowsCapabilitiesAndTheirFeatures) {
    Session session;
    session.capabilities = {{"tools", {{"listChanged", true}}}, {"resources", json::object()}};
    EXPECT_TRUE(session.can("tools"));
    EXPECT_TRUE(session.can("tools", "listChanged"));
    EXPECT_FALSE(session.can("resources", "listChanged"));
    EXPECT_FALSE(session.can("prompts"));
}

}  // namespace
}  // namespace patchbay::protocol
