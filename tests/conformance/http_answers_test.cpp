// The http and sse plugins against servers that answer as no proper server would: what is sent
// again, what is followed, and how much of it.
#include "conformance/http_answers.hpp"

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kLong(100u << 10, 'x');

// ---- ids of events

const std::string kOddIds[] = {"\x01two", "  two", "two ", std::string(8193, '2'), "\x7f"};

TEST_F(HttpAnswers, AnIdThatCannotBeSentBackIsPassedOver) {
    std::atomic<int> round{0};
    serve([&](const Request& request) -> Answer {
        if (request.is("POST"))
            return {
                ScriptedHttp::events("retry: 1\nid: one\ndata: {}\n\nid: " +
                                     kOddIds[static_cast<std::size_t>(round)] + "\ndata: {}\n\n"),
                Then::Close};
        return {ScriptedHttp::events("data: " + kAnswer + "\n\nid\ndata: {}\n\n"), Then::Close};
    });
    for (; round < 5; ++round) {
        EXPECT_EQ(call().status, PATCHBAY_OK);
        const auto asked = server_->last("GET");
        EXPECT_TRUE(asked.has("Last-Event-ID: one\r\n")) << asked.head;
    }
}

TEST_F(HttpAnswers, AnIdThatCannotBeSentBackIsPassedOverOnTheStreamOfTheSession) {
    serve(with_session([](const Request& request) -> Answer {
        if (request.is("POST")) return {ScriptedHttp::empty("202 Accepted")};
        std::string events = "retry: 1\nid: one\ndata: {}\n\n";
        for (const auto& id : kOddIds) events += "id: " + id + "\ndata: {}\n\n";
        return {ScriptedHttp::events(events), Then::Close};
    }));
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") >= 2; }));
    EXPECT_TRUE(server_->last("GET").has("Last-Event-ID: one\r\n"));
}

TEST_F(HttpAnswers, AnIdThatCannotBeSentBackDoesNotEndAnOldStream) {
    serve(
        [](const Request& request) -> Answer {
            if (request.is("POST")) return {ScriptedHttp::empty("202 Accepted")};
            std::string events = "event: endpoint\ndata: /messages\n\n";
            for (const auto& id : kOddIds) events += "id: " + id + "\ndata: {}\n\n";
            return {ScriptedHttp::events(events)};
        },
        "sse");
    ASSERT_TRUE(channel_->until([&] { return channel_->message_count() == 5; }));
    EXPECT_TRUE(channel_->opened());
    EXPECT_EQ(call().status, PATCHBAY_OK);
}

TEST_F(HttpAnswers, WhatEndsAnOldStreamIsToldOfTheMessageThatWasOnItsWay) {
    serve(
        [](const Request& request) -> Answer {
            if (request.is("GET"))
                return {ScriptedHttp::events("event: endpoint\ndata: /messages\n\n")};
            return {.bytes = {},
                    .on_stream = "event: endpoint\ndata: http://127.0.0.2:1/messages\n\n"};
        },
        "sse");
    ASSERT_TRUE(channel_->until([&] { return channel_->opened(); }));
    EXPECT_THAT(call().text, HasSubstr("an endpoint of another origin (http://127.0.0.2:1)"));
}

// ---- what is packed

TEST_F(HttpAnswers, APackedAnswerThatIsCutOffIsToldAndNotTakenForAMessage) {
    // {"jsonrpc":"2.0","id":1,"result":{"text":"a long answer that is cut"}}
    static constexpr char kPacked[] =
        "\037\213\010\000\000\000\000\000\002\003\015\305\101\012\200\040\020\005"
        "\320\253\014\177\055\121\055\275\215\330\120\212\214\341\214\024\210\167"
        "\257\267\171\003\131\253\264\073\302\143\137\126\070\244\003\176\163\150"
        "\254\275\030\374\200\361\373\217\100\245\312\111\101\364\341\106\166\005"
        "\243\244\024\273\141\316\017\020\346\350\174\106\000\000\000";
    const std::string packed(kPacked, sizeof kPacked - 1);
    std::atomic<std::size_t> size{packed.size()};
    serve([&](const Request&) -> Answer {
        return {ScriptedHttp::whole("200 OK", "application/json", packed.substr(0, size),
                                    "Content-Encoding: gzip\r\n")};
    });
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_EQ(channel_->message_count(), 1u);
    size -= 30;
    const auto end = call();
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.text, "the answer was cut off: its gzip has no end");
    EXPECT_EQ(end.flags & PATCHBAY_ERR_NOT_SENT, 0u);
    EXPECT_EQ(channel_->message_count(), 1u);
    size = packed.size() - 6;  // some servers leave off the end, and the message is whole
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_EQ(channel_->message_count(), 2u);
}

// ---- what cannot be a header

TEST_F(HttpAnswers, AMessageThatMakesNoHeaderSaysWhichAndWasNotSent) {
    serve([](const Request&) -> Answer { return {ScriptedHttp::json(kAnswer)}; });
    channel_->protocol = std::string(8193, 'x');
    const auto end = call();
    EXPECT_EQ(end.status, PATCHBAY_E_INVALID);
    EXPECT_THAT(end.text, AllOf(HasSubstr("MCP-Protocol-Version"), HasSubstr("over 8192 bytes")));
    EXPECT_EQ(end.flags, PATCHBAY_ERR_NOT_SENT);
    EXPECT_EQ(server_->count("POST"), 0u);
    channel_->protocol.clear();
    EXPECT_EQ(call().status, PATCHBAY_OK);
}

// ---- exactly once

struct AfterTheBreak {
    const char* name;
    Answer get;
};

class BrokenAnswer : public HttpAnswers, public testing::WithParamInterface<AfterTheBreak> {};

TEST_P(BrokenAnswer, IsNotAskedForASecondTime) {
    serve(with_session([&](const Request& request) -> Answer {
        const bool vanishes = GetParam().get.then == Then::Vanish;
        if (request.is("POST"))
            return {ScriptedHttp::events("retry: 1\nid: 7\ndata:\n\n"),
                    vanishes ? Then::Vanish : Then::Close};
        return GetParam().get;
    }));
    begin_session();
    const auto end = call();
    EXPECT_LT(end.status, 0);
    EXPECT_NE(end.status, PATCHBAY_E_SESSION) << end.text;
    EXPECT_NE(end.status, PATCHBAY_E_AUTH) << end.text;
    EXPECT_EQ(end.flags & PATCHBAY_ERR_NOT_SENT, 0u) << end.text;
    EXPECT_THAT(end.text, HasSubstr("cannot be taken up again"));
    EXPECT_EQ(server_->count("POST"), 2u) << "initialize and the call";
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenAnswer,
    testing::Values(AfterTheBreak{"WhenTheGetIsRefused", {{}, Then::Vanish}},
                    AfterTheBreak{"WhenTheGetMeetsNoSession",
                                  {ScriptedHttp::empty("404 Not Found"), Then::Keep}},
                    AfterTheBreak{"WhenTheGetIsNotAllowed",
                                  {ScriptedHttp::empty("405 Method Not Allowed"), Then::Keep}},
                    AfterTheBreak{"WhenTheGetWantsASignIn",
                                  {ScriptedHttp::empty("401 Unauthorized"), Then::Keep}},
                    AfterTheBreak{"WhenTheGetEndsWithoutAnAnswer", {{}, Then::Close}}),
    [](const auto& each) { return each.param.name; });

// Over a connection that was kept, and is closed without an answer: nobody can tell whether it was
// read.
class LeftAlone : public HttpAnswers, public testing::WithParamInterface<const char*> {
protected:
    std::size_t times_sent(const std::string& method) {
        serve(
            [](const Request& request) -> Answer {
                if (request.is("GET"))
                    return {ScriptedHttp::events("event: endpoint\ndata: /messages\n\n")};
                if (request.body == "{}") return {ScriptedHttp::empty("202 Accepted")};
                return {{}, Then::Close};
            },
            GetParam());
        EXPECT_TRUE(channel_->until([&] { return channel_->opened(); }));
        EXPECT_EQ(call("ping", "{}").status, PATCHBAY_OK);
        if (std::string_view(GetParam()) == "http")
            channel_->settle(1);  // so its connection is kept
        EXPECT_LT(call(method, R"({"id":2})").status, 0);
        std::size_t times = 0;
        for (const auto& each : server_->requests()) times += each.body == R"({"id":2})";
        return times;
    }
};

TEST_P(LeftAlone, AMethodThatMayDoAnythingIsSentOnce) {
    EXPECT_EQ(times_sent("orders/create"), 1u);
}
TEST_P(LeftAlone, SoIsANotificationThatNobodyKnows) {
    EXPECT_EQ(times_sent("notifications/paid"), 1u);
}
TEST_P(LeftAlone, WhatOnlyReadsIsSentOnceMore) {
    EXPECT_EQ(times_sent("tools/list"), 2u);
}

INSTANTIATE_TEST_SUITE_P(, LeftAlone, testing::Values("http", "sse"),
                         [](const auto& each) { return std::string(each.param); });

struct Refused {
    const char* name;
    std::string answer;
    patchbay_status status;
    std::size_t messages;
};

class RefusedCall : public HttpAnswers, public testing::WithParamInterface<Refused> {};

TEST_P(RefusedCall, IsALostSessionOnlyWhenItIs) {
    serve(with_session([&](const Request&) -> Answer { return {GetParam().answer, Then::Close}; }));
    begin_session();
    const auto before = channel_->message_count();
    const auto end = call();
    EXPECT_EQ(end.status, GetParam().status) << end.text;
    EXPECT_EQ(channel_->message_count() - before, GetParam().messages);
    EXPECT_EQ(server_->count("POST"), 2u);
}

std::string error_for(const std::string& id) {
    return R"({"jsonrpc":"2.0","id":)" + id +
           R"(,"error":{"code":-32602,"message":"Bad Request: No such session"}})";
}
std::string nested(std::size_t depth) {
    return R"({"jsonrpc":"2.0","error":)" + std::string(depth, '[') + std::string(depth, ']') +
           R"(,"why":"session"})";
}
std::string refusal(const std::string& status, const std::string& body) {
    return ScriptedHttp::whole(status, "application/json", body);
}

INSTANTIATE_TEST_SUITE_P(
    , RefusedCall,
    testing::Values(
        Refused{"ForOurOwnId", refusal("400 Bad Request", error_for("1")), PATCHBAY_OK, 1},
        Refused{"ForATextAsId", refusal("400 Bad Request", error_for("\"1\"")), PATCHBAY_OK, 1},
        Refused{"ForNobody", refusal("400 Bad Request", error_for("null")), PATCHBAY_E_SESSION, 0},
        Refused{
            "ForNobodyWithBlanks",
            refusal("400 Bad Request",
                    " {\t\"error\" : [ { } , [ ] , \"a\\\"]\" , -1.5e3 , {\"a\" : true } ] ,\r\n"
                    "\"jsonrpc\" : \"2.0\" , \"id\" : null , \"why\" : \"SESSION\" } "),
            PATCHBAY_E_SESSION, 0},
        Refused{"WithoutAnId", refusal("400 Bad Request", R"({"jsonrpc":"2.0","error":"session"})"),
                PATCHBAY_E_SESSION, 0},
        Refused{"WithoutTheWord",
                refusal("400 Bad Request", R"({"jsonrpc":"2.0","error":"sesion","id":null})"),
                PATCHBAY_OK, 1},
        Refused{"NoError", refusal("400 Bad Request", R"({"jsonrpc":"2.0","result":"session"})"),
                PATCHBAY_OK, 1},
        Refused{"NoRpc", refusal("400 Bad Request", R"({"error":"session","id":null})"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"AnotherStatus", refusal("409 Conflict", error_for("null")), PATCHBAY_OK, 1},
        Refused{"Deep", refusal("400 Bad Request", nested(64)), PATCHBAY_E_SESSION, 0},
        Refused{"TooDeep", refusal("400 Bad Request", nested(65)), PATCHBAY_E_PROTOCOL, 0},
        Refused{"ABatch", refusal("400 Bad Request", "[" + error_for("null") + "]"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"WithMoreBehind", refusal("400 Bad Request", error_for("null") + "{}"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"WithoutAValue", refusal("400 Bad Request", R"({"jsonrpc":,"error":"session"})"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"WithoutAColon",
                refusal("400 Bad Request", R"({"jsonrpc" "2.0","error":{"session" 1}})"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"WithAnotherBracket",
                refusal("400 Bad Request", R"({"jsonrpc":"2.0","error":["session"}})"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"NotFound", refusal("404 Not Found", error_for("null")), PATCHBAY_E_SESSION, 0},
        Refused{"NotFoundAndCutOff",
                "HTTP/1.1 404 Not Found\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"",
                PATCHBAY_E_SESSION, 0},
        Refused{"CutOff",
                "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
                "Content-Length: 500\r\n\r\n" +
                    error_for("null"),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"CutInTheMiddle",
                "HTTP/1.1 400 Bad Request\r\nContent-Length: 500\r\n\r\n" +
                    error_for("null").substr(0, 90),
                PATCHBAY_E_PROTOCOL, 0},
        Refused{"TooLong",
                refusal("400 Bad Request", R"({"jsonrpc":"2.0","error":{"message":"session )" +
                                               kLong + R"("},"id":null})"),
                PATCHBAY_E_PROTOCOL, 0}),
    [](const auto& each) { return each.param.name; });

// ---- refusals

TEST_F(HttpAnswers, WhatARefusalSaysIsCutAndItsStatusCounts) {
    const struct {
        std::string answer;
        patchbay_status status;
        std::string says;
    } refusals[] = {
        {ScriptedHttp::whole("401 Unauthorized", "text/plain", kLong), PATCHBAY_E_AUTH, "HTTP 401"},
        {ScriptedHttp::whole("404 Not Found", "text/plain", kLong), PATCHBAY_E_PROTOCOL,
         "HTTP 404"},
        {ScriptedHttp::whole("401 Unauthorized", "text/plain", "br", "Content-Encoding: br\r\n"),
         PATCHBAY_E_AUTH, "HTTP 401"},
        {"HTTP/1.1 401 Unauthorized\r\nContent-Length: 500\r\n\r\ncut off", PATCHBAY_E_AUTH,
         "HTTP 401 Unauthorized"},
        {"HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
         PATCHBAY_E_AUTH, "HTTP 401"},
    };
    std::atomic<std::size_t> nth{0};
    serve([&](const Request&) -> Answer { return {refusals[nth].answer, Then::Close}; });
    for (; nth < std::size(refusals); ++nth) {
        const auto end = call();
        EXPECT_EQ(end.status, refusals[nth].status) << nth << ": " << end.text;
        EXPECT_THAT(end.text, HasSubstr(refusals[nth].says));
    }
}

// ---- redirects

TEST_F(HttpAnswers, NothingFollowsARedirectToAnotherOrigin) {
    ScriptedHttp other([](const Request&) -> Answer { return {ScriptedHttp::json(kAnswer)}; });
    for (const char* status : {"301 Moved", "302 Found", "303 See", "307 There", "308 Gone"}) {
        serve([&](const Request&) -> Answer {
            return {ScriptedHttp::whole(status, "text/plain", "words of theirs",
                                        "Location: " + other.url() + "?secret=1\r\n")};
        });
        const auto end = call();
        EXPECT_EQ(end.status, PATCHBAY_E_DENIED) << status;
        EXPECT_THAT(end.text, AllOf(HasSubstr(other.url()), HasSubstr("another origin"),
                                    Not(HasSubstr("secret")), Not(HasSubstr("words"))));
        TearDown();
        channel_.reset();
    }
    EXPECT_EQ(other.connections(), 0);
}

TEST_F(HttpAnswers, TheStreamOfASessionStaysWithItsOriginToo) {
    ScriptedHttp other([](const Request&) -> Answer { return {ScriptedHttp::events("")}; });
    serve(with_session([to = other.url()](const Request& request) -> Answer {
        if (request.is("POST")) return {ScriptedHttp::empty("202 Accepted")};
        return {ScriptedHttp::empty("307 There", "Location: " + to + "\r\n")};
    }));
    begin_session();
    EXPECT_EQ(call("notifications/initialized").status, PATCHBAY_OK);
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") >= 1; }));
    EXPECT_EQ(call("notifications/other").status, PATCHBAY_OK);
    EXPECT_EQ(other.connections(), 0);
}

TEST_F(HttpAnswers, ARedirectWithinTheOriginIsFollowed) {
    serve([](const Request& request) -> Answer {
        if (request.has("POST /mcp "))
            return {ScriptedHttp::empty("307 There", "Location: /a%2Fb?c=%2e\r\n")};
        return {ScriptedHttp::json(kAnswer)};
    });
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_THAT(server_->last("POST").head, HasSubstr("POST /a%2Fb?c=%2e HTTP/1.1"));
}

// ---- too many, too fast

TEST_F(HttpAnswers, AStreamThatEndsAtOnceIsNotAskedForWithoutAPause) {
    using Clock = std::chrono::steady_clock;
    struct Times {
        std::mutex mutex;
        std::vector<Clock::time_point> all;
    };
    const auto times = std::make_shared<Times>();  // the server may outlive this function
    serve([times](const Request& request) -> Answer {
        const std::scoped_lock lock(times->mutex);
        times->all.push_back(Clock::now());
        const auto event = "retry: 0\nid: " + std::to_string(request.number) + "\ndata: {}\n\n";
        return {ScriptedHttp::events(event), Then::Close};
    });
    EXPECT_GE(channel_->send("{}", "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") >= 3; }));
    channel_->cancel(1);
    const std::scoped_lock lock(times->mutex);
    EXPECT_GE(times->all[3] - times->all[0], std::chrono::milliseconds(290)) << "three pauses";
}

TEST_F(HttpAnswers, SaysWhenTooManyWait) {
    serve([](const Request&) -> Answer { return {}; });  // never answers
    int sent = 0;
    patchbay_status status = PATCHBAY_OK;
    while (status == PATCHBAY_OK && sent < 5000) {
        status = channel_->send("{}");
        ++sent;
    }
    EXPECT_EQ(status, PATCHBAY_PAUSE) << sent;
    EXPECT_LE(sent, 64 + 1000 + 1);
    EXPECT_EQ(channel_->writable_count(), 0);
    for (int i = 1; i <= sent; ++i) channel_->cancel(static_cast<std::uint64_t>(i));
    ASSERT_TRUE(channel_->until([&] { return channel_->writable_count() == 1; }));
    EXPECT_EQ(channel_->send("{}"), PATCHBAY_OK);
}

TEST_F(HttpAnswers, SaysWhenTooMuchWaits) {
    serve([](const Request&) -> Answer { return {}; });
    const std::string large(1u << 20, ' ');
    int sent = 0;
    while (channel_->send(large) == PATCHBAY_OK && sent < 500) ++sent;
    EXPECT_LE(sent, 64 + 16 + 1);
}

TEST_F(HttpAnswers, EndsAnyNumberOfThemThatWait) {
    serve([](const Request&) -> Answer { return {}; });
    channel_->keep_bodies = false;
    for (int i = 0; i < 20'000; ++i) ASSERT_GE(channel_->send("{}"), 0);
    channel_->close();
    ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
    EXPECT_THAT(channel_->done, SizeIs(20'000));
}

TEST_F(HttpAnswers, APauseBetweenEventsOfOnePieceIsHeeded) {
    std::string events;
    for (int i = 0; i < 5000; ++i) events += "data: {\"n\":" + std::to_string(i) + "}\n\n";
    serve([&](const Request&) -> Answer { return {ScriptedHttp::events(events), Then::Close}; });
    channel_->pause_after = [](std::size_t count) { return count % 100 == 0; };
    EXPECT_GE(channel_->send("{}"), 0);
    for (std::size_t next = 100; next <= 5000; next += 100) {
        ASSERT_TRUE(channel_->until([&] { return channel_->message_count() >= next; })) << next;
        // Long enough for one that does not wait; too short only lets a fault pass.
        loop_.run_until([] { return false; }, core::Clock::now() + std::chrono::milliseconds(5));
        ASSERT_EQ(channel_->message_count(), next);
        channel_->resume();
    }
    EXPECT_TRUE(channel_->until([&] { return channel_->ended_with(PATCHBAY_OK) == 1; }));
    EXPECT_EQ(channel_->messages.back(), "{\"n\":4999}");
}

// ---- the stream of a session

TEST_F(HttpAnswers, ANewSessionWithoutAStreamIsNotALostOne) {
    const auto streams = std::make_shared<std::atomic<int>>(0);
    serve([streams](const Request& request) -> Answer {
        if (request.is("DELETE")) return {ScriptedHttp::empty("200 OK")};
        if (request.is("GET") && ++*streams == 1) return {ScriptedHttp::events(": open\n\n")};
        if (request.is("GET")) return {ScriptedHttp::empty("404 Not Found")};
        if (request.body == "{}") return {ScriptedHttp::empty("202 Accepted")};
        return {ScriptedHttp::json(kAnswer, "Mcp-Session-Id: one\r\n")};
    });
    for (std::size_t session = 1; session <= 2; ++session) {
        begin_session();
        EXPECT_EQ(call("notifications/initialized", "{}").status, PATCHBAY_OK);
        ASSERT_TRUE(channel_->until([&] { return server_->count("GET") == session; }));
    }
    EXPECT_EQ(call("tools/call").status, PATCHBAY_OK);  // by then the 404 has been read
    EXPECT_THAT(channel_->challenges, IsEmpty());
}

TEST_F(HttpAnswers, KeepsTheReasonAtHandWhyTheServerIsNotReachedAsLongAsItIsNot) {
    divisor_ = 100;
    serve([](const Request&) -> Answer {
        return {ScriptedHttp::json(kAnswer, "Connection: close\r\n"), Then::Vanish};
    });
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_EQ(channel_->fact("trouble"), "");
    const auto end = call();
    EXPECT_NE(end.flags & PATCHBAY_ERR_NOT_SENT, 0u) << end.text;
    EXPECT_THAT(channel_->fact("trouble"), HasSubstr("Connection refused"));
}

TEST_F(HttpAnswers, AServerThatIsReachedAgainIsNoTrouble) {
    serve([](const Request& request) -> Answer {
        if (request.number == 1) return {{}, Then::Close};
        return {ScriptedHttp::json(kAnswer)};
    });
    EXPECT_EQ(call().status, PATCHBAY_E_CLOSED);
    EXPECT_THAT(channel_->fact("trouble"), HasSubstr("without an answer"));
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_EQ(channel_->fact("trouble"), "");
}

}  // namespace
