// Which redirects the engine follows, and what goes along.
#include "engine_fixture.hpp"
#include "support/tls_server.hpp"

namespace patchbay::net {
namespace {

using ::testing::HasSubstr;

std::string moved(int status, const std::string& to) {
    return ScriptedHttp::empty(std::to_string(status) + " Moved", "Location: " + to + "\r\n");
}

TEST_F(EngineTest, OnlyARedirectThatSaysWhereToIsFollowed) {
    std::atomic<int> status{0};
    ScriptedHttp server([&](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has(" /there ")) return {ScriptedHttp::json("{}")};
        if (request.has(" /nowhere ")) return {ScriptedHttp::empty("307 There")};
        return {moved(status, "/there")};
    });
    for (const int each : {301, 302, 303, 307, 308}) {
        status = each;
        EXPECT_EQ(ran(server.url())->status, 200) << each;
    }
    for (const int each : {300, 305, 400}) {
        status = each;
        EXPECT_EQ(ran(server.url())->status, each);
    }
    EXPECT_EQ(ran(server.origin() + "/nowhere")->status, 307);
}

TEST_F(EngineTest, ARedirectThatLosesTheRequestIsNotFollowed) {
    std::atomic<int> status{0};
    ScriptedHttp server([&](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.has(" /there?")) return {ScriptedHttp::json(request.body)};
        return {moved(status, "/there?secret=1")};
    });
    for (const int each : {301, 302, 303, 307, 308}) {
        status = each;
        const auto task = ran(server.url(), [](Told& told) {
            told.request.method = "POST";
            told.request.body = "words";
            told.request.has_body = true;
        });
        if (each >= 307) {
            EXPECT_EQ(task->body, "words") << each;
            continue;
        }
        ASSERT_TRUE(task->trouble) << each;
        EXPECT_EQ(task->trouble->code, PATCHBAY_E_PROTOCOL);
        EXPECT_EQ(task->trouble->text, "the server answered " + std::to_string(each) +
                                           ", a redirect that loses the request; set the url to " +
                                           server.origin() + "/there");
    }
}

TEST_F(EngineTest, ThreeRedirectsAreFollowedAndNoFourth) {
    ScriptedHttp server([](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        const char left = request.head[request.head.find('/') + 1];
        return left == '0' ? ScriptedHttp::Answer{ScriptedHttp::json("{}")}
                           : ScriptedHttp::Answer{moved(307, std::string("/") + char(left - 1))};
    });
    EXPECT_EQ(ran(server.origin() + "/3")->status, 200);
    const auto task = ran(server.origin() + "/4");
    ASSERT_TRUE(task->trouble);
    EXPECT_EQ(task->trouble->text,
              "more than 3 redirects, the last one from " + server.origin() + "/1");
    EXPECT_TRUE(task->trouble->sent) << "who redirects has read it";
}

TEST_F(EngineTest, ARedirectLeadsToNothingButHttp) {
    const struct {
        std::string to;
        patchbay_status code;
        std::string says;
    } redirects[] = {
        {"/%zz", PATCHBAY_E_PROTOCOL, "redirects to where nobody can follow: the URL holds a %"},
        {"ftp://h/", PATCHBAY_E_PROTOCOL, "redirects to where nobody can follow: the URL must"},
        {"ws://127.0.0.1/", PATCHBAY_E_PROTOCOL, "a redirect to another protocol than http"},
        {"https://127.0.0.2/", PATCHBAY_E_DENIED,
         "the server answered 307, a redirect to another origin, https://127.0.0.2/, which was not "
         "asked"}};
    for (const auto& redirect : redirects) {
        ScriptedHttp server(
            [to = redirect.to](const auto&) -> ScriptedHttp::Answer { return {moved(307, to)}; });
        const auto task = ran(server.url());
        ASSERT_TRUE(task->trouble) << redirect.to;
        EXPECT_EQ(task->trouble->code, redirect.code) << redirect.to;
        EXPECT_THAT(task->trouble->text, HasSubstr(redirect.says));
        EXPECT_TRUE(task->trouble->sent);
    }
}

TEST_F(EngineTest, ARedirectFromTlsToNoneIsNotFollowedWhoeverMayLeave) {
    ScriptedHttp open([](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("")}; });
    const test::TlsServer server(
        {}, [&](const std::string&) { return moved(307, open.url() + "?secret=1"); });
    endpoint_.tls.ca_file = server.ca_file();
    const auto task = ran(server.url(), [](Told& told) { told.leaves_origin = true; });
    ASSERT_TRUE(task->trouble);
    EXPECT_EQ(task->trouble->code, PATCHBAY_E_DENIED);
    EXPECT_EQ(task->trouble->text,
              "a redirect from https to http is not followed (" + open.url() + ")");
    EXPECT_EQ(open.connections(), 0);
}

TEST_F(EngineTest, SecretsStayWithTheOriginThatWasAsked) {
    ScriptedHttp other(
        [](const auto&) -> ScriptedHttp::Answer { return {ScriptedHttp::json("")}; });
    ScriptedHttp server([&](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        return {moved(307, request.has(" /mcp ") ? "/there" : other.url())};
    });
    const auto task = ran(server.url(), [](Told& told) {
        told.leaves_origin = true;
        told.secrets.set("Authorization", "Bearer secret");
        told.request.headers.set("X-Open", "yes");
    });
    EXPECT_EQ(task->status, 200);
    EXPECT_EQ(task->url.text(), other.url());
    const auto asked = server.requests();
    ASSERT_EQ(asked.size(), 2u);
    for (const auto& request : asked) EXPECT_TRUE(request.has("Authorization: Bearer secret\r\n"));
    ASSERT_EQ(other.requests().size(), 1u);
    EXPECT_FALSE(other.requests()[0].has("Authorization"));
    EXPECT_TRUE(other.requests()[0].has("X-Open: yes\r\n"));
    const auto kept = ran(server.url());
    ASSERT_TRUE(kept->trouble);
    EXPECT_EQ(kept->trouble->code, PATCHBAY_E_DENIED);
    EXPECT_EQ(other.connections(), 1);
}

TEST_F(EngineTest, WhatWasRedirectedWasSentWhoeverIsNotReachedThen) {
    const auto nobody = ScriptedHttp([](const auto&) -> ScriptedHttp::Answer { return {}; }).url();
    ScriptedHttp server([&](const auto&) -> ScriptedHttp::Answer { return {moved(307, nobody)}; });
    const auto task = ran(server.url(), [](Told& told) { told.leaves_origin = true; });
    ASSERT_TRUE(task->trouble);
    EXPECT_TRUE(task->trouble->refused);
    EXPECT_TRUE(task->trouble->sent) << "who redirects has read it";
}

}  // namespace
}  // namespace patchbay::net
