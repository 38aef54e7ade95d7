// Sessions of the legacy era: whose they are, how they end and how they go on.
#include "unit/gateway_http/http_gateway_fixture.hpp"

namespace patchbay::gateway {
namespace {

TEST_F(HttpGatewayTest, ASessionThatWasDeletedIsGone) {
    greet();
    const auto stream = come("GET", of_session());
    const auto deleted = come("DELETE", of_session());
    EXPECT_TRUE(stream->over);
    EXPECT_EQ(post(1, "ping")->status, 404u);
    EXPECT_EQ(come("DELETE", of_session())->status, 404u);
    body_of(deleted);
    EXPECT_EQ(deleted->status, 204u);
    // For the next gateway too.
    gateway_.reset();
    const auto again = post(1, "ping");
    body_of(again);
    EXPECT_EQ(again->status, 404u);
}

// Both answer what came for the session while it was not known yet what it is, in order.
TEST_F(HttpGatewayTest, WhatComesForASessionThatIsBeingReadWaitsForIt) {
    greet();
    gateway_.reset();
    const auto first = post(1, "ping");
    const auto deleted = come("DELETE", of_session());
    const auto behind = post(2, "ping");
    EXPECT_EQ(first->status, 0u);
    body_of(behind);
    EXPECT_EQ(first->status, 200u);
    EXPECT_EQ(behind->status, 404u);
    body_of(deleted);
    EXPECT_EQ(deleted->status, 204u);
}

TEST_F(HttpGatewayTest, WhoIsDismissedWhileItsSessionIsReadGetsNone) {
    greet();
    gateway_.reset();
    const auto stream = come("GET", of_session());
    gateway().dismiss({});
    EXPECT_EQ(stream->status, 503u);
    let_it_turn();
    EXPECT_FALSE(stream->streams());
}

TEST_F(HttpGatewayTest, ALogLevelAndSubscriptionsComeBackWithTheirSession) {
    have_a_resource();
    greet();
    body_of(post(1, "logging/setLevel", {{"level", "debug"}}));
    body_of(post(2, "resources/subscribe", {{"uri", "test:a"}}));
    body_of(post(3, "resources/subscribe", {{"uri", "test:b"}}));
    body_of(post(4, "resources/unsubscribe", {{"uri", "test:b"}}));
    const auto levels = sent("logging/setLevel").size();
    const auto subscribed = sent("resources/subscribe").size();
    gateway_.reset();
    // Nobody but the session asks for them now.
    const auto stream = come("GET", of_session());
    ASSERT_TRUE(wait([&] {
        return sent("logging/setLevel").size() > levels &&
               sent("resources/subscribe").size() > subscribed;
    }));
    EXPECT_EQ(sent("logging/setLevel").back().at("params").at("level"), "debug");
    EXPECT_EQ(sent("resources/subscribe").back().at("params").at("uri"), "test:a");
    EXPECT_EQ(sent("resources/subscribe").size(), subscribed + 1);
    servers.at("git").say(
        R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test:a"}})");
    EXPECT_TRUE(wait([&] { return stream->has("test:a"); })) << stream->body;
}

// It listed the tools that its gateway before it had, and will not do so again by itself.
TEST_F(HttpGatewayTest, OfAToolThatChangesASessionIsToldThatHasComeBack) {
    greet();
    body_of(post(1, "tools/list"));
    gateway_.reset();
    const auto stream = come("GET", of_session());
    let_it_turn();
    EXPECT_FALSE(stream->has("tools/list_changed")) << "it knows these";
    catalogue->publish("git", std::make_shared<catalogue::Listing>());
    loop.pass(ClientEvents::kPause + 50ms);
    EXPECT_TRUE(wait([&] { return stream->has("tools/list_changed"); })) << stream->body;
}

// Whether its server was there when the gateway before it listed, nobody knows.
TEST_F(HttpGatewayTest, OfResourcesThatNobodyHasListedASessionIsToldThatHasComeBack) {
    have_a_resource();
    greet();
    body_of(post(1, "tools/list"));
    gateway_.reset();
    const auto stream = come("GET", of_session());
    EXPECT_TRUE(wait([&] { return stream->has("resources/list_changed"); })) << stream->body;
}

TEST_F(HttpGatewayTest, OfResourcesThatAreOthersByNowASessionIsToldThatHasComeBack) {
    have_a_resource();
    greet();
    body_of(post(1, "resources/list"));
    gateway_.reset();
    const auto listed = sent("resources/list").size();
    const auto same = come("GET", of_session());
    ASSERT_TRUE(wait([&] { return sent("resources/list").size() > listed; })) << "it is compared";
    let_it_turn();
    EXPECT_FALSE(same->has("resources/list_changed")) << "it knows these";
    gateway_.reset();
    servers.at("git").results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", {{{"uri", "test:c"}, {"name", "c"}}}}};
    };
    const auto other = come("GET", of_session());
    EXPECT_TRUE(wait([&] { return other->has("resources/list_changed"); })) << other->body;
}

TEST_F(HttpGatewayTest, ASessionThatWasPutAwayAfterIdlingComesBackWithWhatItWished) {
    have_a_resource();
    greet();
    body_of(post(1, "logging/setLevel", {{"level", "info"}}));
    body_of(post(2, "resources/subscribe", {{"uri", "test:a"}}));
    const auto ended = sent("resources/unsubscribe").size();
    loop.pass(HttpGateway::kIdle + 2s);
    ASSERT_TRUE(wait([&] { return sent("resources/unsubscribe").size() > ended; }));
    const auto subscribed = sent("resources/subscribe").size();
    EXPECT_EQ(post(3, "ping")->status, 0u) << "it is looked up";
    EXPECT_TRUE(wait([&] { return sent("resources/subscribe").size() > subscribed; }));
}

// A server that comes when the first wait is over is asked then.
TEST_F(HttpGatewayTest, ASubscriptionWaitsForAServerThatIsSlower) {
    have_a_resource();
    greet();
    body_of(post(1, "resources/subscribe", {{"uri", "test:a"}}));
    const auto subscribed = sent("resources/subscribe").size();
    gateway_.reset();
    bool late = true;
    const auto greets = servers.at("git").results.extract("initialize");
    servers.at("git").on_request = [&](const std::string& method) {
        if (method == "initialize") late = false;
    };
    servers.at("git").crash("gone");
    body_of(post(2, "ping"));
    loop.pass(2s);
    EXPECT_EQ(sent("resources/subscribe").size(), subscribed);
    ASSERT_FALSE(late);
    servers.at("git").answer(sent("initialize").back().at("id").to_number<int>(),
                             json::serialize(greets.mapped()({})));
    EXPECT_TRUE(wait([&] { return sent("resources/subscribe").size() > subscribed; }));
}

// A client is told that it has what it wished once that is kept.
TEST_F(HttpGatewayTest, WhatIsAnsweredIsKept) {
    have_a_resource();
    struct Slow final : SessionRecords {
        void read(const std::string&, std::function<void(SessionRecord)> then) override {
            then({});
        }
        void write(const std::string&, SessionRecord given, std::function<void()> then) override {
            record = std::move(given);
            written = std::move(then);
        }
        SessionRecord record;
        std::function<void()> written;
    } slow;
    gateway_.emplace(HttpClient::Parts{callers, known(), *catalogue, "1", slow}, "key",
                     Door(*http::parse_address("127.0.0.1:80")), admission);
    greet();
    const auto level = post(1, "logging/setLevel", {{"level", "info"}});
    let_it_turn();
    EXPECT_EQ(slow.record.wishes.level, "info");
    EXPECT_FALSE(level->over);
    slow.written();
    EXPECT_TRUE(level->over);
    const auto taken = post(2, "resources/subscribe", {{"uri", "test:a"}});
    ASSERT_TRUE(wait([&] { return !slow.record.wishes.uris.empty(); }));
    let_it_turn();
    EXPECT_FALSE(taken->over);
    slow.written();
    EXPECT_TRUE(taken->over);
    const auto deleted = come("DELETE", of_session());
    EXPECT_TRUE(slow.record.deleted);
    EXPECT_FALSE(deleted->over);
    gateway_.reset();  // who is told later, and of nothing that is gone
    slow.written();
    EXPECT_EQ(deleted->status, 204u);
}

// As clients do whose connection was lost with its gateway.
TEST_F(HttpGatewayTest, AnEventOfTheGatewayBeforeIsTakenForNoneOfThisOne) {
    greet();
    be_slow(R"({"jsonrpc":"2.0","method":"notifications/message",)"
            R"("params":{"level":"error","data":"said"}})");
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("said"); }));
    const auto own = come("GET", of_session());
    servers.at("git").say(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})");
    ASSERT_TRUE(wait([&] { return own->has("prompts"); }));
    loop.turn(1s);
    gateway_.reset();
    const auto resumed = [&](const std::string& event) {
        auto headers = of_session();
        headers.emplace_back("last-event-id", event);
        const auto exchange = come("GET", headers);
        EXPECT_TRUE(wait([&] { return exchange->status != 0; }));
        return exchange;
    };
    const auto next = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return next->has("said"); }));
    EXPECT_EQ(resumed(last_event(*call))->status, 400u);
    EXPECT_FALSE(next->over);
    // The stream of the session itself goes on, with what was said meanwhile.
    servers.at("git").say(R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
    let_it_turn();
    EXPECT_TRUE(resumed(last_event(*own))->has("resources/list_changed"));
}

TEST_F(HttpGatewayTest, ASessionOutlivesItsGateway) {
    greet({{"elicitation", json::object()}});
    be_slow(R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
            R"("params":{"message":"name?","requestedSchema":{"type":"object"}}})");
    gateway_.reset();
    // What it can be asked is known of it still.
    const auto call = post(1, "tools/call", kCall);
    ASSERT_TRUE(wait([&] { return call->has("elicitation/create"); })) << call->body;
    EXPECT_EQ(call->header("MCP-Session-Id"), session);
}

TEST_F(HttpGatewayTest, ASessionOfOneGuestIsNoneOfAnothers) {
    greet();
    const auto body = message(1, "tools/list", {});
    http::Headers of_another = of_session();
    of_another.emplace_back("as", "somebody");
    EXPECT_EQ(come("POST", of_another, body)->status, 404u);
    EXPECT_EQ(come("DELETE", of_another)->status, 404u);
    EXPECT_THAT(body_of(post(1, "tools/list")), HasSubstr("mcp__git__log"));
}

}  // namespace
}  // namespace patchbay::gateway
