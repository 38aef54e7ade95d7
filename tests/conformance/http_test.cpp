// The http plugin's threads: many exchanges at once, ended from every side.
#include "support/http_echo.hpp"
#include "support/plugin_host.hpp"
#include "support/scripted_http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace {

using namespace patchbay;
using namespace patchbay::test;
using ::testing::IsEmpty;

class Http : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(channel_.open("{\"url\":\"" + server_.url() + "\"}"), PATCHBAY_OK)
            << channel_.refusal;
    }
    void TearDown() override {
        if (!channel_.closed()) channel_.close();
        EXPECT_TRUE(channel_.until([&] { return channel_.closed(); }));
        channel_.destroy();
        EXPECT_THAT(channel_.faults, IsEmpty());
        EXPECT_EQ(channel_.released, channel_.given) << "bodies are consumed exactly once";
        EXPECT_EQ(channel_.done.size(), static_cast<std::size_t>(channel_.accepted));
        EXPECT_EQ(host_.misbehaviour(), "");
    }
    std::size_t challenges() { return channel_.challenges.size(); }
    // A request that is answered with itself.
    std::string ask(const std::string& kind, int number) {
        const auto text = "{\"kind\":\"" + kind + "\",\"n\":" + std::to_string(number) + "}";
        EXPECT_GE(channel_.send(text), 0);
        return text;
    }
    bool ended(std::size_t count, patchbay_status status = PATCHBAY_OK) {
        return channel_.until([&] { return channel_.ended_with(status) >= count; });
    }

    // What the server's thread and others do wakes no loop.
    void look() {
        loop_.after(std::chrono::milliseconds(5), [this] { look(); });
    }

    core::Loop loop_;
    HttpEcho server_;
    PluginHost host_{loop_, "http"};
    PluginChannel channel_{loop_, host_};
};

TEST_F(Http, AnswersEveryOneOfManyAtOnce) {
    std::vector<std::string> asked;
    for (int i = 0; i < 300; ++i)
        asked.push_back(ask(i % 3 == 0 ? "stream" : i % 3 == 1 ? "json" : "late", i));
    ASSERT_TRUE(ended(asked.size()));
    std::sort(asked.begin(), asked.end());
    EXPECT_EQ(channel_.sorted_messages(), asked);
}

TEST_F(Http, ThoseThatWaitHoldNoThread) {
    const auto threads = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    look();
    for (int i = 0; i < 50; ++i) ask("never", i);
    ASSERT_TRUE(channel_.until([&] { return server_.waiting() == 50; }));
    ask("json", 1);
    ASSERT_TRUE(ended(1));
    // Those that connected leave when they have been idle for a while.
    EXPECT_TRUE(channel_.until([&] { return threads() < 8; })) << threads();
}

TEST_F(Http, OneThatIsCancelledEndsOnceAndTheOthersGoOn) {
    look();
    for (int i = 0; i < 20; ++i) ask("never", i);
    ASSERT_TRUE(channel_.until([&] { return server_.waiting() == 20; }));
    for (std::uint64_t exchange = 1; exchange <= 20; exchange += 2) {
        channel_.cancel(exchange);
        channel_.cancel(exchange);
    }
    ASSERT_TRUE(ended(10, PATCHBAY_E_CANCELLED));
    ask("json", 1);
    ASSERT_TRUE(ended(1));
    EXPECT_EQ(channel_.running(), 10u);
}

TEST_F(Http, EveryOneIsEndedWhenTheChannelIsClosed) {
    for (int i = 0; i < 100; ++i) ask(i % 2 ? "never" : "late", i);
    channel_.close();
    ASSERT_TRUE(channel_.until([&] { return channel_.closed(); }));
    EXPECT_EQ(channel_.running(), 0u);
    EXPECT_EQ(channel_.send("{}"), PATCHBAY_E_CLOSED);
}

TEST_F(Http, APauseLosesNothing) {
    channel_.pause_after = [](std::size_t messages) { return messages % 10 == 0; };
    for (int i = 0; i < 100; ++i) ask("json", i);
    ASSERT_TRUE(channel_.until([&] {
        channel_.resume();
        return channel_.ended_with(PATCHBAY_OK) == 100;
    }));
    EXPECT_EQ(channel_.sorted_messages().size(), 100u);
}

TEST_F(Http, KeepsItsConnections) {
    for (int i = 0; i < 100; ++i) {
        ask(i % 2 ? "json" : "stream", i);
        ASSERT_TRUE(ended(static_cast<std::size_t>(i) + 1));
        channel_.settle(static_cast<std::uint64_t>(i) + 1);
    }
    EXPECT_LE(server_.connections(), 3);
}

TEST_F(Http, AConnectionThatTheServerEndsIsNotAskedAgain) {
    for (int i = 0; i < 20; ++i) {
        ask(i % 2 ? "json" : "hangup", i);
        ASSERT_TRUE(ended(static_cast<std::size_t>(i) + 1));
        channel_.settle(static_cast<std::uint64_t>(i) + 1);
    }
    EXPECT_EQ(server_.connections(), 10 + 1);
}

TEST_F(Http, SendsMoreThanASocketTakesWhileTheAnswerComesBack) {
    const auto large = "{\"kind\":\"json\",\"text\":\"" + std::string(8u << 20, 'x') + "\"}";
    ASSERT_GE(channel_.send(large), 0);
    const auto small = ask("json", 1);
    ASSERT_TRUE(ended(2));
    EXPECT_EQ(channel_.sorted_messages(), (std::vector<std::string>{small, large}));
}

TEST_F(Http, TellsThatTheSessionIsLostWhenOnlyItsStreamFindsOut) {
    ASSERT_GE(channel_.send(R"({"method":"initialize"})", "initialize"), 0);
    ASSERT_TRUE(ended(1));
    ASSERT_GE(channel_.send("{}", "notifications/initialized"), 0);
    ASSERT_TRUE(channel_.until([&] { return challenges() == 1; }));
    EXPECT_EQ(channel_.challenges.front().status, PATCHBAY_E_SESSION);
    EXPECT_EQ(server_.gets(), 3) << "after 429 it is asked again";
}

// ---- patchbay.host.http/1

class Fetching : public testing::Test {
protected:
    struct Answer {
        core::Loop* loop;
        std::atomic<int> times{0};
        patchbay_status status = PATCHBAY_OK;
        unsigned http_status = 0;
        std::string body, url;
        std::map<std::string, std::string> fields;
    };
    patchbay_op fetch(Answer& answer, const std::string& url, const std::string& body,
                      std::uint32_t timeout_ms = 0, std::uint64_t most = 0,
                      const std::string& beside = {}, const std::string& proxy = {},
                      const std::string& ca_file = {}) {
        patchbay_http_request request{};
        request.beside = plugin::str(beside);
        request.proxy = plugin::str(proxy);
        request.ca_file = plugin::str(ca_file);
        request.struct_size = sizeof request;
        request.method = plugin::str(body.empty() ? "GET" : "POST");
        request.url = plugin::str(url);
        request.body = plugin::str(body);
        request.timeout_ms = timeout_ms;
        request.max_response = most;
        answer.loop = &loop_;
        patchbay_op op = 0;
        const auto status = http_->fetch(host_.plugin(), &request, &answer, on_done, &op);
        if (status < 0) {
            answer.status = status;
            ++answer.times;
        }
        return op;
    }
    bool answered(Answer& answer) {
        return loop_.run_until([&] { return answer.times > 0; },
                               core::Clock::now() + std::chrono::seconds(20));
    }
    // What the server's thread does wakes no loop.
    void look() {
        loop_.after(std::chrono::milliseconds(5), [this] { look(); });
    }
    static void on_done(void* ctx, patchbay_status status, const patchbay_http_response* response,
                        const patchbay_error* error) noexcept {
        auto& answer = *static_cast<Answer*>(ctx);
        answer.status = status;
        if (response) {
            answer.http_status = response->status;
            answer.url = plugin::view(response->url);
            for (std::size_t i = 0; i < response->header_count; ++i)
                answer.fields.emplace(plugin::view(response->headers[i].name),
                                      plugin::view(response->headers[i].value));
        }
        answer.body = response ? std::string(plugin::view(response->body)) : error->message;
        auto* const loop = answer.loop;
        ++answer.times;  // whoever waited for it may be gone now
        loop->post([] {});
    }

    core::Loop loop_;
    HttpEcho server_;
    PluginHost host_{loop_, "http"};
    const patchbay_plugin_http* http_ = host_.extension<patchbay_plugin_http>(PATCHBAY_PLUGIN_HTTP);
};

TEST_F(Fetching, BringsTheAnswer) {
    Answer answer;
    fetch(answer, server_.url(), "{\"grant\":1}");
    ASSERT_TRUE(answered(answer));
    EXPECT_EQ(answer.status, PATCHBAY_OK) << answer.body;
    EXPECT_EQ(answer.http_status, 200u);
    EXPECT_EQ(answer.body, "{\"grant\":1}");
}

TEST_F(Fetching, SaysWhoAnsweredAndWithWhichFields) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has("/moved "))
            return {ScriptedHttp::json("{}", "X-First: 1\r\nX-Last: 2\r\n")};
        return {ScriptedHttp::empty("302 Found", "Location: /moved\r\n")};
    });
    Answer answer;
    fetch(answer, server.url(), "");
    ASSERT_TRUE(answered(answer));
    EXPECT_EQ(answer.url, server.origin() + "/moved");
    EXPECT_THAT(answer.fields,
                testing::IsSupersetOf({testing::Pair("X-First", "1"), testing::Pair("X-Last", "2"),
                                       testing::Pair("Content-Length", "2")}));
    EXPECT_TRUE(server.last("GET").has("Accept-Encoding: gzip\r\n"));
}

TEST_F(Fetching, TakesNoMoreThan16MebibytesWhateverItIsAllowed) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const std::size_t more = request.has("/more ") ? 1 : 0;
        return {ScriptedHttp::whole("200 OK", "text/plain", std::string((16u << 20) + more, 'x'))};
    });
    Answer most, more;
    fetch(most, server.url(), "", 0, 1u << 30);
    ASSERT_TRUE(answered(most));
    EXPECT_EQ(most.body.size(), 16u << 20);
    fetch(more, server.origin() + "/more", "", 0, 1u << 30);
    ASSERT_TRUE(answered(more));
    EXPECT_EQ(more.status, PATCHBAY_E_LIMIT);
}

TEST_F(Fetching, EndsWhatTakesTooLongOrIsTooLarge) {
    Answer late, large;
    fetch(late, server_.url(), "{\"kind\":\"never\"}", 50);
    ASSERT_TRUE(answered(late));
    EXPECT_EQ(late.status, PATCHBAY_E_TIMEOUT) << late.body;
    fetch(large, server_.url(), std::string(2000, 'x'), 0, 1000);
    ASSERT_TRUE(answered(large));
    EXPECT_EQ(large.status, PATCHBAY_E_LIMIT) << large.body;
}

TEST_F(Fetching, CanBeCancelledAndAnswersOnce) {
    look();
    Answer answer;
    const auto op = fetch(answer, server_.url(), "{\"kind\":\"never\"}");
    ASSERT_TRUE(loop_.run_until([&] { return server_.waiting() == 1; },
                                core::Clock::now() + std::chrono::seconds(20)));
    http_->cancel(host_.plugin(), op);
    http_->cancel(host_.plugin(), op);
    ASSERT_TRUE(answered(answer));
    EXPECT_EQ(answer.status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(answer.times, 1);
}

TEST_F(Fetching, RefusesWhatItWillNotAsk) {
    for (const char* url : {"file:///etc/passwd", "http://u:p@h/", "javascript:alert(1)"}) {
        Answer answer;
        fetch(answer, url, "");
        EXPECT_EQ(answer.status, PATCHBAY_E_INVALID) << url;
    }
}

TEST_F(Fetching, AsksBesideAServerOnlyWhatReachesAsFar) {
    Answer own;
    fetch(own, server_.url(), "{\"grant\":1}", 0, 0, "http://127.0.0.1:1/mcp");
    ASSERT_TRUE(answered(own));
    EXPECT_EQ(own.status, PATCHBAY_OK) << own.body;
    const struct {
        std::string url, beside, why;
    } denied[] = {
        {server_.url(), "https://93.184.216.34/mcp", "127.0.0.1 is an address of this machine"},
        {"https://169.254.169.254/x?secret=1", "http://127.0.0.1:1/mcp", "a link-local address"},
        {"https://10.0.0.1/", "http://127.0.0.1:1/mcp", "10.0.0.1 is a private address"},
        {"https://[::ffff:10.0.0.1]/", "https://93.184.216.34/", "a private address"},
        {"http://93.184.216.34/", "https://93.184.216.34/", "only https will do"},
    };
    for (const auto& [url, beside, why] : denied) {
        Answer answer;
        fetch(answer, url, "{}", 0, 0, beside);
        ASSERT_TRUE(answered(answer));
        EXPECT_EQ(answer.status, PATCHBAY_E_DENIED) << url;
        EXPECT_THAT(answer.body, testing::HasSubstr(why));
        EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("secret")));
    }
    EXPECT_EQ(server_.connections(), 1) << "what is denied is not even connected to";
}

TEST_F(Fetching, JudgesEveryHopOfARedirect) {
    const std::string beside = "http://127.0.0.1:1/mcp";
    for (const char* path : {"/to/", "/ever/"}) {
        Answer own;
        fetch(own, server_.origin() + path + server_.url(), "{}", 0, 0, beside);
        ASSERT_TRUE(answered(own));
        EXPECT_EQ(own.status, PATCHBAY_OK) << own.body;
        EXPECT_EQ(own.body, "{}") << "it was posted again";
    }
    for (const auto& [url, why] :
         std::map<std::string, std::string>{{"https://10.0.0.1/", "10.0.0.1 is a private address"},
                                            {"https://169.254.169.254/", "a link-local address"},
                                            {"http://93.184.216.34/", "only https will do"}}) {
        Answer answer;
        fetch(answer, server_.origin() + "/to/" + url, "", 0, 0, beside);
        ASSERT_TRUE(answered(answer));
        EXPECT_EQ(answer.status, PATCHBAY_E_DENIED) << url;
        EXPECT_THAT(answer.body, testing::HasSubstr(why));
    }
    Answer often;
    fetch(often, server_.origin() + "/to/itself", "{}", 0, 0, beside);
    ASSERT_TRUE(answered(often));
    EXPECT_THAT(often.body, testing::HasSubstr("more than 3 redirects"));
}

// A stray answer there would have a code that is good for one use posted again, or called refused.
TEST_F(Fetching, WhatIsPostedGoesOverAConnectionThatCarriedNothing) {
    const auto fetched = [&](const std::string& body) {
        Answer answer;
        fetch(answer, server_.url(), body);
        EXPECT_TRUE(answered(answer));
        EXPECT_EQ(answer.status, PATCHBAY_OK) << answer.body;
        return server_.connections();
    };
    EXPECT_EQ(fetched(""), 1);
    EXPECT_EQ(fetched(""), 1);
    EXPECT_EQ(fetched("code=one"), 2);
    EXPECT_EQ(fetched("code=two"), 3);
}

TEST_F(Fetching, WhatIsPostedStaysWithItsOrigin) {
    for (const char* path : {"/to/", "/ever/"}) {
        SCOPED_TRACE(path);
        const HttpEcho other;
        Answer posted, asked;
        fetch(posted, server_.origin() + path + other.url(), "code=secret");
        ASSERT_TRUE(answered(posted));
        EXPECT_EQ(posted.status, PATCHBAY_E_DENIED);
        EXPECT_THAT(posted.body, testing::HasSubstr("another origin, " + other.url()));
        EXPECT_EQ(other.connections(), 0);
        fetch(asked, server_.origin() + path + other.url(), "");
        ASSERT_TRUE(answered(asked));
        EXPECT_EQ(asked.status, PATCHBAY_OK) << asked.body;
        EXPECT_EQ(other.connections(), 1);
    }
}

TEST_F(Fetching, ARefusalIsCutWhereItIsTooLong) {
    ScriptedHttp server([](const ScriptedHttp::Request&) -> ScriptedHttp::Answer {
        return {ScriptedHttp::whole("404 Not Found", "text/html", std::string(200'000, 'x'))};
    });
    Answer answer;
    fetch(answer, server.url(), "");
    ASSERT_TRUE(answered(answer));
    EXPECT_EQ(answer.status, PATCHBAY_OK) << answer.body;
    EXPECT_EQ(answer.http_status, 404u);
    EXPECT_EQ(answer.body.size(), 64u << 10);
}

TEST_F(Fetching, JudgesTheAddressesThatAProxyIsAskedFor) {
    for (const char* url : {"https://10.0.0.1/", "https://169.254.169.254/", "https://localhost/",
                            "https://[64:ff9b:1::a00:1]/"}) {
        Answer answer;
        fetch(answer, url, "{}", 0, 0, "https://mcp.example/mcp", server_.origin());
        ASSERT_TRUE(answered(answer));
        EXPECT_EQ(answer.status, PATCHBAY_E_DENIED) << url << ": " << answer.body;
    }
    EXPECT_EQ(server_.connections(), 0);
}

TEST_F(Fetching, LeavesTheNamesToAProxyButNotTheScheme) {
    const std::string beside = "https://mcp.example/mcp";
    Answer tunnel, plain;
    fetch(tunnel, "https://as.example/token?secret=1", "{}", 0, 0, beside, server_.origin());
    ASSERT_TRUE(answered(tunnel));
    EXPECT_THAT(tunnel.body, testing::HasSubstr("refused the tunnel to as.example:443"));
    EXPECT_THAT(server_.heads().back(), testing::HasSubstr("CONNECT as.example:443"));
    EXPECT_THAT(server_.heads().back(), testing::Not(testing::HasSubstr("secret")));
    fetch(plain, "http://as.example/", "{}", 0, 0, beside, server_.origin());
    ASSERT_TRUE(answered(plain));
    EXPECT_EQ(plain.status, PATCHBAY_E_DENIED);
    EXPECT_THAT(plain.body, testing::HasSubstr("only https will do"));
    EXPECT_EQ(server_.heads().size(), 1u);
}

TEST_F(Fetching, SaysThatAFileOfAuthoritiesCannotBeUsed) {
    Answer answer;
    fetch(answer, "https" + server_.url().substr(4), "{}", 0, 0, {}, {}, "/no/such/ca.pem");
    ASSERT_TRUE(answered(answer));
    EXPECT_EQ(answer.status, PATCHBAY_E_INVALID);
    EXPECT_THAT(answer.body, testing::HasSubstr("ca_file"));
}

TEST_F(Fetching, WhatIsUnderWayEndsWithTheHost) {
    Answer answer;
    {
        PluginHost other(loop_, "http");
        patchbay_http_request request{};
        request.struct_size = sizeof request;
        request.method = plugin::str("POST");
        const auto url = server_.url();
        request.url = plugin::str(url);
        request.body = plugin::str("{\"kind\":\"never\"}");
        answer.loop = &loop_;
        ASSERT_EQ(http_->fetch(other.plugin(), &request, &answer, on_done, nullptr), PATCHBAY_OK);
    }
    EXPECT_EQ(answer.times, 1);
    EXPECT_EQ(answer.status, PATCHBAY_E_CANCELLED);
}

}  // namespace
