#include "protocol/handshake.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace patchbay::protocol {
namespace {

namespace json = boost::json;
using ::testing::_;
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

TEST(Handshake, APinnedLegacyRevisionThatIsRefusedIsNotGuessedAround) {
    Handshake handshake(kUs, "2025-11-25", "2025-06-18");
    ASSERT_THAT(handshake.start(), sends("initialize"));
    EXPECT_THAT(handshake.on_error("initialize", {-32601, "no", ""}),
                fails("server answers initialize with error -32601: no"));
}

TEST(Handshake, APinnedModernRevisionIsNotGivenUpForALegacyOne) {
    const auto pinned = [] { return Handshake(kUs, "2026-07-28"); };
    {
        auto handshake = pinned();
        ASSERT_THAT(handshake.start(), sends("server/discover"));
        EXPECT_THAT(handshake.on_error("server/discover",
                                       {-32022, "no", R"({"supported":["2025-11-25"]})"}),
                    AllOf(fails("server speaks 2025-11-25"), fails("2026-07-28 (pinned)")));
    }
    for (const auto& answer : {discovered({"2025-11-25"}), json::object{}}) {
        auto handshake = pinned();
        (void)handshake.start();
        EXPECT_THAT(handshake.on_result("server/discover", answer),
                    VariantWith<Error>(::testing::_));
    }
}

TEST(Handshake, ADiscoveryThatOffersOnlyLegacyRevisionsIsFollowedByInitialize) {
    for (const auto& answer :
         {discovered({"2025-11-25"}), json::object{{"supportedVersions", 1}}}) {
        Handshake handshake(kUs, "auto");
        (void)handshake.start();
        EXPECT_THAT(handshake.on_result("server/discover", answer), sends("initialize"));
    }
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2030-01-01", 7})),
                fails("server speaks 2030-01-01, Patchbay"));
}

TEST(Handshake, AModernErrorWithoutRevisionsIsTheLastWord) {
    for (const int code : {-32020, -32021, -32022}) {
        for (const char* data : {"", "[]", R"({"supported":[]})"}) {
            Handshake handshake(kUs, "auto");
            (void)handshake.start();
            EXPECT_THAT(handshake.on_error("server/discover", {code, "no", data}),
                        fails("server answers server/discover with error " + std::to_string(code)));
        }
    }
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    EXPECT_THAT(
        handshake.on_error("server/discover", {-32020, "no", R"({"supported":["2026-07-28"]})"}),
        fails("no protocol version in common"))
        << "only a refused version is asked for again";
}

TEST(Handshake, AProbeThatFailsAfterInitializeDidTellsOfTheHandshake) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    (void)handshake.on_silence();
    EXPECT_THAT(handshake.on_error("initialize", {-32603, "broken", ""}),
                VariantWith<Wait>(::testing::_));
    EXPECT_THAT(handshake.on_error("server/discover", {-32601, "no", ""}),
                fails("server answers initialize with error -32603: broken"));
}

TEST(Handshake, WhatCannotBeReadIsToldOfBothWays) {
    Handshake handshake(kUs, "auto");
    (void)handshake.start();
    ASSERT_THAT(handshake.on_unreadable("server/discover", "torn"), sends("initialize"));
    EXPECT_THAT(handshake.on_unreadable("initialize", "torn too"),
                AllOf(fails("its answer to initialize could not be read: torn too; its answer to "
                            "server/discover could not be read: torn")));
    Handshake pinned(kUs, "2026-07-28");
    (void)pinned.start();
    EXPECT_THAT(pinned.on_unreadable("server/discover", "torn"),
                fails("its answer to server/discover could not be read: torn"));
}

TEST(Handshake, NothingCountsAfterItIsSettled) {
    Handshake handshake(kUs, "auto", "2025-11-25");
    (void)handshake.start();
    ASSERT_THAT(handshake.on_result("initialize", initialized("2025-11-25")),
                agrees_on("2025-11-25"));
    const auto waits = VariantWith<Wait>(::testing::_);
    EXPECT_THAT(handshake.on_error("initialize", {-32601, "no", ""}), waits);
    EXPECT_THAT(handshake.on_refused("initialize", "no"), waits);
    EXPECT_THAT(handshake.on_unreadable("initialize", "no"), waits);
    EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})), waits);
}

TEST(Handshake, KeepsWhatTheServerSaysOfItself) {
    auto answer = initialized("2025-06-18");
    answer["instructions"] = "read me";
    answer["capabilities"] = {{"tools", json::object()}};
    Handshake legacy(kUs, "auto", "2025-06-18");
    (void)legacy.start();
    const auto old = std::get<Done>(legacy.on_result("initialize", answer)).session;
    EXPECT_EQ(old.era, Era::Legacy);
    EXPECT_EQ(old.server_info.at("name"), "s");
    EXPECT_EQ(old.instructions, "read me");
    EXPECT_TRUE(old.can("tools"));
    answer.erase("protocolVersion");
    Handshake other(kUs, "auto", "2025-06-18");
    (void)other.start();
    EXPECT_THAT(other.on_result("initialize", answer), fails("has no protocolVersion"));
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

// ---- the legacy era first

TEST(Handshake, AGuessOfTheLegacyEraIsInitializeAloneAndItsAnswerCounts) {
    Handshake handshake(kUs, "auto", {}, Era::Legacy);
    EXPECT_THAT(handshake.start(), sends("initialize"));
    EXPECT_TRUE(handshake.guessing());
    EXPECT_THAT(handshake.on_result("initialize", initialized("2025-06-18")),
                agrees_on("2025-06-18"));
    EXPECT_FALSE(handshake.guessing());
}

TEST(Handshake, AWrongGuessIsFollowedByTheProbe) {
    using Refuse = std::function<Handshake::Step(Handshake&)>;
    const Refuse refusals[] = {
        [](auto& h) {
            return h.on_error("initialize", {-32601, "no", ""});
        },
        [](auto& h) {
            return h.on_error("initialize", {-32022, "no", R"({"supported":["x"]})"});
        },
        [](auto& h) { return h.on_refused("initialize", "400"); },
        [](auto& h) { return h.on_unreadable("initialize", "a page"); },
        [](auto& h) { return h.on_result("initialize", initialized("1999-01-01")); },
        [](auto& h) { return h.on_silence(); },
    };
    for (const auto& refuse : refusals) {
        Handshake handshake(kUs, "auto", {}, Era::Legacy);
        (void)handshake.start();
        ASSERT_THAT(refuse(handshake), sends("server/discover"));
        EXPECT_THAT(handshake.on_result("server/discover", discovered({"2026-07-28"})),
                    agrees_on("2026-07-28"));
    }
}

TEST(Handshake, WhereBothAreRefusedThatOfInitializeIsTold) {
    Handshake handshake(kUs, "auto", {}, Era::Legacy);
    (void)handshake.start();
    (void)handshake.on_error("initialize", {-32000, "not today", ""});
    EXPECT_THAT(handshake.on_error("server/discover", {-32601, "no", ""}), fails("not today"));
}

TEST(Handshake, AnInitializeThatIsAnsweredBesideTheProbeStillCounts) {
    Handshake handshake(kUs, "auto", {}, Era::Legacy);
    (void)handshake.start();
    (void)handshake.on_silence();
    EXPECT_THAT(handshake.on_silence(), VariantWith<Wait>(_)) << "each is asked once";
    EXPECT_THAT(handshake.on_error("server/discover", {-32601, "no", ""}), VariantWith<Wait>(_));
    EXPECT_THAT(handshake.on_result("initialize", initialized("2025-11-25")),
                agrees_on("2025-11-25"));
}

TEST(Handshake, WhatIsRememberedOrPinnedIsNoMatterOfAGuess) {
    EXPECT_THAT(Handshake(kUs, "auto", "2026-07-28", Era::Legacy).start(),
                sends("server/discover"));
    EXPECT_THAT(Handshake(kUs, "2026-07-28", {}, Era::Legacy).start(), sends("server/discover"));
    EXPECT_FALSE(Handshake(kUs, "2025-11-25", {}, Era::Legacy).guessing());
}

}  // namespace
}  // namespace patchbay::protocol
