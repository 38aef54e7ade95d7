// What servers ask in the middle of a request, and the rounds in which clients answer.
#include "session_fixture.hpp"

#include <memory>
#include <utility>

namespace patchbay::gateway {
namespace {

TEST_F(SessionTest, AClientThatDoesNotReadIsAskedNothingAndItsServerHearsSo) {
    be_asked_in_the_middle();
    greet({{"elicitation", json::object()}});
    client_reads = false;
    say(2, "tools/call", kCall);
    const auto refused = [&] {
        for (const auto& message : servers.at("git").received)
            if (message.contains("error") && message.at("id") == "q") return true;
        return false;
    };
    EXPECT_TRUE(wait(refused));
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
    servers.at("git").answer(call_id, R"({"content":[]})");
    EXPECT_EQ(at(answer_to(2), "/result/content"), json::array());
    EXPECT_THAT(told("elicitation/create"), IsEmpty());
    EXPECT_THAT(told("notifications/cancelled"), IsEmpty()) << "of a question that it never got";
}

TEST_F(SessionTest, AServerWhoseQuestionALegacyClientNeverAnswersIsToldAfterTenMinutes) {
    be_asked_in_the_middle();
    greet({{"elicitation", json::object()}});
    say(2, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return told("elicitation/create").size() == 1; }));
    loop.pass(5min);
    say(3, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return told("elicitation/create").size() == 2; }));
    const auto refused = [&] {
        std::vector<std::string> messages;
        for (const auto& message : servers.at("git").received)
            if (message.contains("error") && message.at("id") == "q")
                messages.emplace_back(at(message, "/error/message").as_string());
        return messages;
    };
    loop.pass(5min - 1s);
    EXPECT_THAT(refused(), IsEmpty());
    loop.pass(2s);
    ASSERT_TRUE(wait([&] { return !refused().empty(); }));
    EXPECT_THAT(refused(),
                ElementsAre(HasSubstr("has not answered elicitation/create within 600 s")));
    ASSERT_EQ(told("notifications/cancelled").size(), 1u) << "the other one has five minutes more";
    const auto called_off = told("notifications/cancelled")[0];
    EXPECT_EQ(at(called_off, "/params/requestId"), at(told("elicitation/create")[0], "/id"));
    EXPECT_THAT(json::serialize(at(called_off, "/params/reason")), HasSubstr("within 600 s"));
    loop.pass(5min);
    EXPECT_TRUE(wait([&] { return told("notifications/cancelled").size() == 2; }));
    servers.at("git").answer(call_id, R"({"content":[]})");
    EXPECT_TRUE(answer_to(3).contains("result")) << "its server says what becomes of the call";
}

TEST_F(SessionTest, WhoAsksAgainWithoutAProgressTokenIsToldOfNoProgress) {
    be_asked_in_the_middle();
    say_modern(1, "tools/call", kCall, {{"progressToken", "p"}});
    auto again = kCall;
    again["requestState"] = at(answer_to(1), "/result/requestState");
    say_modern(2, "tools/call", again);  // and what was asked stays open
    say_modern(3, "tools/call",
               {{"name", "mcp__git__log"},
                {"arguments", json::object()},
                {"requestState", at(answer_to(2), "/result/requestState")},
                {"inputResponses", {{"input-1", {{"action", "decline"}}}}}});
    const auto token =
        at(servers.at("git").requests("tools/call").back(), "/params/_meta/progressToken");
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
        json::serialize(token) + "}}");
    servers.at("git").answer(call_id, R"({"content":[]})");
    EXPECT_EQ(at(answer_to(3), "/result/content"), json::array());
    EXPECT_THAT(told("notifications/progress"), IsEmpty());
}

TEST_F(SessionTest, AStateCountsForTenMinutesAndThenItsCallIsCancelled) {
    be_asked_in_the_middle();
    const auto wanted = ask_modern(1, "tools/call", kCall);
    ASSERT_EQ(at(wanted, "/result/resultType"), "input_required") << wanted;
    loop.pass(InputRounds::kLifetime - 1s);
    EXPECT_THAT(servers.at("git").requests("notifications/cancelled"), IsEmpty());
    loop.pass(2s);
    EXPECT_TRUE(
        wait([&] { return !servers.at("git").requests("notifications/cancelled").empty(); }));
    auto again = kCall;
    again["requestState"] = at(wanted, "/result/requestState");
    EXPECT_EQ(at(ask_modern(2, "tools/call", again), "/error/code"), -32602);
    EXPECT_TRUE(session().idle());
}

TEST_F(SessionTest, WhoseRequestsAllWaitForItsAnswersCanGiveThem) {
    be_asked_in_the_middle();
    json::object first;
    for (std::size_t i = 1; i <= ClientRequests::kMost; ++i) {
        const auto wanted = ask_modern(static_cast<std::int64_t>(i), "tools/call", kCall);
        ASSERT_EQ(at(wanted, "/result/resultType"), "input_required") << wanted;
        if (i == 1) first = wanted;
    }
    EXPECT_EQ(at(ask_modern("more", "tools/call", kCall), "/error/code"), -32603);
    auto again = kCall;
    again["requestState"] = at(first, "/result/requestState");
    EXPECT_EQ(at(ask_modern("again", "tools/call", again), "/result/resultType"), "input_required")
        << "what is still open is asked for again";
}

TEST_F(SessionTest, AnOutcomeThatComesBeforeTheClientIsBackWaitsForIt) {
    be_asked_in_the_middle();
    const auto wanted = ask_modern(1, "tools/call", kCall);
    servers.at("git").answer(call_id, R"({"content":[],"early":true})");
    loop.pass(1s);
    auto again = kCall;
    again["requestState"] = at(wanted, "/result/requestState");
    EXPECT_EQ(at(ask_modern(2, "tools/call", again), "/result/early"), true);
}

TEST_F(SessionTest, AnAnswerReachesTheServerThatAsked) {
    be_asked_in_the_middle();
    const auto wanted = ask_modern(1, "tools/call", kCall);
    auto again = kCall;
    again["requestState"] = at(wanted, "/result/requestState");
    const auto asked = at(wanted, "/result/inputRequests");
    again["inputResponses"] = json::object{
        {asked.as_object().begin()->key(), {{"action", "accept"}, {"content", {{"a", 1}}}}}};
    say_modern(2, "tools/call", again);
    const auto answered = [&]() -> const json::object* {
        for (const auto& message : servers.at("git").received)
            if (!message.contains("method") && message.at("id") == "q") return &message;
        return nullptr;
    };
    ASSERT_TRUE(wait([&] { return answered() != nullptr; }));
    EXPECT_EQ(at(*answered(), "/result/content/a"), 1);
    servers.at("git").answer(call_id, R"({"content":[]})");
    EXPECT_TRUE(answer_to(2).contains("result"));
}

TEST_F(SessionTest, TheStateOfACancelledCallIsNoState) {
    be_asked_in_the_middle();
    const auto wanted = ask_modern(1, "tools/call", kCall);
    servers.at("git").crash("gone");
    auto again = kCall;
    again["requestState"] = at(wanted, "/result/requestState");
    loop.pass(1ms);
    EXPECT_EQ(at(ask_modern(2, "tools/call", again), "/result/isError"), true) << "it was lost";
    const auto used = ask_modern(3, "tools/call", again);
    EXPECT_THAT(std::string(at(used, "/error/message").as_string()), HasSubstr("it was used"));
}

}  // namespace
}  // namespace patchbay::gateway
