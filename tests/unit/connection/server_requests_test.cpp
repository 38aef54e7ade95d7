// Servers that ask us things, and those that ask without ever reading.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ServerAsks : public ConnectionTest {
protected:
    void ping(int times = 1) {
        for (int i = 0; i < times; ++i)
            server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(++last_) +
                       R"(,"method":"ping"})");
    }
    std::size_t answers() const {
        std::size_t count = 0;
        for (const auto& message : server.received) count += message.contains("method") ? 0 : 1;
        return count;
    }
    void read_all() {  // what the transport has taken is with the server
        for (const auto& arrival : server.arrivals) server.end(arrival.exchange, std::nullopt);
        server.arrivals.clear();
    }
    int last_ = 0;
};

TEST_F(ServerAsks, OneThatNeverReadsIsCutOffAndItsCallsHearWhy) {
    limits.server_requests = 100;
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    begin(call("a"), outcome);
    ping(100);
    ASSERT_TRUE(wait([&] { return answers() == 100; }));
    EXPECT_EQ(connection().state(), State::Ready);
    ping(200);
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(outcome->error().code, ErrorCode::Limit);
    EXPECT_THAT(outcome->error().message,
                HasSubstr("server \"s\": connection lost: sent requests of its own without reading "
                          "the answers: 101 with"));
    EXPECT_THAT(outcome->error().message, HasSubstr("(limit server_requests, 100)"));
    EXPECT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(answers(), 100u) << "nothing after the limit is answered";
}

TEST_F(ServerAsks, WhatItHasReadDoesNotCount) {
    limits.server_requests = 2;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    for (std::size_t round = 1; round <= 20; ++round) {
        ping(2);
        ASSERT_TRUE(wait([&] { return answers() == 2 * round; }));
        read_all();
    }
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ServerAsks, BytesCountAsWell) {
    limits.server_request_bytes = 10'000;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 0; i < 3; ++i)
        server.say(R"({"jsonrpc":"2.0","method":"ping","id":")" + std::string(4'000, 'x') + "\"}");
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
    EXPECT_THAT(connection().status().last_error, HasSubstr("limit server_request_bytes, 10000"));
    EXPECT_EQ(answers(), 2u);
}

TEST_F(ServerAsks, OneAloneMayBeLargerThanAllTogether) {
    limits.server_request_bytes = 1'000;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.say(R"({"jsonrpc":"2.0","method":"ping","id":")" + std::string(4'000, 'x') + "\"}");
    ASSERT_TRUE(wait([&] { return answers() == 1; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ServerAsks, ThoseThatAPersonThinksAboutCount) {
    limits.server_requests = 3;
    use_person();
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 0; i < 4; ++i)
        server.say(R"({"jsonrpc":"2.0","method":"elicitation/create","id":"e","params":{}})");
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
    EXPECT_THAT(connection().status().last_error, HasSubstr("limit server_requests, 3"));
    EXPECT_EQ(asked.size(), 3u);
}

TEST_F(ServerAsks, BehindHttpTooWhereEachAnswerIsAMessageOfItsOwn) {
    spec.config.transport = "http";
    server.be_http();
    limits.server_requests = 100;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    ping(101);
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
    EXPECT_THAT(connection().status().last_error, HasSubstr("limit server_requests, 100"));
}

TEST_F(ServerAsks, WhatWaitsForAFullTransportCounts) {
    limits.server_requests = 100;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.full = true;
    ping(101);
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
    EXPECT_EQ(answers(), 1u) << "the one that it said it was full with";
}

TEST_F(ServerAsks, ThousandsInOneMessageAreAnsweredOneByOne) {
    server.be_legacy({}, "2025-03-26");
    ASSERT_EQ(connect(), State::Ready);
    std::string batch = "[";
    for (int i = 1; i <= 5'000; ++i)
        batch += (i > 1 ? "," : "") +
                 (R"({"jsonrpc":"2.0","method":"ping","id":)" + std::to_string(i) + "}");
    server.say(batch + "]");
    ASSERT_TRUE(wait([&] { return answers() == 5'000; }));
    EXPECT_EQ(server.received.back().at("id"), 5'000);
    EXPECT_EQ(connection().state(), State::Ready);
    read_all();
    limits.server_requests = 1'000;  // the context holds a copy
    context->terms.limits.server_requests = 1'000;
    server.received.clear();
    server.say(batch + "]");
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
    EXPECT_EQ(answers(), 1'000u);
}

TEST_F(ServerAsks, ABatchWithAnItemThatIsNoMessageIsOneLineForPeopleAndNothingElse) {
    server.be_legacy({}, "2025-03-26");
    ASSERT_EQ(connect(), State::Ready);
    server.say("[{},{},{},{}]");
    server.say(R"({"jsonrpc":"2.0","method":"ping","id":1})");
    ASSERT_TRUE(wait([&] { return answers() == 1; }));
    EXPECT_THAT(events.output, ElementsAre("[{},{},{},{}]"));
    server.say(R"([{"jsonrpc":"2.0","method":"ping","id":2},5])");
    server.say(R"({"jsonrpc":"2.0","method":"ping","id":3})");
    ASSERT_TRUE(wait([&] { return answers() == 2; }));
    EXPECT_EQ(server.received.back().at("id"), 3) << "the batch is refused whole";
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ServerAsks, ABatchHasNoMoreItemsThanItsLimit) {
    limits.batch_items = 2;
    server.be_legacy({}, "2025-03-26");
    ASSERT_EQ(connect(), State::Ready);
    const std::string note = R"({"jsonrpc":"2.0","method":"n"})";
    server.say("[" + note + "," + note + "]");
    ASSERT_TRUE(wait([&] { return caller.methods().size() == 2; }));
    server.say("[" + note + "," + note + "," + note + "]");
    server.say(note);
    ASSERT_TRUE(wait([&] { return caller.methods().size() == 3; }));
    EXPECT_THAT(connection().status().last_error, HasSubstr("limit batch_items"));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ServerAsks, AnAnswerThatComesTooLateIsNotForTheNextSession) {
    long_lived = true;
    use_person();
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.say(R"({"jsonrpc":"2.0","method":"elicitation/create","id":"e","params":{}})");
    ASSERT_TRUE(wait([&] { return asked.size() == 1; }));
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().status().restarts == 1; }));
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    asked[0](json::object{{"name", "x"}});
    ping();
    ASSERT_TRUE(wait([&] { return answers() > 0; }));
    EXPECT_EQ(answers(), 1u);
    EXPECT_EQ(server.received.back().at("id"), 1) << "the ping's";
}

TEST_F(ServerAsks, NorForTheSessionThatFollowsALostOne) {
    spec.config.transport = "http";
    server.be_http();
    use_person();
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.say(R"({"jsonrpc":"2.0","method":"elicitation/create","id":"e","params":{}})");
    ASSERT_TRUE(wait([&] { return asked.size() == 1; }));
    server.challenge(FakeServer::problem(ErrorCode::SessionLost, "HTTP 404", 404));
    ASSERT_TRUE(wait([&] {
        return server.requests("notifications/initialized").size() == 2 &&
               connection().state() == State::Ready;
    }));
    asked[0](json::object{});
    ping();
    ASSERT_TRUE(wait([&] { return answers() > 0; }));
    EXPECT_EQ(server.received.back().at("id"), 1) << "the ping's";
    EXPECT_EQ(server.opened, 1);
}

class ServerAsksAPerson : public ServerAsks {
protected:
    ServerAsksAPerson() {
        use_person();
        server.be_legacy({tool_named("a")});
    }
    void elicit(const std::string& id) {
        const auto before = asked.size();
        server.say(R"({"jsonrpc":"2.0","method":"elicitation/create","id":)" + id +
                   R"(,"params":{}})");
        ASSERT_TRUE(wait([&] { return asked.size() > before; }));
    }
    std::string answer_to(const json::value& id) const {
        for (const auto& message : server.received)
            if (!message.contains("method") && message.at("id") == id)
                return json::serialize(message.at("result"));
        return "none";
    }
};

TEST_F(ServerAsksAPerson, WithTheLastCallThatWaitsTheQuestionIsWithdrawn) {
    ASSERT_EQ(connect(), State::Ready);
    Outcome first, second;
    const auto one = begin(call("a"), first), two = begin(call("a"), second);
    ASSERT_TRUE(wait([&] { return server.requests("tools/call").size() == 2; }));
    elicit("\"e\"");
    connection().cancel(one, "");
    EXPECT_TRUE(withdrawn.empty()) << "the other call may be the one that needs it";
    connection().cancel(two, "");
    EXPECT_EQ(withdrawn, std::set<std::size_t>{0});
    ASSERT_TRUE(wait([&] { return answer_to("e") != "none"; }));
    EXPECT_EQ(answer_to("e"), R"({"action":"cancel"})");
    asked[0](json::object{});  // too late
    pass(1ms);
    EXPECT_EQ(answers(), 1u);
}

TEST_F(ServerAsksAPerson, ACallThatIsAnsweredWithdrawsNothing) {
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    const auto id = begin(call("a"), outcome);
    elicit("1");
    server.answer(static_cast<std::int64_t>(id), "{}");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_TRUE(withdrawn.empty());
}

TEST_F(ServerAsksAPerson, AnAnswerIsGivenOnceAndTheCallGoesOn) {
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    const auto id = begin(call("a"), outcome);
    ASSERT_TRUE(wait([&] { return server.requests("tools/call").size() == 1; }));
    elicit("7");
    asked[0](json::object{{"n", 1}});
    ASSERT_TRUE(wait([&] { return answers() == 1; }));
    connection().cancel(id, "");
    pass(1ms);
    EXPECT_EQ(answers(), 1u);
    EXPECT_EQ(answer_to(7), R"({"action":"accept","content":{"n":1}})");
}

TEST_F(ServerAsksAPerson, WhatItCancelsItselfIsWithdrawnAndNotAnswered) {
    ASSERT_EQ(connect(), State::Ready);
    elicit("\"e\"");
    elicit("8");
    for (const auto* id : {"\"other\"", "\"e\""})
        server.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                   std::string(id) + "}}");
    ASSERT_TRUE(wait([&] { return !withdrawn.empty(); }));
    EXPECT_EQ(withdrawn, std::set<std::size_t>{0});
    asked[0](json::object{});
    asked[1](std::nullopt);
    ASSERT_TRUE(wait([&] { return answers() == 1; }));
    pass(1ms);
    EXPECT_EQ(answer_to("e"), "none");
    EXPECT_EQ(answer_to(8), R"({"action":"decline"})");
}

TEST_F(ServerAsksAPerson, OfSeveralWithOneIdItCancelsTheFirst) {
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 0; i < 3; ++i) elicit("1");
    for (std::size_t i = 0; i < 4; ++i) {
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
        pass(1ms);
        EXPECT_EQ(withdrawn.size(), std::min<std::size_t>(i + 1, 3));
        EXPECT_EQ(withdrawn.count(i), i < 3 ? 1u : 0u);
    }
    elicit("1");
    asked[3](std::nullopt);
    ASSERT_TRUE(wait([&] { return answers() == 1; }));
}

TEST_F(ServerAsksAPerson, CancellingWhatHasItsAnswerChangesNothing) {
    limits.server_requests = 1;
    ASSERT_EQ(connect(), State::Ready);
    elicit("1");
    asked[0](std::nullopt);
    ASSERT_TRUE(wait([&] { return answers() == 1; }));
    server.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    ping();
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }))
        << "what it has not read counts on";
}

TEST_F(ServerAsksAPerson, TheConnectionMayEndWhileThePersonIsAsked) {
    server.be_legacy({}, "2025-03-26");
    ASSERT_EQ(connect(), State::Ready);
    on_asked = [this] { connection_.reset(); };
    server.say(R"([{"jsonrpc":"2.0","method":"elicitation/create","id":1,"params":{}},)"
               R"({"jsonrpc":"2.0","method":"elicitation/create","id":2,"params":{}}])");
    ASSERT_TRUE(wait([&] { return !asked.empty(); }));
    EXPECT_EQ(asked.size(), 1u);
    EXPECT_EQ(withdrawn, std::set<std::size_t>{0});
}

// That revision knows no such requests, and no answers to them.
TEST_F(ServerAsksAPerson, WhatAModernServerAskedBeforeItSaidThatItIsOneIsForgotten) {
    limits.server_requests = 2;
    server.errors.clear();
    server.results.clear();
    connection().connect([] {});
    ASSERT_TRUE(wait([&] { return !server.requests("server/discover").empty(); }));
    elicit("1");
    elicit("2");
    const auto id = server.requests("server/discover").at(0).at("id").as_int64();
    server.answer(id, R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(withdrawn, (std::set<std::size_t>{0, 1}));
    asked[0](json::object{});
    pass(1ms);
    EXPECT_EQ(answers(), 0u);
}

TEST_F(ServerAsksAPerson, WithTheConnectionItsQuestionsGo) {
    ASSERT_EQ(connect(), State::Ready);
    elicit("1");
    server.crash("exited");
    EXPECT_TRUE(wait([&] { return withdrawn.size() == 1; }));
}

}  // namespace
}  // namespace patchbay::connection
