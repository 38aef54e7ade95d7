#include "unit/gateway_http/http_gateway_fixture.hpp"

namespace patchbay::gateway {
namespace {

TEST_F(HttpGatewayTest, GivesALegacyClientASessionAndAnswersInIt) {
    greet();
    const auto list = post(1, "tools/list");
    EXPECT_THAT(body_of(list), HasSubstr("mcp__git__log"));
    EXPECT_EQ(list->header("Content-Type"), "application/json");
    EXPECT_EQ(list->header("MCP-Session-Id"), session);
    EXPECT_THAT(body_of(post(2, "tools/call", kCall)), HasSubstr(R"("id":2,"result")"));
}

TEST_F(HttpGatewayTest, AnswersAModernClientWithoutASession) {
    const auto discovered = post_modern("d", "server/discover");
    EXPECT_EQ(discovered->status, 200u);
    EXPECT_EQ(discovered->header("MCP-Session-Id"), "");
    EXPECT_THAT(discovered->body, HasSubstr("2026-07-28"));
    // Two clients may well have requests of one id in flight.
    be_slow();
    const auto first = post_modern(1, "tools/call", kCall),
               second = post_modern(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    finish(1, "second");
    finish(0, "first");
    EXPECT_THAT(body_of(first), HasSubstr("first"));
    EXPECT_THAT(body_of(second), HasSubstr("second"));
}

TEST_F(HttpGatewayTest, SaysWithTheStatusWhatCouldNotBeUnderstood) {
    EXPECT_EQ(come("POST", {}, message(1, "tools/list", {}))->status, 400u);
    EXPECT_EQ(come("POST", {{"mcp-session-id", "made.up"}}, message(1, "tools/list", {}))->status,
              404u);
    EXPECT_EQ(come("GET", {})->status, 405u);
    EXPECT_EQ(come("DELETE", {})->status, 405u);
    const auto put = come("PUT", {}, "{}");
    EXPECT_EQ(put->status, 405u);
    EXPECT_EQ(put->header("Allow"), "POST, GET, DELETE");
    EXPECT_EQ(come("POST", {}, "{}", "/other")->status, 404u);
    EXPECT_EQ(come("POST", {}, "{")->status, 400u);
    greet();
    EXPECT_EQ(come("POST", of_session(), "[]")->status, 400u);
    EXPECT_EQ(come("GET", {{"mcp-session-id", session}, {"mcp-session-id", session}})->status,
              400u);
    EXPECT_EQ(post_modern(1, "no/such")->status, 404u);
    const auto unknown = post(1, "no/such");
    EXPECT_EQ(unknown->status, 200u);
    EXPECT_THAT(unknown->body, HasSubstr("-32601"));
}

const std::string kParent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

TEST_F(HttpGatewayTest, AClientsHeaderGoesOnWithItsRequestWhereTheServerNamesIt) {
    servers.at("git").takes_headers = true;
    servers.at("github").takes_headers = true;
    for (auto& spec : specs)
        if (spec.id() == "git") {
            spec.config.forward_headers = {"x-request-id"};
            spec.config.mode = "shared";
        }
    greet();
    const auto call_with = [&](const std::string& tool, const std::string& id) {
        auto headers = of_session();
        headers.insert(headers.end(),
                       {{"x-request-id", id}, {"x-other", "o"}, {"authorization", "Bearer me"}});
        body_of(come("POST", headers, message(1, "tools/call", {{"name", tool}})));
    };
    call_with("mcp__git__log", "first");
    greet();  // another client
    call_with("mcp__git__log", "second");
    body_of(post(9, "tools/call", kCall));
    call_with("mcp__github__log", "third");
    std::vector<std::string> arrived;
    for (const auto& [id, server] : servers)
        for (const auto& each : server.arrivals) {
            if (each.method != "tools/call") {
                EXPECT_EQ(each.header("x-request-id"), "(none)") << each.method;
                continue;
            }
            for (const auto& header : each.headers)
                arrived.push_back(header.name + ": " + header.value);
        }
    EXPECT_THAT(arrived, ElementsAre("x-request-id: first", "x-request-id: second"));
}

TEST_F(HttpGatewayTest, HeadersThatAreTooLongAreNotCutButRefused) {
    specs.at(0).config.forward_headers = {"x-request-id"};
    greet();
    auto headers = of_session();
    headers.emplace_back("x-request-id", std::string(9'000, 'x'));
    EXPECT_EQ(come("POST", headers, message(1, "tools/call", kCall))->status, 431u);
}

TEST_F(HttpGatewayTest, ATraceContextInTheHeadGoesOnInMetaWhereThereIsNone) {
    greet();
    const auto trace_of = [&](json::value meta, bool modern) {
        auto params = kCall;
        if (!meta.is_null()) params["_meta"] = meta;
        http::Headers headers = of_session();
        if (modern) {
            headers = {{"mcp-protocol-version", "2026-07-28"},
                       {"mcp-method", "tools/call"},
                       {"mcp-name", "mcp__git__log"}};
            auto& all = params["_meta"];
            if (!all.is_object()) all = json::object();
            all.as_object()["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
            all.as_object()["io.modelcontextprotocol/clientCapabilities"] = json::object();
        }
        headers.emplace_back("traceparent", kParent);
        headers.emplace_back("tracestate", "a=1");
        body_of(come("POST", headers, message(1, "tools/call", std::move(params))));
        const auto sent = servers.at("git").requests("tools/call").back().at("params").as_object();
        const auto* found = sent.if_contains("_meta");
        return found ? json::serialize(*found) : std::string("none");
    };
    const auto carried = "{\"traceparent\":\"" + kParent + "\",\"tracestate\":\"a=1\"}";
    for (const bool modern : {false, true}) {
        EXPECT_EQ(trace_of(nullptr, modern), carried);
        EXPECT_EQ(trace_of({{"traceparent", "mine"}, {"baggage", "k=v"}}, modern),
                  R"({"traceparent":"mine","baggage":"k=v"})");
    }
}

TEST_F(HttpGatewayTest, WhatOneThatMayNotComeInAnyMoreHadOpenEnds) {
    greet();
    be_slow();
    const auto stream = come("GET", of_session());
    const auto call = post(1, "tools/call", kCall), modern = post_modern(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    gateway().dismiss("somebody");
    EXPECT_FALSE(stream->over);
    gateway().dismiss({});
    for (const auto& each : {stream, call, modern}) EXPECT_TRUE(each->over);
    EXPECT_THAT(call->body, HasSubstr("is none any more"));
    EXPECT_TRUE(wait([&] { return cancelled() == 2; }));
}

TEST_F(HttpGatewayTest, OneGuestDoesNotTakeThePlacesOfAllOthers) {
    const auto opened_by = [&](const char* name) {
        return come("POST", {{"as", name}},
                    message(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
    };
    std::vector<Exchange> streams;
    for (std::size_t i = 0; i < HttpGateway::kMostOfOne; ++i) {
        const auto opened = opened_by("greedy");
        ASSERT_EQ(opened->status, 200u);
        streams.push_back(
            come("GET", {{"as", "greedy"}, {"mcp-session-id", opened->header("MCP-Session-Id")}}));
    }
    EXPECT_EQ(opened_by("greedy")->status, 429u) << "somebody listens to each of them";
    EXPECT_EQ(opened_by("modest")->status, 200u);
    streams.back()->gone();
    EXPECT_EQ(opened_by("greedy")->status, 200u) << "one that nobody listens to makes room";
}

TEST_F(HttpGatewayTest, WhoIsNotAdmittedIsToldSo) {
    const auto refused = come("POST", {{"as", "nobody"}}, message(1, "ping", {}));
    EXPECT_EQ(refused->status, 401u);
    EXPECT_THAT(refused->body, HasSubstr("who are you?"));
}

TEST_F(HttpGatewayTest, ARequestWaitsUntilItIsKnownWhoseItIs) {
    const auto waits = come("POST", {{"as", "late"}},
                            message(0, "initialize", {{"protocolVersion", "2025-11-25"}}));
    EXPECT_EQ(waits->status, 0u);
    admission.later();
    EXPECT_EQ(waits->status, 200u);
    const auto comes_too_late = come("POST", {{"as", "late"}}, message(1, "ping", {}));
    gateway_.reset();
    admission.later();
    EXPECT_EQ(comes_too_late->status, 0u);
}

TEST_F(HttpGatewayTest, WhatIsSaidDuringACallComesByItsStreamAndTheAnswerEndsIt) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"said"}})");
    const auto other = come("GET", of_session());
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("said"); }));
    EXPECT_TRUE(call->streams());
    EXPECT_THAT(call->body, HasSubstr("id: "));
    EXPECT_FALSE(call->over);
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr(R"("id":1,"result")"));
    EXPECT_THAT(other->body, Not(HasSubstr("said")));
}

TEST_F(HttpGatewayTest, AQuestionComesByTheCallThatItIsAboutAndItsAnswerByAnyWay) {
    greet({{"elicitation", json::object()}});
    be_slow(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
            R"("params":{"message":"name?","requestedSchema":{"type":"object"}}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("elicitation/create"); }));
    EXPECT_THAT(call->body, HasSubstr(R"("id":1,)"));
    const auto answered =
        come("POST", of_session(), R"({"jsonrpc":"2.0","id":1,"result":{"action":"decline"}})");
    EXPECT_EQ(answered->status, 202u);
    ASSERT_TRUE(wait([&] {
        for (const auto& each : servers.at("git").bodies)
            if (each.find("decline") != std::string::npos) return true;
        return false;
    }));
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr("done"));
}

TEST_F(HttpGatewayTest, AModernCallWhoseClientHasGoneIsCancelledAndALegacyOneIsNot) {
    greet();
    be_slow();
    const auto legacy = post(1, "tools/call", kCall);
    const auto modern = post_modern(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    modern->gone();
    legacy->gone();
    ASSERT_TRUE(wait([&] { return cancelled() > 0; }));
    EXPECT_EQ(cancelled(), 1u);
}

TEST_F(HttpGatewayTest, ACancelledCallIsNotAnsweredAndItsStreamEnds) {
    greet();
    be_slow();
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    EXPECT_EQ(
        come("POST", of_session(),
             R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})")
            ->status,
        202u);
    EXPECT_TRUE(call->over);
    EXPECT_THAT(call->body, Not(HasSubstr("result")));
}

TEST_F(HttpGatewayTest, WhatALostStreamMissedCanBeAskedForAgain) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"missed"}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("missed"); }));
    const auto last = last_event(*call);
    call->gone();
    finish(0);
    // The answer comes while nobody is there.
    let_it_turn();
    auto headers = of_session();
    headers.emplace_back("last-event-id", last);
    const auto again = come("GET", headers);
    EXPECT_THAT(body_of(again), HasSubstr("done"));
    EXPECT_THAT(again->body, Not(HasSubstr("missed")));
    for (const auto* wrong : {"", "x", "1-", "-1", "99-1", "1-1x"}) {
        auto other = of_session();
        other.emplace_back("last-event-id", wrong);
        EXPECT_EQ(come("GET", other)->status, 400u) << wrong;
    }
}

TEST_F(HttpGatewayTest, OfAnAnswerThatHasNotBegunNothingCanBeAskedForAgain) {
    greet();
    be_slow();
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    for (const auto* id : {"1-0", "2-0", "3-0", "4-0"}) {
        auto headers = of_session();
        headers.emplace_back("last-event-id", id);
        EXPECT_EQ(come("GET", headers)->status, 400u) << id;
    }
    finish(0);
    EXPECT_THAT(body_of(call), HasSubstr("done"));
    EXPECT_FALSE(call->streams());
}

TEST_F(HttpGatewayTest, WhoComesAgainForTheStreamOfItsSessionTakesItOver) {
    greet();
    const auto first = come("GET", of_session());
    const auto second = come("GET", of_session());
    EXPECT_TRUE(first->over);
    EXPECT_FALSE(second->over);
    EXPECT_TRUE(second->streams());
}

TEST_F(HttpGatewayTest, ABatchOfTheRevisionThatHasThemIsAnsweredWhole) {
    greet({}, "2025-03-26");
    const auto batch = come("POST", of_session(),
                            "[" + message(1, "ping", {}) + "," + message(2, "ping", {}) + "]");
    EXPECT_EQ(batch->status, 200u);
    EXPECT_EQ(json::parse(batch->body).as_array().size(), 2u);
    EXPECT_EQ(
        come("POST", of_session(), R"([{"jsonrpc":"2.0","method":"notifications/x"}])")->status,
        202u);
    const auto mixed =
        come("POST", of_session(),
             "[" + message(3, "ping", {}) + "," + message(4, "tools/call", kCall) + "]");
    EXPECT_EQ(json::parse(body_of(mixed)).as_array().size(), 2u);
}

TEST_F(HttpGatewayTest, AModernStreamHearsOfChangesUntilTheGatewayCloses) {
    const auto stream =
        post_modern("s", "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}});
    EXPECT_TRUE(stream->streams());
    EXPECT_THAT(stream->body, HasSubstr("acknowledged"));
    EXPECT_THAT(stream->body, Not(HasSubstr("id: ")));
    gateway().close();
    EXPECT_TRUE(stream->over);
    EXPECT_THAT(stream->body, HasSubstr(R"("resultType":"complete")"));
    EXPECT_EQ(post_modern(1, "tools/list")->status, 503u);
}

TEST_F(HttpGatewayTest, WhatIsLoggedDuringCallsOfSeveralModernClientsReachesNoneOfThem) {
    be_slow();
    const json::object wants{{"io.modelcontextprotocol/logLevel", "debug"}};
    const auto first = post_modern(1, "tools/call", kCall, wants);
    ASSERT_TRUE(wait([&] { return calls.size() == 1; }));
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"mine"}})");
    ASSERT_TRUE(wait([&] { return first->has("mine"); }));
    const auto second = post_modern(1, "tools/call", kCall, wants);
    ASSERT_TRUE(wait([&] { return calls.size() == 2; }));
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"whose"}})");
    finish(0);
    finish(1);
    EXPECT_THAT(body_of(first), Not(HasSubstr("whose")));
    EXPECT_THAT(body_of(second), Not(HasSubstr("whose")));
}

}  // namespace
}  // namespace patchbay::gateway
