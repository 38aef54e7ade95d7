// What the requests of the http and sse plugins say, and what the head of an answer means to them.
#include "conformance/http_answers.hpp"
#include "conformance/peers.hpp"

#include <filesystem>
#include <thread>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class HttpHeads : public HttpAnswers {};

TEST_F(HttpHeads, ARequestSaysWhatItHoldsAndWhatItTakes) {
    serve([](const Request&) -> Answer { return {ScriptedHttp::json(kAnswer)}; });
    EXPECT_EQ(call("tools/list").status, PATCHBAY_OK);
    EXPECT_THAT(server_->requests()[0].head,
                AllOf(StartsWith("POST /mcp HTTP/1.1\r\n"),
                      HasSubstr("\r\nContent-Type: application/json\r\n"),
                      HasSubstr("\r\nAccept: application/json, text/event-stream\r\n"),
                      HasSubstr("\r\nAccept-Encoding: gzip\r\n"), Not(HasSubstr("MCP-"))));
}

TEST_F(HttpHeads, ANewSessionIsNotAskedForInTheNameOfTheLast) {
    serve([](const Request&) -> Answer {
        return {ScriptedHttp::json(kAnswer, "Mcp-Session-Id: one\r\n")};
    });
    channel_->protocol = "2025-06-18";
    EXPECT_EQ(call("initialize").status, PATCHBAY_OK);
    EXPECT_EQ(call("tools/list").status, PATCHBAY_OK);
    EXPECT_EQ(call("initialize").status, PATCHBAY_OK);
    const auto requests = server_->requests();
    EXPECT_THAT(requests[0].head, Not(HasSubstr("MCP-")));
    EXPECT_THAT(requests[1].head, AllOf(HasSubstr("MCP-Session-Id: one\r\n"),
                                        HasSubstr("MCP-Protocol-Version: 2025-06-18\r\n")));
    EXPECT_THAT(requests[2].head, Not(HasSubstr("MCP-")));
}

TEST_F(HttpHeads, OnlyVisibleLettersMakeASession) {
    const struct {
        std::string id;
        bool fine;
    } ids[] = {{"!~", true}, {"a b", false}, {"\x7f", false}, {"\xc3\xa4", false}};
    for (const auto& [id, fine] : ids) {
        serve([id = id](const Request&) -> Answer {
            return {ScriptedHttp::json(kAnswer, "Mcp-Session-Id: " + id + "\r\n")};
        });
        const auto end = call("initialize");
        EXPECT_EQ(end.status, fine ? PATCHBAY_OK : PATCHBAY_E_PROTOCOL) << id;
        EXPECT_EQ(channel_->message_count(), fine ? 1u : 0u);
        if (!fine) {
            EXPECT_THAT(end.text, HasSubstr("visible ASCII"));
        }
        call();
        EXPECT_EQ(server_->requests()[1].has("MCP-Session-Id: " + id + "\r\n"), fine);
        TearDown();
        channel_.reset();
    }
}

struct Head {
    const char* name;
    const char* method;
    std::string answer;
    patchbay_status status;
    std::string says;
    std::size_t messages = 0;
    std::uint32_t flags = 0;
};

class HttpAnswerHead : public HttpAnswers, public testing::WithParamInterface<Head> {};

TEST_P(HttpAnswerHead, SaysWhatBecomesOfTheMessage) {
    serve([](const Request&) -> Answer { return {GetParam().answer, Then::Close}; });
    const auto end = call(GetParam().method);
    EXPECT_EQ(end.status, GetParam().status) << end.text;
    EXPECT_EQ(end.flags, GetParam().flags);
    EXPECT_THAT(end.text, HasSubstr(GetParam().says));
    EXPECT_EQ(channel_->message_count(), GetParam().messages);
    EXPECT_TRUE(channel_->until([&] { return channel_->released == 1; })) << "nothing is kept";
}

const std::string kTypeless = "HTTP/1.1 200 OK\r\n\r\nwords";
const std::string kAccepted = "HTTP/1.1 202 Accepted\r\n\r\nwords";

INSTANTIATE_TEST_SUITE_P(
    , HttpAnswerHead,
    testing::Values(
        Head{"Json", "a", ScriptedHttp::json(kAnswer), PATCHBAY_OK, "", 1},
        Head{"JsonWithASet", "a",
             ScriptedHttp::whole("200 OK", "Application/JSON; charset=utf-8", kAnswer), PATCHBAY_OK,
             "", 1},
        Head{"BlankJson", "a", ScriptedHttp::json(" \t\r\n"), PATCHBAY_OK, ""},
        Head{"BlanksBeforeJson", "a", ScriptedHttp::json(" \t\r\n{}"), PATCHBAY_OK, "", 1},
        Head{"Accepted", "a", kAccepted, PATCHBAY_OK, ""},
        Head{"NoContent", "a", "HTTP/1.1 204 No Content\r\n\r\n", PATCHBAY_OK, ""},
        Head{"Empty", "a", ScriptedHttp::empty("200 OK"), PATCHBAY_OK, ""},
        Head{"NoType", "a", kTypeless, PATCHBAY_E_PROTOCOL,
             "the server answered with no Content-Type; expected application/json or "
             "text/event-stream"},
        Head{"NoTypeForANotification", "notifications/a", kTypeless, PATCHBAY_OK, ""},
        Head{"NoTypeForWhatIsCalledLikeIt", "a/notifications/", kTypeless, PATCHBAY_E_PROTOCOL,
             "no Content-Type"},
        Head{"HtmlForANotification", "notifications/a",
             ScriptedHttp::whole("200 OK", "text/html", "<p>"), PATCHBAY_E_PROTOCOL,
             "Content-Type text/html; expected application/json or text/event-stream (is this"},
        Head{"ALongType", "a", ScriptedHttp::whole("200 OK", std::string(64, 't') + "uu", "<p>"),
             PATCHBAY_E_PROTOCOL, "Content-Type " + std::string(64, 't') + "...; expected"},
        Head{"TooMany", "a", ScriptedHttp::empty("429 Later"), PATCHBAY_E_PROTOCOL, "HTTP 429", 0,
             PATCHBAY_ERR_RETRYABLE},
        Head{"Busy", "a", ScriptedHttp::empty("503 Busy"), PATCHBAY_E_IO, "HTTP 503", 0,
             PATCHBAY_ERR_RETRYABLE},
        Head{"BusyForAWhile", "a", ScriptedHttp::empty("500 Oops", "Retry-After: 1\r\n"),
             PATCHBAY_E_IO, "HTTP 500", 0, PATCHBAY_ERR_RETRYABLE},
        Head{"Oops", "a", ScriptedHttp::empty("500 Oops"), PATCHBAY_E_IO, "HTTP 500"},
        Head{"NotFoundWithoutASession", "a", ScriptedHttp::empty("404 Not Found"),
             PATCHBAY_E_PROTOCOL, "HTTP 404"},
        Head{"WordsOfASessionWithoutOne", "a",
             ScriptedHttp::whole("400 Bad", "application/json",
                                 R"({"jsonrpc":"2.0","error":{"message":"No session"},"id":null})"),
             PATCHBAY_OK, "", 1},
        Head{"ASignInInJson", "a",
             ScriptedHttp::whole("401 Unauthorized", "application/json", kAnswer), PATCHBAY_E_AUTH,
             "HTTP 401"},
        Head{"ARefusalInJson", "a", ScriptedHttp::whole("500 Oops", "application/json", kAnswer),
             PATCHBAY_OK, "", 1},
        Head{"TooLarge", "a", ScriptedHttp::empty("413 Too Large"), PATCHBAY_E_LIMIT, "HTTP 413"},
        Head{"GatewayTimeout", "a", ScriptedHttp::empty("504 Late"), PATCHBAY_E_TIMEOUT,
             "HTTP 504"},
        Head{
            "NoOtherEventIsAMessage", "a",
            ScriptedHttp::stream("event: other\ndata: {}\n\ndata:\n\nevent: message\ndata: []\n\n"),
            PATCHBAY_OK, "", 1}),
    [](const auto& each) { return each.param.name; });

// ---- the older transport

class Sse : public HttpAnswers {
protected:
    static constexpr const char* kEndpoint = "event: endpoint\ndata: /messages?a=b\n\n";
    // Its stream says `events`, its messages are answered with `answer`.
    void listen_to(const std::string& events, Answer answer = {ScriptedHttp::empty("202 Accepted")},
                   Then then = Then::Keep) {
        serve(
            [=](const Request& request) -> Answer {
                if (request.is("POST")) return answer;
                return {ScriptedHttp::events(events), then};
            },
            "sse");
    }
    PluginChannel::End refused(const std::string& answer) {
        serve([=](const Request&) -> Answer { return {answer, Then::Close}; }, "sse");
        EXPECT_TRUE(channel_->until([&] { return channel_->closed(); }));
        EXPECT_FALSE(channel_->opened());
        const auto end = channel_->end;
        TearDown();
        channel_.reset();
        return end;
    }
    bool opened() {
        return channel_->until([&] { return channel_->opened_or_closed(); }) && channel_->opened();
    }
};

TEST_F(Sse, AsksForItsStreamAndPostsToWhereThatSays) {
    listen_to(kEndpoint);
    ASSERT_TRUE(opened());
    EXPECT_EQ(channel_->fact("trouble"), "");
    channel_->protocol = "2024-11-05";
    EXPECT_EQ(call().status, PATCHBAY_OK);
    channel_->protocol = "";
    EXPECT_EQ(call().status, PATCHBAY_OK);
    const auto requests = server_->requests();
    EXPECT_THAT(requests[0].head, AllOf(StartsWith("GET /mcp HTTP/1.1\r\n"),
                                        HasSubstr("Accept: text/event-stream\r\n"),
                                        HasSubstr("Cache-Control: no-store\r\n")));
    EXPECT_THAT(requests[1].head, AllOf(StartsWith("POST /messages?a=b HTTP/1.1\r\n"),
                                        HasSubstr("Content-Type: application/json\r\n"),
                                        HasSubstr("MCP-Protocol-Version: 2024-11-05\r\n")));
    EXPECT_THAT(requests[2].head, Not(HasSubstr("MCP-Protocol-Version")));
}

TEST_F(Sse, SaysWhatItWaitsForUntilThereIsAnEndpoint) {
    listen_to(": not yet\n\nevent: message\ndata: {}\n\n");
    ASSERT_TRUE(channel_->until([&] { return server_->count("GET") == 1; }));
    EXPECT_THAT(channel_->fact("trouble"), StartsWith("no endpoint event from http://127.0.0.1"));
    EXPECT_EQ(channel_->send("{}"), PATCHBAY_E_CLOSED);
    EXPECT_EQ(channel_->message_count(), 0u);
}

TEST_F(Sse, AnEndpointMayMove) {
    listen_to(std::string(kEndpoint) +
              "event: endpoint\ndata: /other\n\nevent: message\ndata: {}\n\n");
    ASSERT_TRUE(channel_->until([&] { return channel_->message_count() == 1; }));
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_THAT(server_->last("POST").head, StartsWith("POST /other "));
}

TEST_F(Sse, AnEndpointOfAnotherOriginIsNotUsed) {
    listen_to("event: endpoint\ndata: http://127.0.0.1:1/messages\n\n");
    EXPECT_FALSE(opened());
    EXPECT_EQ(channel_->end.status, PATCHBAY_E_DENIED);
    EXPECT_EQ(channel_->end.flags, 0u);
    EXPECT_THAT(channel_->end.text, HasSubstr("(http://127.0.0.1:1); messages go only to http://"));
}

TEST_F(Sse, AnEndpointThatIsNoneIsSaid) {
    listen_to("event: endpoint\ndata: /%zz\n\n");
    EXPECT_FALSE(opened());
    EXPECT_EQ(channel_->end.status, PATCHBAY_E_PROTOCOL);
    EXPECT_THAT(channel_->end.text, StartsWith("the server's endpoint event: the URL holds a %"));
}

TEST_F(Sse, AStreamThatIsRefusedSaysHow) {
    auto end = refused(ScriptedHttp::whole("401 Unauthorized", "text/plain", "sign in"));
    EXPECT_EQ(end.status, PATCHBAY_E_AUTH);
    EXPECT_THAT(end.text, AllOf(HasSubstr("HTTP 401"), HasSubstr("sign in")));
    end = refused(ScriptedHttp::whole("200 OK", "text/html", "<p>"));
    EXPECT_EQ(end.status, PATCHBAY_E_PROTOCOL);
    EXPECT_THAT(end.text, HasSubstr("is this the URL of an MCP server?"));
    end = refused("HTTP/1.1 500 Oops\r\nContent-Length: 50\r\n\r\ncut");
    EXPECT_EQ(end.status, PATCHBAY_E_IO);
    EXPECT_THAT(end.text, HasSubstr("cut"));
    // It stays so, however often it is asked.
    end = refused(ScriptedHttp::empty("307 There", "Location: http://127.0.0.1:1/\r\n"));
    EXPECT_EQ(end.status, PATCHBAY_E_DENIED);
    EXPECT_EQ(end.flags, 0u);
    end = refused("");
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.flags, PATCHBAY_ERR_RETRYABLE);
}

TEST_F(Sse, AStreamThatEndsEndsTheChannelAndMayBeAskedForAgain) {
    for (const bool whole : {true, false}) {
        listen_to(kEndpoint + std::string(whole ? "" : "data: {"), {}, Then::Close);
        ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
        EXPECT_EQ(channel_->end.status, PATCHBAY_E_CLOSED);
        EXPECT_EQ(channel_->end.flags, PATCHBAY_ERR_RETRYABLE);
        EXPECT_EQ(channel_->end.text, std::string("the server ended its event stream") +
                                          (whole ? "" : " in the middle of a message"));
        TearDown();
        channel_.reset();
    }
}

TEST_F(Sse, AMessageThatIsRefusedSaysHowAndTheChannelGoesOn) {
    listen_to(kEndpoint, {ScriptedHttp::whole("400 Bad", "text/plain", "no room")});
    ASSERT_TRUE(opened());
    const auto end = call();
    EXPECT_EQ(end.status, PATCHBAY_E_PROTOCOL);
    EXPECT_THAT(end.text, AllOf(HasSubstr("HTTP 400"), HasSubstr("no room")));
    EXPECT_FALSE(channel_->closed());
    EXPECT_TRUE(channel_->until([&] { return channel_->released == 1; })) << "nothing is kept";
}

TEST_F(Sse, AMessageWhoseAnswerBreaksOffWasSent) {
    listen_to(kEndpoint, {{}, Then::Close});
    ASSERT_TRUE(opened());
    const auto end = call();
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.flags, 0u);
    EXPECT_EQ(server_->count("POST"), 1u) << "a call is not sent twice";
    EXPECT_TRUE(channel_->until([&] { return channel_->released == 1; })) << "nothing is kept";
}

TEST_F(Sse, AMessageThatIsCancelledIsNotKeptAndTheChannelGoesOn) {
    serve(
        [](const Request& request) -> Answer {
            if (request.body == "never") return {};
            if (request.is("POST")) return {ScriptedHttp::empty("202 Accepted")};
            return {ScriptedHttp::events(kEndpoint)};
        },
        "sse");
    ASSERT_TRUE(opened());
    EXPECT_EQ(channel_->send("never"), PATCHBAY_OK);
    ASSERT_TRUE(channel_->until([&] { return server_->count("POST") == 1; }));
    channel_->cancel(1);
    channel_->cancel(1);
    EXPECT_EQ(channel_->last_end().status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(channel_->last_end().flags, 0u) << "the server has it";
    EXPECT_TRUE(channel_->until([&] { return channel_->released == 1; })) << "nothing is kept";
    EXPECT_EQ(call().status, PATCHBAY_OK);
    EXPECT_TRUE(channel_->until([&] { return channel_->released == 2; }));
}

TEST_F(Sse, AnEventThatIsTooLargeEndsTheChannelForGood) {
    std::string events = kEndpoint;
    for (int i = 0; i < 17; ++i) events += "data: " + std::string(1u << 20, 'x') + "\n";
    listen_to(events);
    ASSERT_TRUE(channel_->until([&] { return channel_->closed(); }));
    EXPECT_EQ(channel_->end.status, PATCHBAY_E_LIMIT);
    EXPECT_EQ(channel_->end.flags, 0u);
    EXPECT_THAT(channel_->end.text, HasSubstr("(limit message_bytes)"));
}

TEST_F(Sse, OnlyHttpIsItsProtocol) {
    for (const char* plugin : {"sse", "http"}) {
        PluginHost host(loop_, plugin);
        PluginChannel channel(loop_, host);
        EXPECT_EQ(channel.open(R"({"url":"ws://127.0.0.1/"})"), PATCHBAY_E_INVALID);
        EXPECT_THAT(channel.refusal, HasSubstr("url must begin with http:// or https://"));
        EXPECT_EQ(channel.open(R"({"url":"https://127.0.0.1:1/"})"), PATCHBAY_OK);
    }
}

// ---- both of them

TEST_F(HttpHeads, ThreadsAreGoneWhenThePluginIsShutDown) {
    const auto threads = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    std::thread([] {}).join();  // with the first one a sanitizer may start its own
    const auto before = threads();
    const std::string url = "http://127.0.0.1:" + std::to_string(free_port());
    for (const char* plugin : {"http", "sse", "ws"}) {
        {
            PluginHost host(loop_, plugin);
            host.turn_timers(100);
            PluginChannel channel(loop_, host);
            ASSERT_EQ(channel.open("{\"url\":\"" + url + "\"}"), PATCHBAY_OK);
            if (channel.opened()) {
                EXPECT_EQ(channel.send("{}"), PATCHBAY_OK);
            }
            EXPECT_TRUE(channel.until([&] { return channel.ended() == 1 || channel.closed(); }));
        }
        // Sooner than idle ones leave; the kernel takes its time to forget one that is joined.
        const auto limit = core::Clock::now() + std::chrono::seconds(1);
        while (threads() > before && core::Clock::now() < limit) std::this_thread::yield();
        EXPECT_EQ(threads(), before) << plugin;
    }
}

TEST_F(HttpHeads, AConnectionIsAskedAgainOnlyBehindAnAnswerThatTheHostCouldUse) {
    serve([](const Request&) -> Answer { return {ScriptedHttp::json(kAnswer)}; });
    for (std::uint64_t exchange = 1; exchange <= 3; ++exchange) {
        EXPECT_EQ(call("tools/call").status, PATCHBAY_OK);
        channel_->settle(exchange);
    }
    EXPECT_EQ(server_->connections(), 1);
    EXPECT_EQ(call("tools/call").status, PATCHBAY_OK) << "an answer, but to whom?";
    EXPECT_EQ(call("tools/call").status, PATCHBAY_OK);
    EXPECT_EQ(server_->connections(), 2);
    EXPECT_EQ(server_->count("POST"), 5u) << "each was sent once";
}

TEST_F(HttpHeads, OnlyWhatDoesNoHarmIsSentAgainWhereAKeptConnectionWasLost) {
    for (const std::string plugin : {"http", "sse"}) {
        for (const std::string method : {"tools/list", "tools/call"}) {
            const auto posts = std::make_shared<std::atomic<int>>(0);
            serve(
                [posts](const Request& request) -> Answer {
                    if (request.is("GET"))
                        return {ScriptedHttp::events("event: endpoint\ndata: /mcp\n\n")};
                    if (++*posts == 2) return {{}, Then::Close};
                    return {ScriptedHttp::empty("202 Accepted")};
                },
                plugin);
            ASSERT_TRUE(channel_->until([&] { return channel_->opened_or_closed(); }));
            EXPECT_EQ(call("tools/call").status, PATCHBAY_OK);
            if (plugin == "http") channel_->settle(1);
            const bool harmless = method == "tools/list";
            const auto end = call(method);
            EXPECT_EQ(end.status, harmless ? PATCHBAY_OK : PATCHBAY_E_CLOSED)
                << plugin << " " << method;
            EXPECT_EQ(end.flags, 0u);
            EXPECT_EQ(*posts, harmless ? 3 : 2);
            TearDown();
            channel_.reset();
        }
    }
}

}  // namespace
