// What holds for every session, said to sessions that only exist.
#include "connection/wishes.hpp"

#include "support/turned_loop.hpp"
#include "unit/connection/scripted_requests.hpp"

#include <gmock/gmock.h>

namespace patchbay::connection {
namespace {

using ::testing::Contains;
using ::testing::Not;

class WishesTest : public ::testing::Test, public WishesOwner {
protected:
    RequestId request(CallerNumber, Request&& request, ReplyHandler&& handler) override {
        return callers.ask(std::move(request), {}, std::move(handler));
    }
    void on_resources_wanted() override { ++listened; }
    void be(protocol::Era era) {
        link.session.emplace().era = era;
        link.session->capabilities = {{"resources", {{"subscribe", true}}},
                                      {"logging", boost::json::object()}};
        wishes.renew();
    }
    ReplyHandler note() {
        return [this](const Result<Reply>& reply) { ends += reply && reply->error.empty(); };
    }
    std::vector<std::string> said() const {
        std::vector<std::string> methods;
        for (const auto& each : own.asked) methods.push_back(each.request.method);
        return methods;
    }

    test::TurnedLoop loop;
    Terms terms;
    config::Server server;
    Link link;
    ScriptedRequests own, callers;
    int listened = 0, ends = 0;
    Wishes wishes{loop, terms, terms.identity, server, link, own, *this};
};

TEST_F(WishesTest, ALegacySessionIsToldAgainOfWhatTheOneBeforeTook) {
    be(protocol::Era::Legacy);
    wishes.subscribe(1, "file:///a", true, note());
    wishes.subscribe(1, "file:///b", true, note());
    callers.end(1, Reply{});
    callers.end(2, Error{ErrorCode::Timeout, "late"});
    be(protocol::Era::Legacy);
    EXPECT_THAT(said(), ElementsAre("resources/subscribe"));
    EXPECT_THAT(own.asked[0].request.params.members, HasSubstr("file:///a"));
}

TEST_F(WishesTest, AModernSessionIsListenedToForThem) {
    be(protocol::Era::Modern);
    wishes.subscribe(1, "file:///a", true, note());
    EXPECT_THAT(wishes.resources(), ElementsAre("file:///a"));
    EXPECT_EQ(ends, 0) << "never from inside the call";
    EXPECT_TRUE(loop.run_until([&] { return ends == 1; }));
    EXPECT_EQ(listened, 1);
    wishes.subscribe(1, "file:///a", false, note());
    EXPECT_THAT(wishes.resources(), IsEmpty());
    EXPECT_THAT(callers.asked, IsEmpty());
}

TEST_F(WishesTest, WhatAModernSessionTookAndMarkedIsSaidToALegacyOneAfterIt) {
    be(protocol::Era::Modern);
    wishes.subscribe(1, "file:///a", true, note());
    wishes.set_log_level(1, "debug", note());
    EXPECT_THAT(link.meta_for(1), HasSubstr("logLevel"));
    EXPECT_THAT(link.meta_for(0), HasSubstr("logLevel")) << "what is everybody's tells most";
    EXPECT_THAT(link.meta_for(2), Not(HasSubstr("logLevel")));
    be(protocol::Era::Legacy);
    EXPECT_THAT(said(), ElementsAre("logging/setLevel", "resources/subscribe"));
    EXPECT_THAT(own.asked[1].request.params.members, HasSubstr("file:///a"));
    EXPECT_THAT(link.meta_for(1), IsEmpty());
}

TEST_F(WishesTest, ASchemeAloneIsHeldOfNothingElse) {
    be(protocol::Era::Modern);
    const char* wide[] = {"file:", "file:/", "file://", "file:///", "https:/", "x", ""};
    for (CallerNumber caller = 1; const auto* uri : wide)
        wishes.subscribe(caller++, uri, true, note());
    wishes.subscribe(20, "file:///home/", true, note());
    wishes.subscribe(21, "file:///home/a", true, note());
    EXPECT_THAT(wishes.holders_of("file:///home/a/b"), ElementsAre(20u, 21u));
    EXPECT_THAT(wishes.holders_of("file:///home/ab"), ElementsAre(20u));
    EXPECT_THAT(wishes.holders_of("x/y"), IsEmpty());
    EXPECT_THAT(wishes.holders_of("x"), ElementsAre(6u));
}

TEST_F(WishesTest, WhoGoesIsListenedForNoMoreUnlessOthersHoldTheSame) {
    be(protocol::Era::Modern);
    wishes.subscribe(1, "file:///a", true, note());
    wishes.subscribe(2, "file:///a", true, note());
    ASSERT_TRUE(loop.run_until([&] { return listened == 1 && ends == 2; }));
    const auto turn = [&] {
        bool turned = false;
        loop.defer([&] { turned = true; });
        return loop.run_until([&] { return turned; });
    };
    wishes.release(1);
    ASSERT_TRUE(turn());
    EXPECT_EQ(listened, 1);
    wishes.release(2);
    ASSERT_TRUE(turn());
    EXPECT_EQ(listened, 2);
}

TEST_F(WishesTest, ManySubscriptionsOfOneTurnAreListenedForOnce) {
    be(protocol::Era::Modern);
    for (int i = 0; i < 100; ++i) wishes.subscribe(1, "file:///" + std::to_string(i), true, note());
    EXPECT_TRUE(loop.run_until([&] { return ends == 100; }));
    EXPECT_EQ(listened, 1);
}

TEST_F(WishesTest, ACallerHoldsSoManySubscriptionsAndNoMore) {
    terms.limits.subscriptions = 2;
    for (const auto era : {protocol::Era::Modern, protocol::Era::Legacy}) {
        be(era);
        std::vector<std::string> refused;
        const auto hear = [&](const Result<Reply>& reply) {
            refused.push_back(reply ? "" : reply.error().message);
        };
        const std::string name = era == protocol::Era::Modern ? "m" : "l";
        const CallerNumber greedy = era == protocol::Era::Modern ? 1 : 2;
        for (const char* which : {"a", "b", "a", "c"})
            wishes.subscribe(greedy, name + which, true, hear);
        wishes.subscribe(7, name + "c", true, hear);
        wishes.subscribe(greedy, std::string(core::kMostUriBytes + 1, 'u'), true, hear);
        loop.run_until([&] { return refused.size() >= (era == protocol::Era::Modern ? 6u : 2u); });
        EXPECT_THAT(refused,
                    Contains("2 resources are subscribed to already (limit subscriptions)"));
        EXPECT_THAT(refused, Contains(HasSubstr("a URI of 8193 bytes cannot be subscribed to")));
        EXPECT_EQ(std::count_if(refused.begin(), refused.end(),
                                [](const auto& why) { return !why.empty(); }),
                  2);
        EXPECT_THAT(wishes.resources(), Not(Contains(std::string(core::kMostUriBytes + 1, 'u'))));
        wishes.release(7);
    }
}

TEST_F(WishesTest, WhatACallerLetsGoOfIsRoomForAnother) {
    terms.limits.subscriptions = 1;
    be(protocol::Era::Modern);
    wishes.subscribe(1, "file:///a", true, note());
    wishes.subscribe(1, "file:///a", false, note());
    wishes.subscribe(1, "file:///b", true, note());
    EXPECT_THAT(wishes.resources(), ElementsAre("file:///b"));
    wishes.release(1);
    wishes.subscribe(1, "file:///c", true, note());
    wishes.subscribe(1, "file:///d", true, note());
    EXPECT_THAT(wishes.resources(), ElementsAre("file:///c"));
}

TEST_F(WishesTest, TheLogLevelIsSaidToALegacySessionAndMarkedInAModernOne) {
    be(protocol::Era::Legacy);
    wishes.set_log_level(1, "debug", note());
    callers.answer("{}");
    be(protocol::Era::Legacy);
    EXPECT_THAT(said(), ElementsAre("logging/setLevel"));
    EXPECT_THAT(link.meta, IsEmpty());
    be(protocol::Era::Modern);
    EXPECT_THAT(said(), ElementsAre("logging/setLevel"));
    EXPECT_THAT(link.meta, HasSubstr("\"io.modelcontextprotocol/logLevel\":\"debug\""));
}

TEST_F(WishesTest, OfACallerThatGoesNothingIsSaidOverAChannelThatIsLost) {
    be(protocol::Era::Legacy);
    wishes.set_log_level(1, "debug", note());
    wishes.set_log_level(2, "error", note());
    wishes.subscribe(1, "file:///a", true, note());
    link.lost = Lost{{ErrorCode::Unavailable, "gone"}, true};
    wishes.release(1);
    EXPECT_THAT(said(), IsEmpty());
    be(protocol::Era::Legacy);
    ASSERT_THAT(said(), ElementsAre("logging/setLevel"));
    EXPECT_THAT(own.asked[0].request.params.members, HasSubstr("error")) << "to the next session";
}

TEST_F(WishesTest, ALevelThatTheServerRefusesIsNotSaidAgain) {
    be(protocol::Era::Legacy);
    wishes.set_log_level(1, "debug", note());
    callers.refuse(R"({"code":-32602,"message":"no such level"})");
    be(protocol::Era::Modern);
    EXPECT_THAT(link.meta, Not(HasSubstr("logLevel")));
}

}  // namespace
}  // namespace patchbay::connection
