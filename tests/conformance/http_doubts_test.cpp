// Refusals and redirects on a connection that has carried a request before, which may be nobody's: the
// server sent them unasked behind its last answer. A call is not carried out twice because of one, and
// not called refused.
#include "http_answers.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <ostream>

namespace patchbay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kCall = R"({"id":2})";
const std::string kOwn = R"({"jsonrpc":"2.0","id":2,"result":{}})";
const std::string kPong = R"({"jsonrpc":"2.0","id":"patchbayprobe","result":{}})";
const std::string kMoved = ScriptedHttp::empty("307 There", "Location: /there\r\n");
const std::string kNobodysError =
    R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}})";

bool is_ping(const Request& request) {
    return request.body.find("\"ping\"") != std::string::npos;
}

// A session whose connection has carried its first request, and a call on it.
class Doubtful : public HttpAnswers {
protected:
    PluginChannel::End call_again(ScriptedHttp::Script script,
                                  const std::string& method = "tools/call") {
        serve(with_session(std::move(script)));
        begin_session();
        channel_->settle(1);
        return call(method, kCall);
    }
    std::size_t count(const std::function<bool(const Request&)>& wanted) const {
        const auto all = server_->requests();
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), wanted));
    }
    std::size_t calls() const {
        return count([](const Request& each) { return each.body == kCall; });
    }
    std::size_t pings() const { return count(is_ping); }
};

TEST_F(Doubtful, WhatWasRedirectedWasSentWhoeverIsNotReachedThen) {
    const auto end = call_again([](const Request& request) -> Answer {
        return {kMoved, is_ping(request) ? Then::Vanish : Then::Keep};
    });
    EXPECT_LT(end.status, 0);
    EXPECT_EQ(end.flags, 0u) << "who redirects has read it";
}

struct Said {
    const char* name;
    std::string bytes;
    patchbay_status means;  // where it is the call's
};
void PrintTo(const Said& said, std::ostream* out) {
    *out << said.name;
}
const Said kSaid[] = {
    {"ARedirect", kMoved, PATCHBAY_OK},
    {"ARedirectInWords",
     ScriptedHttp::whole("307 There", "application/json", kOwn, "Location: /there\r\n"),
     PATCHBAY_OK},
    {"ALostSession", ScriptedHttp::empty("404 Not Found"), PATCHBAY_E_SESSION},
    {"ALostSessionInWords",
     ScriptedHttp::whole("400 Bad Request", "application/json",
                         R"({"jsonrpc":"2.0","id":null,"error":"No such session"})"),
     PATCHBAY_E_SESSION},
    {"AnotherToken", ScriptedHttp::empty("401 Unauthorized"), PATCHBAY_E_AUTH},
    {"AnotherTokenInItsName", ScriptedHttp::whole("401 Unauthorized", "application/json", kOwn),
     PATCHBAY_E_AUTH},
    {"Forbidden", ScriptedHttp::empty("403 Forbidden"), PATCHBAY_E_AUTH},
    {"TooMany", ScriptedHttp::empty("429 Too Many Requests"), PATCHBAY_E_PROTOCOL},
    {"NobodysError", ScriptedHttp::whole("400 Bad Request", "application/json", kNobodysError),
     PATCHBAY_OK}};

bool is_redirect(const Said& said) {
    return said.bytes.find("Location: ") != std::string::npos;
}

class Stray : public Doubtful, public testing::WithParamInterface<Said> {};
std::string name_of(const testing::TestParamInfo<Said>& each) {
    return each.param.name;
}

TEST_P(Stray, IsPassedOverForTheAnswerOfTheCall) {
    for (const auto& own :
         {ScriptedHttp::json(kOwn), ScriptedHttp::stream("data:\n\ndata: " + kOwn + "\n\n")}) {
        const auto end = call_again([&](const Request& request) -> Answer {
            if (is_ping(request)) return {own, Then::Keep, {ScriptedHttp::json(kPong)}};
            return {request.body == kCall ? GetParam().bytes : ScriptedHttp::json(kAnswer)};
        });
        EXPECT_EQ(end.status, PATCHBAY_OK) << end.text;
        EXPECT_EQ(channel_->messages.back(), kOwn);
        EXPECT_EQ(channel_->message_count(), 2u) << "of initialize and the call";
        EXPECT_EQ(calls(), 1u);
        EXPECT_EQ(pings(), 1u);
        channel_->settle(2);
        EXPECT_EQ(call("tools/list").status, PATCHBAY_OK);
        EXPECT_EQ(server_->connections(), 2) << "the probe's answer is not taken for another's";
        EXPECT_EQ(channel_->send("{}", "ping"), PATCHBAY_OK) << "nothing waits any more";
        TearDown();
        channel_.reset();
    }
}

TEST_P(Stray, IsTheCallsWhereTheProbeIsAnsweredNext) {
    const std::string pongs[] = {GetParam().bytes,
                                 ScriptedHttp::json(kPong),
                                 ScriptedHttp::stream("data: " + kPong + "\n\n"),
                                 ScriptedHttp::events("data: " + kPong + "\n\n"),  // and stays
                                 ScriptedHttp::empty("202 Accepted"),
                                 ScriptedHttp::whole("202 Accepted", "application/json", "\n"),
                                 ScriptedHttp::whole("200 OK", "text/html", "<html>")};
    for (const auto& pong : pongs) {
        SCOPED_TRACE(pong);
        const auto end = call_again([&](const Request& request) -> Answer {
            if (request.has(" /there ")) return {ScriptedHttp::json(kOwn)};
            return {is_ping(request) ? pong : GetParam().bytes};
        });
        EXPECT_EQ(end.status, GetParam().means) << end.text;
        EXPECT_THAT(end.text, Not(HasSubstr("could not be found out")));
        EXPECT_EQ(calls(), is_redirect(GetParam()) ? 2u : 1u);
        EXPECT_EQ(pings(), 1u);
        TearDown();
        channel_.reset();
    }
}

TEST_P(Stray, IsNotActedOnWhereTheProbeIsNotAnswered) {
    const auto end = call_again([](const Request& request) -> Answer {
        if (is_ping(request)) return {{}, Then::Close};
        return {GetParam().bytes};
    });
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.flags, 0u) << "it may have been carried out";
    EXPECT_THAT(end.text, HasSubstr("whether that answers this request could not be found out: "
                                    "the server closed the connection without an answer"));
    EXPECT_EQ(calls(), 1u);
}

TEST_P(Stray, IsNotActedOnWhereTheAnswerCameWithIt) {
    const auto end = call_again(
        [](const Request&) -> Answer { return {GetParam().bytes + ScriptedHttp::json(kOwn)}; });
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.flags, 0u);
    EXPECT_THAT(end.text, HasSubstr("could not be found out"));
    EXPECT_EQ(calls(), 1u);
    EXPECT_EQ(pings(), 0u);
}

TEST_P(Stray, IsPassedOverForAnAnswerThatBreaksOff) {
    const auto end = call_again([](const Request& request) -> Answer {
        if (is_ping(request))
            return {ScriptedHttp::stream("data: " + kOwn + "\n\n", ""), Then::Close};
        return {GetParam().bytes};
    });
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.flags, 0u);
    EXPECT_THAT(end.text, HasSubstr("the answer was cut off before its last chunk"));
    EXPECT_EQ(calls(), 1u);
}

// Its answer has begun, and has what the refusal would be acted on for.
TEST_P(Stray, IsNotActedOnBehindTheEndOfTheCall) {
    serve(with_session([](const Request& request) -> Answer {
        if (is_ping(request)) return {"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n"};
        return {GetParam().bytes};
    }));
    begin_session();
    channel_->settle(1);
    EXPECT_GE(channel_->send(kCall, "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return pings() == 1; }));
    let_time_pass();
    channel_->cancel(2);
    ASSERT_TRUE(channel_->until([&] { return server_->closed() == 1; }));
    let_time_pass();
    EXPECT_EQ(channel_->ended(), 2u);
    EXPECT_EQ(channel_->last_end().status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(calls(), 1u);
}

TEST_P(Stray, EndsWithTheCallThatIsCancelled) {
    serve(with_session([](const Request& request) -> Answer {
        if (is_ping(request)) return {};
        return {GetParam().bytes};
    }));
    begin_session();
    channel_->settle(1);
    EXPECT_GE(channel_->send(kCall, "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return pings() == 1; }));
    channel_->cancel(2);
    ASSERT_TRUE(channel_->until([&] { return channel_->ended() == 2; }));
    EXPECT_EQ(channel_->last_end().status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(channel_->last_end().flags, 0u) << "it may have been carried out";
    EXPECT_TRUE(channel_->until([&] { return server_->closed() == 1; })) << "with its probe";
}

TEST_P(Stray, IsBelievedWhereNothingWasAskedBefore) {
    serve([](const Request& request) -> Answer {
        if (request.has(" /there ")) return {ScriptedHttp::json(kOwn)};
        return {GetParam().bytes};
    });
    const auto end = call("tools/call", kCall);
    EXPECT_THAT(end.text, Not(HasSubstr("could not be found out")));
    EXPECT_EQ(pings(), 0u);
}

TEST_P(Stray, IsBelievedOfWhatOnlyReads) {
    const auto end = call_again(
        [](const Request& request) -> Answer {
            if (request.has(" /there ")) return {ScriptedHttp::json(kOwn)};
            return {GetParam().bytes};
        },
        "tools/list");
    EXPECT_EQ(end.status, GetParam().means) << end.text;
    EXPECT_EQ(pings(), 0u);
}

INSTANTIATE_TEST_SUITE_P(, Stray, testing::ValuesIn(kSaid), name_of);

// What the server says of itself, or in the call's name, needs no probe.
TEST_F(Doubtful, AServerThatClosesOrIsInTroubleOrNamesTheCallIsBelieved) {
    const std::string refusals[] = {
        ScriptedHttp::empty("404 Not Found", "Connection: close\r\n"),
        ScriptedHttp::empty("503 Service Unavailable"),
        ScriptedHttp::whole("400 Bad Request", "application/json",
                            R"({"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"x"}})")};
    for (const auto& refusal : refusals) {
        call_again([&](const Request&) -> Answer { return {refusal}; });
        EXPECT_THAT(channel_->last_end().text, Not(HasSubstr("could not be found out")));
        EXPECT_EQ(pings(), 0u) << refusal;
        TearDown();
        channel_.reset();
    }
}

// More of them than connections are kept: those that have answered are used again.
TEST_F(Doubtful, RedirectsOfEveryCallEndNone) {
    serve(with_session([](const Request& request) -> Answer {
        if (is_ping(request)) return {ScriptedHttp::json(kPong)};
        if (request.has(" /there ")) return {ScriptedHttp::json(kOwn)};
        return {kMoved};
    }));
    begin_session();
    channel_->settle(1);
    for (std::uint64_t each = 2; each < 102; ++each) {
        EXPECT_EQ(call("tools/call", kCall).status, PATCHBAY_OK) << channel_->last_end().text;
        channel_->settle(each);
    }
    EXPECT_EQ(server_->connections(), 1);
}

// The probe is a request of the same session, with nothing of the call's own.
TEST_F(Doubtful, TheProbeIsOfTheSessionAndNotOfTheCall) {
    serve(with_session(
        [](const Request&) -> Answer { return {ScriptedHttp::empty("404 Not Found")}; }));
    channel_->set_credentials({{plugin::str("Authorization"), plugin::str("Bearer x"), 0, 0}});
    begin_session();
    channel_->settle(1);
    EXPECT_EQ(call("tools/call", kCall).status, PATCHBAY_E_SESSION);
    const auto ping = server_->last("POST");
    EXPECT_EQ(ping.body, R"({"jsonrpc":"2.0","id":"patchbayprobe","method":"ping"})");
    EXPECT_TRUE(ping.has("POST /mcp HTTP/1.1"));
    EXPECT_TRUE(ping.has("MCP-Session-Id: one\r\n"));
    EXPECT_TRUE(ping.has("Authorization: Bearer x\r\n"));
    EXPECT_TRUE(ping.has("Content-Type: application/json\r\n"));
    EXPECT_EQ(server_->connections(), 1) << "on the connection that it asks about";
}

// ---- over SSE, where both messages are accepted alike

class DoubtfulPost : public HttpAnswers {
protected:
    PluginChannel::End call_again(ScriptedHttp::Script script) {
        serve(
            [script = std::move(script)](const Request& request) -> Answer {
                if (request.is("GET"))
                    return {ScriptedHttp::events("event: endpoint\ndata: /messages\n\n")};
                if (request.body == "{}") return {ScriptedHttp::empty("202 Accepted")};
                return script(request);
            },
            "sse");
        EXPECT_TRUE(channel_->until([&] { return channel_->opened(); }));
        EXPECT_EQ(call("ping", "{}").status, PATCHBAY_OK);
        return call("tools/call", kCall);
    }
    std::size_t calls() const {
        std::size_t found = 0;
        for (const auto& each : server_->requests()) found += each.body == kCall;
        return found;
    }
};

class StrayPost : public DoubtfulPost, public testing::WithParamInterface<Said> {};

TEST_P(StrayPost, IsNotActedOnWhereTheNextIsAccepted) {
    const auto end = call_again([](const Request& request) -> Answer {
        if (is_ping(request)) {
            const auto once = ScriptedHttp::empty("202 Accepted");
            Answer accepted{once + once};  // the call and the probe
            accepted.on_stream = "data: " + kPong + "\n\ndata: {}\n\n";
            return accepted;
        }
        return {GetParam().bytes};
    });
    EXPECT_EQ(end.status, PATCHBAY_E_CLOSED);
    EXPECT_EQ(end.flags, 0u) << "it may have been carried out";
    EXPECT_THAT(end.text, HasSubstr("could not be found out"));
    EXPECT_EQ(calls(), 1u);
    ASSERT_TRUE(channel_->until([&] { return channel_->message_count() > 0; }));
    EXPECT_EQ(channel_->message_count(), 1u);
    EXPECT_EQ(channel_->messages.back(), "{}") << "what the probe is answered is nobody's";
}

TEST_P(StrayPost, IsTheCallsWhereTheProbeIsRefusedToo) {
    const auto end = call_again([](const Request& request) -> Answer {
        if (request.has(" /there ")) return {ScriptedHttp::empty("202 Accepted")};
        return {GetParam().bytes};
    });
    const bool moved = is_redirect(GetParam());
    EXPECT_EQ(end.status == PATCHBAY_OK, moved) << end.text;
    EXPECT_THAT(end.text, Not(HasSubstr("could not be found out")));
    EXPECT_EQ(calls(), moved ? 2u : 1u);
}

TEST_P(StrayPost, EndsWithTheCallThatIsCancelled) {
    serve(
        [](const Request& request) -> Answer {
            if (request.is("GET"))
                return {ScriptedHttp::events("event: endpoint\ndata: /messages\n\n")};
            if (request.body == "{}") return {ScriptedHttp::empty("202 Accepted")};
            return is_ping(request) ? Answer{} : Answer{GetParam().bytes};
        },
        "sse");
    ASSERT_TRUE(channel_->until([&] { return channel_->opened(); }));
    EXPECT_EQ(call("ping", "{}").status, PATCHBAY_OK);
    EXPECT_GE(channel_->send(kCall, "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return is_ping(server_->last("POST")); }));
    channel_->cancel(2);
    ASSERT_TRUE(channel_->until([&] { return channel_->ended() == 2; }));
    EXPECT_EQ(channel_->last_end().status, PATCHBAY_E_CANCELLED);
    EXPECT_EQ(channel_->last_end().flags, 0u);
    EXPECT_TRUE(channel_->until([&] { return server_->closed() == 1; })) << "with its probe";
}

TEST_P(StrayPost, IsNotActedOnBehindTheEndOfTheCall) {
    serve(
        [](const Request& request) -> Answer {
            if (request.is("GET"))
                return {ScriptedHttp::events("event: endpoint\ndata: /messages\n\n")};
            if (request.body == "{}") return {ScriptedHttp::empty("202 Accepted")};
            if (is_ping(request)) return {"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n"};
            return {GetParam().bytes};
        },
        "sse");
    ASSERT_TRUE(channel_->until([&] { return channel_->opened(); }));
    EXPECT_EQ(call("ping", "{}").status, PATCHBAY_OK);
    EXPECT_GE(channel_->send(kCall, "tools/call"), 0);
    ASSERT_TRUE(channel_->until([&] { return is_ping(server_->last("POST")); }));
    let_time_pass();
    channel_->cancel(2);
    ASSERT_TRUE(channel_->until([&] { return server_->closed() == 1; }));
    let_time_pass();
    EXPECT_EQ(channel_->ended(), 2u);
    EXPECT_EQ(calls(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, StrayPost, testing::ValuesIn(kSaid), name_of);

}  // namespace
}  // namespace patchbay::test
