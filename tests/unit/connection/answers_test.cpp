// Answers, broken ones, and what only looks like one.
#include "core/secrets.hpp"
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

TEST_F(ConnectionTest, AnswersCallsAndPassesServerErrorsOn) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const json::object& params) -> json::value {
        return {{"resultType", "complete"}, {"got", params.at("name")}};
    };
    const auto reply = ask(call("a"));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("got":"a")"));
    server.errors["tools/call"] = {-32602, "bad"};
    EXPECT_THAT(*ask(call("a")), HasSubstr("-32602"));
}

TEST_F(ConnectionTest, ATimeOutTellsTheServerAndDropsTheLateAnswer) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    const auto reply = ask(call("a", 20ms));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Timeout);
    EXPECT_THAT(reply.error().message, HasSubstr("within 20 ms"));
    const auto id = server.requests("tools/call").at(0).at("id").as_int64();
    EXPECT_EQ(server.requests("notifications/cancelled").at(0).at("params").at("requestId"), id);
    server.answer(id, "{}");
    EXPECT_TRUE(wait([&] { return connection().status().late_answers == 1; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, AnAnswerNobodyAskedForEndsTheConnection) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<Error> error;
    connection().request(caller, call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    server.answer(999, "{}");
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("answered id 999, which nobody asked"));
}

TEST_F(ConnectionTest, ABrokenAnswerEndsTheCallItNames) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<Error> error;
    const auto id = connection().request(caller, call("a"),
                                         [&](Result<Reply> reply) { error = reply.error(); });
    server.answer(static_cast<std::int64_t>(id), std::string(1000, '['));
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("json_depth"));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, ABrokenAnswerIsTracedWhateverTheDigitsOfItsId) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::vector<Outcome> outcomes(20);
    std::vector<RequestId> ids;
    for (auto& outcome : outcomes) ids.push_back(begin(call("a"), outcome));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        server.answer(static_cast<std::int64_t>(ids[i]), "[");
        ASSERT_TRUE(wait([&] { return outcomes[i].has_value(); })) << ids[i];
        EXPECT_THAT(outcomes[i]->error().message, HasSubstr("sent a malformed message"));
    }
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, JsonLogLinesOnStdoutHarmNobody) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    server.say(R"({"level":"info","msg":"hello"})");
    server.say(R"({"level":"inf)");
    EXPECT_TRUE(wait([&] { return connection().status().stray_lines == 2; }));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(events.output.size(), 2u);
}

// One byte short of whole it would not be found any more where errors and logs are masked.
TEST_F(ConnectionTest, WhatIsQuotedOfAServerIsMaskedBeforeItIsCut) {
    const std::string secret = "k9ZqA7Lw2pXv4Tn8";
    core::Secrets secrets;
    secrets.add(secret);
    const auto cut_at = [&](std::size_t most, const std::string& head) {
        return head + std::string(most - head.size() - secret.size() + 1, 'x') + secret;
    };
    server.be_legacy({tool_named("a")});
    limits.stderr_line_bytes = 1000;
    ASSERT_EQ(connect(), State::Ready);
    server.say(cut_at(1000, "{") + "}");
    ASSERT_TRUE(wait([&] { return connection().status().stray_lines == 1; }));
    EXPECT_THAT(events.output, ::testing::ElementsAre(::testing::EndsWith("xx***")));
    Outcome wrong, lost;
    const auto id = begin(call("a"), wrong);
    server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"error":)" +
               cut_at(300, R"({"code":"none","message":")") + R"("}})");
    ASSERT_TRUE(wait([&] { return wrong.has_value(); }));
    EXPECT_THAT(wrong->error().message,
                ::testing::EndsWith("xx***; the request may have been carried out"));
    begin(call("a"), lost);
    server.say(R"({"jsonrpc":"2.0","error":)" + cut_at(300, R"({"code":-1,"message":")") +
               R"("}})");
    ASSERT_TRUE(wait([&] { return lost.has_value(); }));
    EXPECT_THAT(lost->error().message,
                ::testing::AllOf(HasSubstr("xx***"), ::testing::Not(HasSubstr("k9Zq"))));
}

TEST_F(ConnectionTest, AnIdMayComeBackInQuotesOrAsAFloat) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (const bool quoted : {true, false}) {
        const auto reply = ask_and_hear([&](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + (quoted ? "\"" + id + "\"" : id + ".0") +
                   R"(,"result":{"quoted":1}})";
        });
        ASSERT_TRUE(reply) << reply.error().message;
        EXPECT_EQ(*reply, R"({"quoted":1})");
    }
}

TEST_F(ConnectionTest, AnIdThatIsNearlyOursIsNobodysAnswer) {
    for (const char* wrong : {"1.5", "\"1.5\"", "\"x\"", "\"\"", "\"-1\"", "-1", "\"1x\"", "1e300",
                              "9223372036854775808", "\"99999999999999999999\""}) {
        SCOPED_TRACE(wrong);
        connection_.reset();
        server.be_legacy({tool_named("a")});
        ASSERT_EQ(connect(), State::Ready);
        const auto reply = ask_and_hear([&](const std::string&) {
            return std::string(R"({"jsonrpc":"2.0","id":)") + wrong + R"(,"result":{}})";
        });
        ASSERT_FALSE(reply);
        EXPECT_THAT(reply.error().message,
                    HasSubstr("answered id " + std::string(wrong) + ", which nobody asked"));
    }
}

TEST_F(ConnectionTest, AnErrorCodeThatIsNoneIsAnErrorOfItsCall) {
    server.be_legacy({tool_named("a")});
    for (const char* code : {"1e308", "-1e308", "1.5", "9223372036854775808"}) {
        SCOPED_TRACE(code);
        connection_.reset();
        server.results.erase("tools/list");
        connection().connect([] {});
        ASSERT_TRUE(wait([&] { return !server.requests("tools/list").empty(); }));
        const auto id = json::serialize(server.requests("tools/list").back().at("id"));
        server.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + code +
                   R"(,"message":"no"}})");
        ASSERT_TRUE(wait([&] { return !connection().status().last_error.empty(); }));
        EXPECT_THAT(connection().status().last_error, HasSubstr("error.code is not an integer"));
        server.received.clear();
    }
}

TEST_F(ConnectionTest, AnIdThatIsEchoedAsAStringIsTheSame) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    const auto id = begin(call("a"), outcome);
    server.say(R"({"jsonrpc":"2.0","id":")" + std::to_string(id) + R"(","result":{}})");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome);
    ASSERT_LT(id, 10u) << "one digit, the shortest there is";
}

TEST_F(ConnectionTest, AnIdOfSeveralDigitsMayBeInQuotesToo) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    RequestId id = 0;
    while (id < 10) {
        outcome.reset();
        id = begin(call("a"), outcome);
        server.say(R"({"jsonrpc":"2.0","id":")" + std::to_string(id) + R"(","result":{}})");
        ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
        EXPECT_TRUE(*outcome) << id;
    }
}

TEST_F(ConnectionTest, AnIdInQuotesIsReadByItsDigitsAlone) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    const auto reply = ask_and_hear([&](const std::string& id) {
        // By its distance from '0' the first counts -10, and the second 10 more than the id.
        const std::string odd{'/', static_cast<char>(id.at(0) + 10)};
        return R"({"jsonrpc":"2.0","id":")" + odd + R"(","result":{}})";
    });
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("which nobody asked"));
}

}  // namespace
}  // namespace patchbay::connection
