// What a server sends that is no plain answer: batches, wrecks, questions, and results of odd kinds.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class Inbound : public ConnectionTest {
protected:
    // How our client answers `method` of a server's with these params.
    json::object answer_to(const std::string& method, const std::string& params = "{}") {
        server.received.clear();
        server.say(R"({"jsonrpc":"2.0","id":"q","method":")" + method + R"(","params":)" + params +
                   "}");
        EXPECT_TRUE(wait([&] { return !server.received.empty(); }));
        return server.received.empty() ? json::object() : server.received[0];
    }
    std::uint64_t malformed() { return connection().status().malformed; }
    Outcome outcome;
};

TEST_F(Inbound, ABatchIsTakenInTheRevisionsThatHaveThem) {
    const std::string note = R"([{"jsonrpc":"2.0","method":"n"}])";
    for (const char* version : {"2024-11-05", "2025-03-26"}) {
        connection_.reset();
        eras.known.clear();
        caller.heard.clear();
        server.be_legacy({}, version);
        ASSERT_EQ(connect(), State::Ready);
        server.say(note);
        EXPECT_TRUE(wait([&] { return caller.methods().size() == 1; })) << version;
        EXPECT_EQ(malformed(), 0u);
    }
    connection_.reset();
    eras.known.clear();
    server.be_legacy({}, "2025-06-18");
    ASSERT_EQ(connect(), State::Ready);
    server.say(note);
    ASSERT_TRUE(wait([&] { return malformed() == 1; }));
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": a batch of messages, which this revision does not have");
    EXPECT_EQ(caller.methods().size(), 1u) << "of the revision before";
    EXPECT_EQ(connection().state(), State::Ready) << "nobody waits for anything";
}

TEST_F(Inbound, AWreckThatNamesNoRequestEndsTheConnectionOnlyWhenSomebodyWaits) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    const std::string wreck = R"({"jsonrpc":"2.0","result":)";
    server.say(wreck);
    ASSERT_TRUE(wait([&] { return malformed() == 1; }));
    EXPECT_EQ(connection().state(), State::Ready);
    begin(call("a"), outcome);
    server.say(wreck);
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("malformed message that names no request"));
    EXPECT_EQ(malformed(), 2u);
}

TEST_F(Inbound, AWreckIsTracedByItsFirstIdWithinItsFirst4096Bytes) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    const auto told_of = [&](const std::function<std::string(const std::string&)>& wreck) {
        outcome.reset();
        server.say(wreck(std::to_string(begin(call("a"), outcome))));
        EXPECT_TRUE(wait([&] { return outcome.has_value(); }));
        return outcome->error().message;
    };
    EXPECT_THAT(
        told_of([](const auto& id) { return R"({"jsonrpc":"2.0","id":   )" + id + R"(,"r")"; }),
        HasSubstr("sent a malformed message: "));
    const std::string head = R"({"jsonrpc":"2.0","x":")", tail = R"(","id":)";
    const auto pad = [&](std::size_t end) {
        return head + std::string(end - head.size() - tail.size(), 'x') + tail;
    };
    EXPECT_THAT(told_of([&](const auto& id) { return pad(4096) + id + "["; }),
                HasSubstr("sent a malformed message: "));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_THAT(told_of([&](const auto& id) { return pad(4097) + id + "["; }),
                HasSubstr("names no request"));
}

TEST_F(Inbound, AWreckBehindHttpEndsTheRequestWhoseStreamItCameOn) {
    spec.config.transport = "http";
    server.be_http();
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    begin(call("a"), outcome);
    server.say_for(server.arrival("tools/call").exchange, "no JSON at all");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("sent a malformed message: "));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(connection().status().stray_lines, 0u);
    EXPECT_EQ(malformed(), 1u);
}

TEST_F(Inbound, AResultOfAnUnknownKindIsAnErrorOfItsCall) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const auto&) -> json::value {
        return {{"resultType", "later"}};
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(
        ask(call("a")).error().message,
        "server \"s\": answered with an unknown resultType; the request may have been carried "
        "out");
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(Inbound, AResultThatIsNoObjectIsAnErrorOfItsCall) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (const char* result : {"\"x\"", "5", "[]", "null", "true"}) {
        const auto reply = ask_and_hear([&](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + id + R"(, "result": )" + result + "}";
        });
        ASSERT_FALSE(reply) << result;
        EXPECT_EQ(reply.error().code, ErrorCode::Protocol);
        EXPECT_EQ(reply.error().message,
                  "server \"s\": answered tools/call with a result that is no object: " +
                      std::string(result) + "; the request may have been carried out");
    }
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(Inbound, AnAnswerToACallThatCannotBeReadSaysThatItMayHaveRun) {
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (const char* rest : {R"(,"result":{"content":[{"ty)", R"(,"error":"no"})"}) {
        const auto reply = ask_and_hear(
            [&](const std::string& id) { return R"({"jsonrpc":"2.0","id":)" + id + rest; });
        ASSERT_FALSE(reply) << rest;
        EXPECT_THAT(reply.error().message, EndsWith("; the request may have been carried out"));
    }
}

TEST_F(Inbound, AModernServerAsksNothing) {
    server.be_modern({});
    ASSERT_EQ(connect(), State::Ready);
    server.received.clear();
    server.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
    ASSERT_TRUE(wait([&] { return malformed() == 1; }));
    pass(1ms);
    EXPECT_TRUE(server.received.empty());
    EXPECT_EQ(connection().state(), State::Ready);
}

// One that fails in its own way at each question.
TEST_F(Inbound, AQuestionThatIsNotAnsweredEndsWithACodeThatSaysWhy) {
    auto code = ErrorCode::Internal;
    caller.respond = [&code](const std::string&, const std::string& method, const json::object&,
                             const Caller::Answer& answer) -> Question {
        answer(Error{code, "cannot " + method});
        return {};
    };
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    for (const char* method : {"roots/list", "sampling/createMessage", "elicitation/create"}) {
        code = ErrorCode::Internal;
        const auto failed = answer_to(method).at("error").as_object();
        EXPECT_EQ(failed.at("code"), -32603) << method;
        EXPECT_EQ(failed.at("message").as_string(), "cannot " + std::string(method));
        code = ErrorCode::Unsupported;
        EXPECT_EQ(answer_to(method).at("error").at("code"), -32601) << method;
    }
    code = ErrorCode::Internal;
    const auto unknown = answer_to("roots/lists").at("error").as_object();
    EXPECT_EQ(unknown.at("code"), -32601);
    EXPECT_EQ(unknown.at("message"), "Method not found");
}

TEST_F(Inbound, AQuestionThatIsTooDeepIsRefusedAndHarmsNobody) {
    server.be_legacy({});
    limits.json_depth = 20;
    ASSERT_EQ(connect(), State::Ready);
    const auto nested = [](std::size_t depth) {
        std::string text = "{}";
        while (--depth > 0) text = R"({"p":)" + text + "}";
        return text;
    };
    EXPECT_TRUE(answer_to("roots/list", nested(5)).contains("result"));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(Inbound, ProgressOfNobodysTokenIsDropped) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    int told = 0;
    auto request = call("a");
    request.on_progress = [&](const Progress&) { ++told; };
    const auto id = begin(std::move(request), outcome);
    for (const auto& token : {std::string("0"), std::string("-1"), std::string("9999"),
                              std::string("\"x\""), std::string("null"), std::to_string(id)})
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            token + "}}");
    ASSERT_TRUE(wait([&] { return told > 0; }));
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(caller.methods().empty()) << "no progress is anybody else's";
}

class Questions : public Inbound {
protected:
    // A server that wants `questions` answers in each of `rounds` rounds.
    void be_curious(int rounds, int questions) {
        server.be_modern({tool_named("a")});
        server.results["tools/call"] = [this, rounds, questions](const auto&) -> json::value {
            if (asked_for++ >= rounds) return {{"resultType", "complete"}, {"done", true}};
            json::object requests;
            for (int i = 0; i < questions; ++i)
                requests["q" + std::to_string(i)] = {{"method", "elicitation/create"}};
            return {{"resultType", "input_required"}, {"inputRequests", requests}};
        };
    }
    int asked_for = 0;
};

TEST_F(Questions, MayBeAsManyRoundsAsTheLimitSays) {
    limits.input_rounds = 2;
    be_curious(2, 1);
    EXPECT_TRUE(ask(call("a")));
    asked_for = -1;
    const auto refused = ask(call("a"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Limit);
    EXPECT_EQ(refused.error().message,
              "server \"s\": asked for input more than 2 times for one request (limit "
              "input_rounds); the request may have been carried out");
}

TEST_F(Questions, MayBeAsManyAtOnceAsTheLimitSays) {
    limits.input_requests = 2;
    be_curious(1, 2);
    EXPECT_TRUE(ask(call("a")));
    asked_for = 0;
    be_curious(1, 3);
    EXPECT_EQ(ask(call("a")).error().message,
              "server \"s\": asked 3 questions at once, more than 2 (limit input_requests); the "
              "request may have been carried out");
}

}  // namespace
}  // namespace patchbay::connection
