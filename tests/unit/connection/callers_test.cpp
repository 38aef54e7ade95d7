// Several callers on one connection, and whose what the server says is.
#include "unit/connection/two_callers.hpp"

namespace patchbay::connection {
namespace {

TEST_F(BehindHttp, AQuestionIsAskedOfTheCallerWhoseExchangeItCameOn) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    call_by(caller);
    const auto second = call_by(other);
    server.say_for(second, question("q"));
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_THAT(caller.asked, IsEmpty());
    other.asked[0].answer(json::object{{"roots", json::array()}});
    EXPECT_EQ(answer_to("q").at("result"), json::parse(R"({"roots":[]})"));
    close();
}

TEST_F(BehindHttp, AQuestionOfNoExchangeIsForTheOnlyCallerWithACallInFlight) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    const auto first = call_by(caller);
    call_by(other);
    server.say(question("both"));
    EXPECT_THAT(json::serialize(answer_to("both")), HasSubstr("it cannot be told which"));
    server.say_for(first, R"({"jsonrpc":"2.0","id":)" + std::to_string(first) + R"(,"result":{}})");
    ASSERT_TRUE(wait([&] { return unheeded == 1; }));
    server.say(question("one"));
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_THAT(caller.asked, IsEmpty());
    close();
}

TEST_F(BehindHttp, ACallThatWasGivenUpMayBeWhatAQuestionOfNoExchangeIsAbout) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    RequestId mine = 0;
    mine = connection().request(caller, call("a"), [&](const Result<Reply>&) { ++unheeded; });
    call_by(other);
    connection().cancel(mine);
    server.say(question("it may be the cancelled one's"));
    EXPECT_TRUE(answer_to("it may be the cancelled one's").contains("error"));
    EXPECT_THAT(other.asked, IsEmpty());
    close();
}

TEST_F(OnOneStream, AQuestionBeforeAnyRequestIsNobodysWhereSeveralAre) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    server.say(question("q"));
    EXPECT_THAT(json::serialize(answer_to("q")), HasSubstr("it cannot be told which"));
    EXPECT_THAT(caller.asked, IsEmpty());
    EXPECT_THAT(other.asked, IsEmpty());
}

TEST_F(OnOneStream, AQuestionBeforeAnyRequestIsForTheOnlyOneThatIsLeft) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    connection().release(other.number());
    server.say(question("q"));
    ASSERT_TRUE(wait([&] { return !caller.asked.empty(); }));
    EXPECT_THAT(other.asked, IsEmpty());
}

TEST_F(OnOneStream, AQuestionIsForTheOnlyCallerThatHasUsedTheConnection) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    const auto id = call_by(other);
    server.answer(static_cast<std::int64_t>(id), "{}");
    ASSERT_TRUE(wait([&] { return unheeded == 1; }));
    server.say(question("q"));
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_THAT(caller.asked, IsEmpty());
}

TEST_F(OnOneStream, AQuestionIsForTheOnlyCallerWithACallInFlight) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    const auto first = call_by(caller);
    call_by(other);
    server.say(question("both"));
    EXPECT_EQ(answer_to("both").at("error").at("code"), -32603);
    server.answer(static_cast<std::int64_t>(first), "{}");
    server.say(question("one"));
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_THAT(caller.asked, IsEmpty());
    other.asked[0].answer(json::object());
    EXPECT_TRUE(answer_to("one").contains("result"));
}

TEST_F(OnOneStream, ACallThatWasGivenUpIsInFlightUntilItsAnswerComes) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    RequestId mine = 0;
    mine = connection().request(caller, call("a"), [&](const Result<Reply>&) { ++unheeded; });
    const auto second = call_by(other);
    connection().cancel(mine);
    server.say(question("it may be the cancelled one's"));
    EXPECT_TRUE(answer_to("it may be the cancelled one's").contains("error"));
    server.answer(server.requests("tools/call").front().at("id").as_int64(), "{}");
    server.say(question("now it is not"));
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_NE(second, 0u);
    EXPECT_THAT(caller.asked, IsEmpty());
}

TEST_F(OnOneStream, ACallThatWasGivenUpEndsWithItsChannel) {
    be_legacy();
    long_lived = true;
    ASSERT_EQ(connect(), State::Ready);
    RequestId mine = 0;
    mine = connection().request(caller, call("a"), [&](const Result<Reply>&) { ++unheeded; });
    call_by(other);
    connection().cancel(mine);
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return said("initialize") == 2; }));
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    const auto id = call_by(caller);
    server.answer(static_cast<std::int64_t>(id), "{}");
    call_by(other);
    server.say(question("q"));
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_THAT(caller.asked, IsEmpty());
}

TEST_F(OnOneStream, AnUpdateIsForThoseWhoSubscribedToItOrToWhatItIsPartOf) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    subscribe(caller, "file:///a");
    subscribe(other, "file:///a/b");
    server.say(updated("file:///a/b"));
    server.say(updated("file:///a"));
    server.say(updated("file:///ab"));
    server.say(updated("file:///a/c"));
    ASSERT_TRUE(wait([&] { return caller.heard.size() == 3; }));
    ASSERT_EQ(other.heard.size(), 1u);
    EXPECT_THAT(other.heard[0].params, HasSubstr("file:///a/b"));
    for (const auto& each : caller.heard) EXPECT_THAT(each.params, ::testing::Not(HasSubstr("ab")));
}

TEST_F(OnOneStream, AServerIsSubscribedToAsLongAsOneHoldsIt) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    subscribe(caller, "file:///a");
    subscribe(other, "file:///a");
    EXPECT_EQ(said("resources/subscribe"), 1u);
    subscribe(caller, "file:///a", false);
    EXPECT_EQ(said("resources/unsubscribe"), 0u) << "the other one holds it";
    server.say(updated("file:///a"));
    ASSERT_TRUE(wait([&] { return !other.heard.empty(); }));
    EXPECT_THAT(caller.heard, IsEmpty());
    subscribe(other, "file:///a", false);
    EXPECT_EQ(said("resources/unsubscribe"), 1u);
}

TEST_F(OnOneStream, WhoLetsGoBeforeTheServerHasAnsweredEndsNothingForTheOthers) {
    be_legacy();
    server.results.erase("resources/subscribe");
    ASSERT_EQ(connect(), State::Ready);
    int answered = 0;
    const auto note = [&](const Result<Reply>&) { ++answered; };
    connection().subscribe(caller, "file:///a", true, note);
    connection().subscribe(other, "file:///a", true, note);
    connection().subscribe(caller, "file:///a", false, note);
    ASSERT_TRUE(wait([&] { return answered == 1 && said("resources/subscribe") == 2; }));
    EXPECT_EQ(said("resources/unsubscribe"), 0u);
    for (const auto& each : server.requests("resources/subscribe"))
        server.answer(each.at("id").as_int64(), "{}");
    ASSERT_TRUE(wait([&] { return answered == 3; }));
    server.say(updated("file:///a"));
    ASSERT_TRUE(wait([&] { return !other.heard.empty(); }));
    EXPECT_THAT(caller.heard, IsEmpty());
}

TEST_F(OnOneStream, WhoGoesGivesBackWhatItHeld) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    auto third = std::make_unique<test::FakeCaller>(callers);
    subscribe(*third, "file:///a");
    subscribe(*third, "file:///b");
    subscribe(other, "file:///b");
    third.reset();
    ASSERT_TRUE(wait([&] { return said("resources/unsubscribe") == 1; }));
    EXPECT_EQ(server.requests("resources/unsubscribe")[0].at("params").at("uri"), "file:///a");
    server.say(updated("file:///a"));
    server.say(updated("file:///b"));
    ASSERT_TRUE(wait([&] { return !other.heard.empty(); }));
    EXPECT_EQ(other.heard.size(), 1u)
        << "what is still on its way to the one that went is nobody's";
}

TEST_F(OnOneStream, WhoGoesEndsItsCallsAndHearsNothingMore) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    int told = 0, others = 0;
    auto third = std::make_unique<test::FakeCaller>(callers);
    const auto id = call_by(*third, &told);
    const auto kept = call_by(other, &others);
    third.reset();
    ASSERT_TRUE(wait([&] { return said("notifications/cancelled") == 1; }));
    EXPECT_EQ(server.requests("notifications/cancelled")[0].at("params").at("requestId"), id);
    server.answer(static_cast<std::int64_t>(id), "{}");
    server.answer(static_cast<std::int64_t>(kept), "{}");
    ASSERT_TRUE(wait([&] { return others == 1; }));
    EXPECT_EQ(told, 0);
    EXPECT_EQ(connection().status().late_answers, 1u);
}

TEST_F(OnOneStream, WhoGoesWhileItIsAskedLeavesAnErrorToTheServer) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    auto third = std::make_unique<test::FakeCaller>(callers);
    call_by(*third);
    server.say(question("q"));
    ASSERT_TRUE(wait([&] { return !third->asked.empty(); }));
    const auto late = third->asked[0].answer;
    third.reset();
    EXPECT_THAT(json::serialize(answer_to("q")), HasSubstr("the client that was asked has gone"));
    late(json::object());
    turn();
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(OnOneStream, WhoGoesFromInsideWhatItIsToldTakesNothingWithIt) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    auto third = std::make_unique<test::FakeCaller>(callers);
    test::FakeCaller last(callers);
    call_by(*third);
    third->on_heard = [&] { third.reset(); };
    server.say(notification("notifications/tools/list_changed", "{}"));
    ASSERT_TRUE(wait([&] { return !last.heard.empty(); }));
    auto fourth = std::make_unique<test::FakeCaller>(callers);
    fourth->on_asked = [&] { fourth.reset(); };
    const auto id = call_by(*fourth);
    server.say(question("q"));
    turn();
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_NE(id, 0u);
}

TEST_F(OnOneStream, AListThatChangedIsEverybodysNews) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    call_by(caller);
    server.say(notification("notifications/prompts/list_changed", "{}"));
    ASSERT_TRUE(wait([&] { return !other.heard.empty(); }));
    EXPECT_THAT(caller.methods(), ElementsAre("notifications/prompts/list_changed"));
}

TEST_F(OnOneStream, ANotificationThatNamesNobodyIsNobodysWhereSeveralAre) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    call_by(caller);
    server.say(notification("notifications/x", "{}"));
    ASSERT_TRUE(wait([&] { return !caller.heard.empty(); }));
    call_by(other);
    server.say(notification("notifications/x", "{}"));
    server.say(notification("notifications/prompts/list_changed", "{}"));
    ASSERT_TRUE(wait([&] { return caller.heard.size() == 2; }));
    EXPECT_THAT(other.methods(), ElementsAre("notifications/prompts/list_changed"));
}

TEST_F(OnOneStream, WhatACallerListensToByItselfIsItsAlone) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    connection().request(other, {"subscriptions/listen", {"\"notifications\":{}", ""}, {}, {}},
                         [](const Result<Reply>&) {});  // comes with the end of the connection
    ASSERT_TRUE(wait([&] { return said("subscriptions/listen") == 1; }));
    const auto id = json::serialize(server.requests("subscriptions/listen")[0].at("id"));
    server.say(notification("notifications/tools/list_changed",
                            R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}}"));
    server.say(notification(
        kUpdated, R"({"uri":"x","_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}}"));
    ASSERT_TRUE(wait([&] { return other.heard.size() == 2; }));
    EXPECT_THAT(caller.heard, IsEmpty());
}

TEST_F(OnOneStream, TheInputThatACallWantsIsAskedOfItsCaller) {
    server.be_modern({tool_named("a")});
    server.results.erase("tools/call");
    ASSERT_EQ(connect(), State::Ready);
    call_by(caller);
    const auto second = call_by(other);
    server.answer(
        static_cast<std::int64_t>(second),
        R"({"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}})");
    ASSERT_TRUE(wait([&] { return !other.asked.empty(); }));
    EXPECT_THAT(caller.asked, IsEmpty());
    other.asked[0].answer(json::object{{"roots", json::array()}});
    ASSERT_TRUE(wait([&] { return said("tools/call") == 3; }));
}

TEST_F(OnOneStream, AProgressTokenThatACallerWroteIsNotSentForItMayBeAnothers) {
    be_legacy();
    ASSERT_EQ(connect(), State::Ready);
    auto request = call("a");
    request.params.meta = R"("progressToken":1,"trace":"t","progress\u0054oken":2)";
    connection().request(caller, std::move(request), [](const Result<Reply>&) {});
    ASSERT_TRUE(wait([&] { return said("tools/call") == 1; }));
    EXPECT_EQ(server.requests("tools/call")[0].at("params").at("_meta"),
              json::parse(R"({"trace":"t"})"));
}

TEST(Callers, MayOutliveThoseTheyAreAmong) {
    auto callers = std::make_unique<Callers>();
    test::FakeCaller caller(*callers);
    EXPECT_EQ(callers->only(), &caller);
    callers.reset();
}

}  // namespace
}  // namespace patchbay::connection
