// Requests whose server wants to know something of a person before it goes on (input_required).
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class Input : public HttpConnectionTest {
protected:
    Input() {
        use_person();
        server.be_modern({tool_named("a")});
        server.results["tools/call"] = [this](const json::object& params) -> json::value {
            if (const auto* given = params.if_contains("inputResponses"))
                return {{"resultType", "complete"}, {"given", *given}};
            json::object requests;
            for (int i = 0; i < questions; ++i)
                requests["q" + std::to_string(i)] = {{"method", "elicitation/create"},
                                                     {"params", {{"mode", "form"}}}};
            return {{"resultType", "input_required"},
                    {"requestState", "opaque"},
                    {"inputRequests", requests}};
        };
    }
    void call_and_be_asked(std::chrono::milliseconds timeout = 0ms) {
        auto request = call("a", timeout);
        id = begin(std::move(request), outcome);
        ASSERT_TRUE(wait([&] { return asked.size() == static_cast<std::size_t>(questions); }));
    }
    Result<std::string> ended() {
        EXPECT_TRUE(wait([&] { return outcome.has_value(); }));
        return *outcome;
    }
    int questions = 1;
    Outcome outcome;
    RequestId id = 0;
};

TEST_F(Input, TheStreamThatAskedEndsAndThePersonIsWaitedFor) {
    call_and_be_asked();
    pass(20ms);  // the stream's end is long told
    ASSERT_FALSE(outcome);
    const auto first = server.arrival("tools/call").exchange;
    EXPECT_EQ(server.settled.back(), first);
    asked[0](json::object{{"name", "octocat"}});
    const auto reply = ended();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"({"q0":{"action":"accept","content":{"name":"octocat"}}})"));
    const auto sent = server.requests("tools/call");
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[1].at("params").at("requestState"), "opaque");
    EXPECT_EQ(sent[1].at("params").at("name"), "a");
    EXPECT_NE(sent[0].at("id"), sent[1].at("id"));
    EXPECT_NE(server.arrival("tools/call", 1).exchange, first);
}

TEST_F(Input, OverADuplexTransportToo) {
    spec.config.transport = "fake";
    server.request_scoped = server.takes_headers = false;
    call_and_be_asked();
    asked[0](std::nullopt);
    EXPECT_THAT(*ended(), HasSubstr(R"("action":"decline")"));
}

TEST_F(Input, AllQuestionsAreAskedAndAnsweredTogether) {
    questions = 3;
    call_and_be_asked();
    asked[2](std::nullopt);
    asked[0](json::object{{"n", 0}});
    pass(1ms);
    EXPECT_EQ(server.requests("tools/call").size(), 1u);
    asked[1](json::object{{"n", 1}});
    ASSERT_TRUE(ended());
    const auto given = server.requests("tools/call").at(1).at("params").at("inputResponses");
    EXPECT_EQ(given.at("q0").at("content").at("n"), 0);
    EXPECT_EQ(given.at("q1").at("content").at("n"), 1);
    EXPECT_EQ(given.at("q2").at("action"), "decline");
}

TEST_F(Input, TooManyQuestionsAtOnceAreNotAsked) {
    limits.input_requests = 2;
    questions = 3;
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Limit);
    EXPECT_THAT(reply.error().message,
                HasSubstr("asked 3 questions at once, more than 2 (limit input_requests)"));
    EXPECT_TRUE(asked.empty());
}

TEST_F(Input, WhatThePersonTakesIsNotTheCallsTime) {
    spec.config.tool_timeout = 20ms;
    on_asked = [this] { loop.turn(29min); };
    call_and_be_asked();
    pass(50ms);  // every timer of those 20 ms has fired
    ASSERT_FALSE(outcome);
    asked[0](json::object{});
    EXPECT_TRUE(ended());
}

TEST_F(Input, WhatTheServerTakesAfterwardsIs) {
    spec.config.tool_timeout = 20ms;
    call_and_be_asked();
    server.results.erase("tools/call");
    loop.turn(1min);
    asked[0](json::object{});
    ASSERT_TRUE(wait([&] { return server.requests("tools/call").size() == 2; }));
    pass(19ms);
    ASSERT_FALSE(outcome);
    loop.turn(1ms);
    EXPECT_THAT(ended().error().message,
                HasSubstr("tools/call was not answered within 20 ms (tool_timeout_sec)"));
}

TEST_F(Input, NobodyIsWaitedForWithoutEnd) {
    spec.config.tool_timeout = 20ms;
    on_asked = [this] { loop.turn(core::kInputWait); };
    call_and_be_asked();
    const auto reply = ended();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Timeout);
    EXPECT_THAT(reply.error().message,
                HasSubstr("tools/call waits for the input that its server wants; nobody gave it"));
    asked[0](json::object{});
    pass(1ms);
    EXPECT_EQ(server.requests("tools/call").size(), 1u) << "too late";
}

TEST_F(Input, ATimeOutThatTheCallerGaveCoversThePersonToo) {
    on_asked = [this] { loop.turn(20ms); };
    call_and_be_asked(20ms);
    EXPECT_THAT(ended().error().message, HasSubstr("20 ms (the time-out given) have passed"));
}

TEST_F(Input, ACancelledCallIsNotSentAgainWhenTheAnswerComes) {
    call_and_be_asked();
    connection().cancel(id, "enough");
    EXPECT_EQ(ended().error().code, ErrorCode::Cancelled);
    EXPECT_TRUE(server.cancelled.empty()) << "its stream is over";
    asked[0](json::object{});
    pass(1ms);
    EXPECT_EQ(server.requests("tools/call").size(), 1u);
}

TEST_F(Input, ThePersonIsAskedNoLongerThanTheCallWaits) {
    questions = 2;
    call_and_be_asked();
    asked[1](json::object{});
    EXPECT_TRUE(withdrawn.empty());
    connection().cancel(id, "enough");
    EXPECT_EQ(ended().error().code, ErrorCode::Cancelled);
    EXPECT_EQ(withdrawn, (std::set<std::size_t>{0, 1}));
}

TEST_F(Input, ATimeOutWithdrawsTheQuestionToo) {
    on_asked = [this] { loop.turn(20ms); };
    call_and_be_asked(20ms);
    EXPECT_EQ(ended().error().code, ErrorCode::Timeout);
    EXPECT_EQ(withdrawn, std::set<std::size_t>{0});
}

TEST_F(Input, AServerThatRestartsMeanwhileGetsTheAnswerAllTheSame) {
    long_lived = true;
    call_and_be_asked();
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().status().restarts == 1; }));
    asked[0](json::object{{"n", 1}});
    EXPECT_TRUE(ended());
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
}

TEST_F(Input, ARetiredServerThatIsGoneIsNotStartedForTheAnswer) {
    long_lived = true;
    health.reconnect_first = health.reconnect_most = 50ms;
    for (const bool retired_first : {true, false}) {
        connection_.reset();
        server.opened = 0;
        asked.clear();
        outcome.reset();
        call_and_be_asked();
        bool closed = false;
        const auto retire = [&] { connection().close_when_idle([&] { closed = true; }); };
        if (retired_first) retire();
        server.crash("exited");
        ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
        if (!retired_first) retire();
        ASSERT_TRUE(wait([&] { return closed; }));
        EXPECT_FALSE(ended());
        pass(80ms);
        EXPECT_EQ(server.opened, 1);
    }
}

TEST_F(Input, AServerThatWantsSomeForItsListIsNotReady) {
    server.results["tools/list"] = [](const auto&) -> json::value {
        return {{"resultType", "input_required"}, {"requestState", "x"}};
    };
    EXPECT_NE(connect(), State::Ready);
    EXPECT_THAT(connection().status().last_error, HasSubstr("answered with input_required"));
}

TEST_F(Input, OnlySomeRequestsMayBeAnsweredSo) {
    const auto wants = [](const auto&) -> json::value {
        return {{"resultType", "input_required"}, {"requestState", "x"}};
    };
    server.results["completion/complete"] = wants;
    ASSERT_EQ(connect(), State::Ready);
    const auto reply = ask({"completion/complete", {}, 0ms, {}});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().message,
              "server \"s\": completion/complete was answered with input_required, which only "
              "prompts/get, resources/read and tools/call may be; the request may have been "
              "carried out");
}

TEST_F(Input, WhatBreaksAfterTheAnswerMayHaveRun) {
    call_and_be_asked();
    server.endings["tools/call"].push_back(FakeServer::problem(ErrorCode::Io, "reset"));
    asked[0](json::object{});
    EXPECT_EQ(ended().error().message,
              "server \"s\": reset; the request may have been carried out");
}

// Its server has had it, and may have begun with it before it asked.
class AfterARound : public Input {
protected:
    static constexpr const char* kMayHave = "; the request may have been carried out";
    static FakeServer::Ending refused() {
        auto problem = FakeServer::problem(ErrorCode::Unavailable, "connection refused");
        problem.not_sent = true;
        return problem;
    }
    void answer() { asked[0](json::object{}); }
};

TEST_F(AfterARound, ARefusedConnectionIsTriedOnceMoreAndNeverSaidToHaveSentNothing) {
    call_and_be_asked();
    server.endings["tools/call"] = {refused(), refused()};
    answer();
    EXPECT_EQ(ended().error().message,
              std::string("server \"s\": connection lost: connection refused") + kMayHave);
    EXPECT_EQ(server.requests("tools/call").size(), 3u) << "the answer was not sent twice";
}

TEST_F(AfterARound, AConnectionThatBreaksIsNotTriedAgain) {
    call_and_be_asked();
    server.endings["tools/call"] = {FakeServer::problem(ErrorCode::Io, "reset"), refused()};
    answer();
    EXPECT_EQ(ended().error().message, std::string("server \"s\": reset") + kMayHave);
    pass(1ms);
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
}

TEST_F(AfterARound, ARefusalOfTheServersMayFollowAfterItHasRun) {
    call_and_be_asked();
    server.endings["tools/call"] = {FakeServer::problem(ErrorCode::Protocol, "HTTP 429", 429)};
    answer();
    EXPECT_EQ(ended().error().message, std::string("server \"s\": HTTP 429") + kMayHave);
}

TEST_F(AfterARound, ATransportThatDoesNotTakeTheAnswerDoesNotMakeItUnsent) {
    call_and_be_asked();
    server.refusals["tools/call"] = {ErrorCode::Limit};
    answer();
    EXPECT_EQ(ended().error().message, std::string("server \"s\": send refused") + kMayHave);
}

TEST_F(AfterARound, ATimeOutInTheQueueIsNoneBeforeTheSending) {
    spec.config.tool_timeout = 20ms;
    call_and_be_asked();
    server.full = true;
    connection().notify("notifications/roots/list_changed", "");  // full with it
    answer();
    pass(20ms);
    EXPECT_THAT(ended().error().message, HasSubstr("tools/call was not answered within 20 ms"));
    EXPECT_EQ(server.requests("tools/call").size(), 1u);
}

TEST_F(AfterARound, ACancelledCallIsNotSaidToBeUnsent) {
    call_and_be_asked();
    server.full = true;
    connection().notify("notifications/roots/list_changed", "");
    answer();
    connection().cancel(id, "enough");
    EXPECT_EQ(ended().error().message, "server \"s\": tools/call was cancelled: enough");
}

TEST_F(AfterARound, AConnectionThatIsClosedMeanwhileMayHaveRunIt) {
    call_and_be_asked();
    connection().close([] {});
    EXPECT_THAT(ended().error().message, HasSubstr(kMayHave));
}

TEST_F(AfterARound, TooManyOfThemMayHaveRunIt) {
    limits.input_rounds = 1;
    server.results["tools/call"] = [](const auto&) -> json::value {
        return {{"resultType", "input_required"}, {"requestState", "again"}};
    };
    EXPECT_EQ(ask(call("a")).error().message,
              std::string("server \"s\": asked for input more than 1 times for one request (limit "
                          "input_rounds)") +
                  kMayHave);
}

TEST_F(ConnectionTest, AnswersInputRequiredAndSendsTheCallAgain) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const json::object& params) -> json::value {
        if (!params.contains("inputResponses")) {
            return {
                {"resultType", "input_required"},
                {"requestState", "opaque"},
                {"inputRequests",
                 {{"who", {{"method", "elicitation/create"}, {"params", {{"mode", "form"}}}}}}}};
        }
        return {{"resultType", "complete"},
                {"name", params.at("inputResponses").at("who").at("content").at("name")},
                {"state", params.at("requestState")}};
    };
    const auto reply = ask(call("a"));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("name":"octocat","state":"opaque")"));
    const auto sent = server.requests("tools/call");
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_NE(sent[0].at("id"), sent[1].at("id"));
}

TEST_F(ConnectionTest, AnInputRequestOfAnyShapeEndsItsCallAndNothingElse) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    std::string crowd = "{\"k\":0";
    for (int i = 0; i < 10'000; ++i) crowd += ",\"k" + std::to_string(i) + "\":0";
    crowd += "}";
    struct Case {
        std::string members, message;
    };
    const Case cases[] = {
        {"\"inputRequests\":" + nested(40), "asked for input without saying what"},
        {"\"inputRequests\":{},\"x\":" + nested(120), "asked for input without saying what"},
        {"\"inputRequests\":[]", "asked for input without saying what"},
        {"\"inputRequests\":" + crowd, "one object may have 8192"},
        {"\"inputRequests\":{\"a\":7}", "an input request has no method"},
        {"\"inputRequests\":{\"a\":{\"method\":[]}}", "an input request has no method"},
    };
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (const auto& c : cases) {
        SCOPED_TRACE(c.members.substr(0, 60));
        const auto reply = ask_and_hear([&](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + id +
                   R"(,"result":{"resultType":"input_required",)" + c.members + "}}";
        });
        ASSERT_FALSE(reply);
        EXPECT_THAT(reply.error().message, HasSubstr(c.message));
        EXPECT_EQ(connection().state(), State::Ready);
    }
}

TEST_F(ConnectionTest, InputIsNotAskedForWithoutEnd) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const auto&) -> json::value {
        return {{"resultType", "input_required"}, {"requestState", "again"}};
    };
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("limit input_rounds"));
    const auto again = server.requests("tools/call").at(1).at("params").as_object();
    EXPECT_EQ(again.at("requestState"), "again");
    EXPECT_FALSE(again.contains("inputResponses"));
}

}  // namespace
}  // namespace patchbay::connection
