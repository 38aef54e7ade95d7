// When the http and sse plugins ask again, what they wait for, and for how long: with timers that
// the test turns.
#include "conformance/http_answers.hpp"

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kHold = 500;  // for the first GET of a session

class HttpWaits : public HttpAnswers {
protected:
    HttpWaits() { divisor_ = 1000; }

    static Answer accepted() { return {ScriptedHttp::empty("202 Accepted")}; }
    // A server that is not there.
    void serve_nobody(const std::string& plugin = "http") {
        const auto url = ScriptedHttp([](const Request&) -> Answer { return {}; }).url();
        open(url, plugin);
    }
    // A session whose stream gets those answers, then nothing, and is asked for so many times.
    void hear(std::vector<Answer> answers, std::size_t times) {
        const auto left = std::make_shared<std::vector<Answer>>(std::move(answers));
        serve(with_session([left](const Request& request) -> Answer {
            if (request.is("POST")) return accepted();
            if (left->empty()) return {};
            const auto next = left->front();
            left->erase(left->begin());
            return next;
        }));
        begin_session();
        EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
        ASSERT_TRUE(channel_->until([&] { return server_->count("GET") == times; }));
    }
    // A call whose stream breaks off, then what the GETs are answered with.
    void resume_with(const std::string& first, std::function<Answer(std::size_t nth)> get) {
        const auto gets = std::make_shared<std::size_t>(0);
        serve([=](const Request& request) -> Answer {
            if (request.is("POST")) return {ScriptedHttp::events(first), Then::Close};
            return get(++*gets);
        });
    }
};

// ---- a server that is not there yet

TEST_F(HttpWaits, AServerThatDoesNotListenIsAskedFiveTimesMoreAndMoreRarely) {
    serve_nobody();
    const auto end = call();
    EXPECT_EQ(end.status, PATCHBAY_E_IO);
    EXPECT_EQ(end.flags, PATCHBAY_ERR_NOT_SENT | PATCHBAY_ERR_RETRYABLE) << end.text;
    EXPECT_THAT(waits(), ElementsAre(100, 200, 400, 800));
}

TEST_F(HttpWaits, SaysWhyItWaitsForAServerWhileItDoes) {
    divisor_ = TurnedTimers::kNever;
    serve_nobody();
    EXPECT_GE(channel_->send("{}"), 0);
    ASSERT_TRUE(channel_->until([&] { return channel_->fact("trouble") != ""; }));
    EXPECT_THAT(channel_->fact("trouble"), HasSubstr("Connection refused"));
    EXPECT_EQ(channel_->running(), 1u);
    channel_->cancel(1);
    EXPECT_EQ(channel_->last_end().flags, PATCHBAY_ERR_NOT_SENT);
}

TEST_F(HttpWaits, AnOldServerThatDoesNotListenIsAskedFiveTimesToo) {
    serve_nobody("sse");
    ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
    EXPECT_EQ(channel_->end.status, PATCHBAY_E_IO);
    EXPECT_EQ(channel_->end.flags, PATCHBAY_ERR_RETRYABLE);
    EXPECT_THAT(channel_->end.text, HasSubstr("Connection refused"));
    EXPECT_THAT(channel_->fact("trouble"), HasSubstr("Connection refused"));
    EXPECT_THAT(waits(), ElementsAre(100, 200, 400, 800));
}

// ---- calls that wait for the stream of their session

TEST_F(HttpWaits, ACallWaitsForTheStreamOnWhichTheServerMayAskBack) {
    divisor_ = TurnedTimers::kNever;
    serve(with_session([](const Request& request) -> Answer {
        if (request.is("GET")) return {ScriptedHttp::events(": open\n\n")};
        if (request.body == R"({"id":1})") return {ScriptedHttp::json(kAnswer)};
        // Long enough for a call that does not wait to be there first.
        return {{}, Then::Keep, {"", "", "", "", "", ScriptedHttp::empty("202 Accepted")}};
    }));
    begin_session();
    EXPECT_GE(channel_->send("{}", "notifications/initialized"), 0);
    EXPECT_GE(channel_->send("{}", "notifications/other"), 0);
    EXPECT_GE(channel_->send(R"({"id":1})", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return channel_->ended_with(PATCHBAY_OK) == 4; }));
    const auto requests = server_->requests();
    ASSERT_EQ(requests.size(), 5u);
    EXPECT_TRUE(requests[3].is("GET")) << requests[3].head;
    EXPECT_EQ(requests[4].body, R"({"id":1})");
    EXPECT_EQ(call().status, PATCHBAY_OK) << "the next one waits for nothing";
    EXPECT_THAT(waits(), ElementsAre(kHold));
}

TEST_F(HttpWaits, ACallDoesNotWaitForAStreamThatThereIsNot) {
    divisor_ = TurnedTimers::kNever;
    const std::vector<Answer> answers{{ScriptedHttp::empty("405 Method Not Allowed")},
                                      {{}, Then::Close}};
    for (const auto& answer : answers) {
        serve(with_session([=](const Request& request) -> Answer {
            return request.is("GET") ? answer : Answer{ScriptedHttp::json(kAnswer)};
        }));
        begin_session();
        EXPECT_GE(channel_->send("{}", "notifications/initialized"), 0);
        EXPECT_EQ(call().status, PATCHBAY_OK);
        ASSERT_TRUE(channel_->until([&] { return channel_->ended_with(PATCHBAY_OK) == 3; }));
        TearDown();
        channel_.reset();
    }
}

TEST_F(HttpWaits, ACallDoesNotWaitForEverForAStreamThatDoesNotCome) {
    serve(with_session([](const Request& request) -> Answer {
        return request.is("GET") ? Answer() : Answer{ScriptedHttp::json(kAnswer)};
    }));
    begin_session();
    EXPECT_GE(channel_->send("{}", "notifications/initialized"), 0);
    EXPECT_GE(channel_->send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return channel_->ended_with(PATCHBAY_OK) == 3; }));
    EXPECT_THAT(waits(), ElementsAre(kHold));
}

TEST_F(HttpWaits, ACallThatIsCancelledWhileItWaitsIsNotSent) {
    divisor_ = TurnedTimers::kNever;
    serve(with_session([](const Request&) -> Answer { return {}; }));
    begin_session();
    EXPECT_GE(channel_->send("{}", "notifications/initialized"), 0);
    EXPECT_GE(channel_->send(R"({"id":3})", "tools/call"), 0);
    channel_->cancel(3);
    EXPECT_EQ(channel_->last_end().status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(channel_->last_end().flags, PATCHBAY_ERR_NOT_SENT);
    EXPECT_GE(channel_->send(R"({"id":4})", "tools/call"), 0);
    begin_session();  // the next one waits for no stream of the last
    ASSERT_TRUE(channel_->until([&] { return server_->count("POST") == 4; }));
    for (const auto& request : server_->requests()) EXPECT_NE(request.body, R"({"id":3})");
}

TEST_F(HttpWaits, SaysWhenTooManyWaitForTheStreamAndWhenTheyDoNot) {
    divisor_ = TurnedTimers::kNever;
    serve(with_session([](const Request& request) -> Answer {
        return request.is("GET") ? Answer() : Answer{ScriptedHttp::json(kAnswer)};
    }));
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    channel_->keep_bodies = false;
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(channel_->send("{}", "tools/call"), PATCHBAY_OK) << i;
    EXPECT_EQ(channel_->send("{}", "tools/call"), PATCHBAY_PAUSE);
    begin_session();
    EXPECT_TRUE(channel_->until([&] { return channel_->writable_count() == 1; }));
    EXPECT_TRUE(channel_->until([&] { return channel_->running() == 0; }));
    EXPECT_EQ(channel_->send("{}", "tools/call"), PATCHBAY_OK);
}

// ---- a stream that breaks off

TEST_F(HttpWaits, AStreamIsTakenUpAgainTenTimesWithoutAnEvent) {
    resume_with("id: 7\ndata:\n\n", [](std::size_t) -> Answer {
        return {ScriptedHttp::events(""), Then::Close};
    });
    call();
    EXPECT_EQ(server_->count("GET"), 10u);
    EXPECT_THAT(waits(), ElementsAre(1000, 1000, 1000, 1000, 1600, 3200, 5000, 5000, 5000, 5000));
}

TEST_F(HttpWaits, AStreamThatBringsEventsIsTakenUpAgainAnyNumberOfTimes) {
    resume_with("retry: 1\nid: 7\ndata:\n\n", [](std::size_t nth) -> Answer {
        return {ScriptedHttp::events(nth < 13 ? "id: 8\ndata:\n\n" : "data: " + kAnswer + "\n\n"),
                nth < 13 ? Then::Close : Then::Keep};
    });
    EXPECT_GE(channel_->send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return channel_->message_count() == 1; }));
    EXPECT_EQ(server_->count("GET"), 13u);
    EXPECT_TRUE(server_->requests()[1].has("Last-Event-ID: 7\r\n"));
    EXPECT_TRUE(server_->requests()[2].has("Last-Event-ID: 8\r\n"));
    EXPECT_TRUE(server_->requests()[2].has("Accept: text/event-stream\r\n"));
}

TEST_F(HttpWaits, AStreamThatIsRefusedForNowIsTakenUpWhenTheServerSays) {
    resume_with("retry: 2000\nid: 7\ndata:\n\n", [](std::size_t nth) -> Answer {
        const std::string seconds = nth == 1 ? "9" : "1";
        if (nth < 3)
            return {ScriptedHttp::empty("503 Busy",
                                        "Connection: close\r\nRetry-After: " + seconds + "\r\n"),
                    Then::Close};
        if (nth == 3) return {{}, Then::Close};
        return {ScriptedHttp::events("data: " + kAnswer + "\n\n")};
    });
    EXPECT_GE(channel_->send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return channel_->message_count() == 1; }));
    EXPECT_THAT(waits(), ElementsAre(2000, 9000, 2000, 2000));
}

TEST_F(HttpWaits, AStreamThatIsElsewhereIsNotTakenUp) {
    resume_with("id: 7\ndata:\n\n", [](std::size_t) -> Answer {
        return {ScriptedHttp::empty("307 There", "Location: http://127.0.0.1:1/\r\n")};
    });
    const auto end = call();
    EXPECT_EQ(end.status, PATCHBAY_E_DENIED);
    EXPECT_THAT(end.text, HasSubstr("cannot be taken up again: "));
    EXPECT_THAT(end.text, HasSubstr("another origin"));
    EXPECT_THAT(channel_->fact("trouble"), HasSubstr("another origin"));
    EXPECT_EQ(server_->count("GET"), 1u);
}

TEST_F(HttpWaits, AStreamWhoseAnswerHasBeenReadIsNotTakenUp) {
    divisor_ = TurnedTimers::kNever;
    resume_with("retry: 5\nid: 7\ndata: " + kAnswer + "\n\n",
                [](std::size_t) -> Answer { return {}; });
    EXPECT_GE(channel_->send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return !waits().empty(); }));
    EXPECT_EQ(channel_->running(), 1u);
    channel_->settle(1);
    EXPECT_EQ(channel_->last_end().status, PATCHBAY_OK);
    EXPECT_EQ(channel_->running(), 0u);
    EXPECT_THAT(waits(), ElementsAre(100)) << "and nothing lingers";
}

TEST_F(HttpWaits, AnAnsweredStreamThatTheServerKeepsOpenIsEndedAndNoOther) {
    serve([](const Request&) -> Answer {
        return {ScriptedHttp::events("data: " + kAnswer + "\n\n")};
    });
    for (int i = 0; i < 3; ++i) EXPECT_GE(channel_->send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return channel_->message_count() == 3; }));
    channel_->settle(77);
    EXPECT_THAT(waits(), IsEmpty());
    channel_->settle(1);
    channel_->settle(3);
    ASSERT_TRUE(channel_->until([&] { return channel_->ended_with(PATCHBAY_OK) == 2; }));
    EXPECT_THAT(waits(), ElementsAre(1000));
    EXPECT_FALSE(channel_->end_of_exchange(2));
    channel_->settle(2);
    ASSERT_TRUE(channel_->until([&] { return channel_->ended_with(PATCHBAY_OK) == 3; }));
    EXPECT_THAT(waits(), ElementsAre(1000, 1000));
}

// ---- the stream of a session

TEST_F(HttpWaits, AStreamThatIsRefusedIsAskedForMoreAndMoreRarely) {
    const Answer busy{ScriptedHttp::empty("503 Busy")};
    hear({busy, busy, busy, busy, busy, busy, busy}, 8);
    EXPECT_THAT(waits(), ElementsAre(kHold, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000));
}

TEST_F(HttpWaits, AStreamThatHasBroughtAnEventIsAskedForSoonAgain) {
    const Answer busy{ScriptedHttp::empty("503 Busy")};
    hear({busy, busy, {ScriptedHttp::events("data: {}\n\n"), Then::Close}}, 4);
    EXPECT_THAT(waits(), ElementsAre(kHold, 1000, 2000, 1000));
    EXPECT_EQ(channel_->message_count(), 2u) << "the answer of initialize, and the event";
}

TEST_F(HttpWaits, AStreamIsAskedForWhenTheServerSays) {
    hear({{ScriptedHttp::empty("429 Later", "Retry-After: 9\r\n")},
          {ScriptedHttp::events("retry: 3000\nid: 5\n\n"), Then::Close},
          {{}, Then::Close}},
         4);
    // Where nothing was heard, its word of before does not count.
    EXPECT_THAT(waits(), ElementsAre(kHold, 9000, 3000, 2000));
    EXPECT_TRUE(server_->last("GET").has("Last-Event-ID: 5\r\n"));
    EXPECT_TRUE(server_->last("GET").has("Accept: text/event-stream\r\n"));
    EXPECT_TRUE(server_->last("GET").has("MCP-Session-Id: one\r\n"));
}

// A server that says "retry: 0", and is obeyed, is asked as fast as it can end.
TEST_F(HttpWaits, AStreamThatEndsAtOnceAndSaysAtOnceIsAskedForMoreAndMoreRarely) {
    for (const char* said : {"retry: 0\n\n", "retry: 0\ndata: {}\n\n"}) {
        const Answer over{ScriptedHttp::events(said), Then::Close};
        hear({over, over, over, over, over, over}, 7);
        EXPECT_THAT(waits(), ElementsAre(kHold, 100, 200, 400, 800, 1600, 3200));
        TearDown();
        channel_.reset();
    }
}

TEST_F(HttpWaits, AStreamThatThereIsNotIsAskedForOnce) {
    const std::vector<Answer> answers{
        {ScriptedHttp::empty("404 Not Found")},
        {ScriptedHttp::empty("405 Method Not Allowed")},
        {ScriptedHttp::empty("307 There", "Location: http://127.0.0.1:1/\r\n")}};
    for (const auto& answer : answers) {
        hear({answer}, 1);
        EXPECT_EQ(call("notifications/other").status, PATCHBAY_OK);
        EXPECT_THAT(waits(), ElementsAre(kHold));
        EXPECT_THAT(channel_->challenges, IsEmpty());
        TearDown();
        channel_.reset();
    }
}

TEST_F(HttpWaits, AStreamThatWantsASignInIsAskedForWithWhatComesOfIt) {
    serve(with_session([](const Request& request) -> Answer {
        if (request.is("POST")) return accepted();
        if (request.has("Authorization: Bearer fresh\r\n")) return {ScriptedHttp::events(": \n")};
        return {ScriptedHttp::whole("401 Unauthorized", "text/plain", "sign in",
                                    "WWW-Authenticate: Bearer\r\n")};
    }));
    channel_->signs_in = true;
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    ASSERT_TRUE(channel_->until([&] { return !channel_->challenges.empty(); }));
    EXPECT_EQ(channel_->challenges.front().status, PATCHBAY_E_AUTH);
    EXPECT_THAT(channel_->challenges.front().text, HasSubstr("HTTP 401"));
    EXPECT_THAT(channel_->challenges.front().text, HasSubstr("sign in"));
    EXPECT_THAT(waits(), ElementsAre(kHold)) << "not before";
    for (int i = 0; i < 2; ++i)
        channel_->set_credentials(
            {{plugin::str("Authorization"), plugin::str("Bearer fresh"), 0, 0}});
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") == 2; }));
    EXPECT_THAT(waits(), ElementsAre(kHold, 100)) << "not at once: this may be refused as well";
    EXPECT_EQ(call("notifications/other").status, PATCHBAY_OK);
    EXPECT_EQ(server_->count("GET"), 2u);
    EXPECT_EQ(channel_->challenges.size(), 1u);
}

TEST_F(HttpWaits, AStreamOfALaterSessionIsNotAskedForTwice) {
    const auto asked = std::make_shared<std::size_t>(0);
    serve(with_session([asked](const Request& request) -> Answer {
        if (request.is("POST")) return accepted();
        if (++*asked > 1) return {};
        return {ScriptedHttp::whole("401 Unauthorized", "text/plain", "sign in",
                                    "WWW-Authenticate: Bearer\r\n")};
    }));
    channel_->signs_in = true;
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    ASSERT_TRUE(channel_->until([&] { return !channel_->challenges.empty(); }));
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") == 2; }));
    const auto before = waits();
    channel_->set_credentials({{plugin::str("Authorization"), plugin::str("Bearer fresh"), 0, 0}});
    EXPECT_EQ(waits(), before) << "the one under way is enough";
}

TEST_F(HttpWaits, ANewSessionBeginsItsStreamAnew) {
    const auto sessions = std::make_shared<int>(0);
    serve([sessions](const Request& request) -> Answer {
        if (request.is("GET")) return {ScriptedHttp::events("id: 5\ndata: {}\n\n")};
        if (request.is("DELETE")) return {ScriptedHttp::empty("200 OK")};
        if (request.body != "begin") return accepted();
        return {
            ScriptedHttp::json(kAnswer, "Mcp-Session-Id: " + std::to_string(++*sessions) + "\r\n")};
    });
    for (std::size_t round = 1; round <= 2; ++round) {
        EXPECT_EQ(call("initialize", "begin").status, PATCHBAY_OK);
        EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
        ASSERT_TRUE(channel_->until([&] { return channel_->message_count() == 2 * round; }));
    }
    const auto requests = server_->requests();
    ASSERT_EQ(requests.size(), 6u);
    EXPECT_FALSE(requests[3].has("MCP-Session-Id")) << requests[3].head;
    EXPECT_TRUE(requests[4].has("MCP-Session-Id: 2\r\n"));
    EXPECT_TRUE(requests[5].has("MCP-Session-Id: 2\r\n"));
    EXPECT_FALSE(requests[5].has("Last-Event-ID")) << requests[5].head;
}

// ---- the end of a session

TEST_F(HttpWaits, TheEndOfASessionIsToldToItsServer) {
    divisor_ = TurnedTimers::kNever;
    serve(with_session([](const Request&) { return accepted(); }));
    channel_->protocol = "2025-11-25";
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    EXPECT_TRUE(server_->requests()[1].has("MCP-Protocol-Version: 2025-11-25\r\n"));
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") == 1; }));
    channel_->close();
    ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
    const auto last = server_->last("DELETE");
    EXPECT_THAT(last.head, StartsWith("DELETE /mcp "));
    EXPECT_TRUE(last.has("MCP-Session-Id: one\r\n"));
    EXPECT_TRUE(last.has("MCP-Protocol-Version: 2025-11-25\r\n"));
}

TEST_F(HttpWaits, AServerThatDoesNotAnswerTheEndOfASessionIsLeftInTwoSeconds) {
    serve([](const Request& request) -> Answer {
        if (request.is("DELETE")) return {};
        return {ScriptedHttp::json(kAnswer, "Mcp-Session-Id: one\r\n")};
    });
    begin_session();
    channel_->close();
    ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
    EXPECT_THAT(waits(), ElementsAre(2000));
    EXPECT_EQ(channel_->end.status, PATCHBAY_OK);
}

TEST_F(HttpWaits, WhereThereIsNoSessionNoneIsEnded) {
    serve([](const Request&) -> Answer { return {ScriptedHttp::json(kAnswer)}; });
    begin_session();
    channel_->close();
    ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
    EXPECT_THAT(waits(), IsEmpty());
    EXPECT_EQ(server_->count("DELETE"), 0u);
}

}  // namespace
