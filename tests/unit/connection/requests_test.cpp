// What we ask of a server: what bounds it, how long it may take, and what is said when it ends.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Requests : public ConnectionTest {
protected:
    Requests() { server.be_legacy({tool_named("a")}); }
    void be_capable(json::object capabilities) {
        server.results["initialize"] = [capabilities](const auto&) -> json::value {
            return {{"protocolVersion", "2025-11-25"}, {"capabilities", capabilities}};
        };
    }
    void come_back() {
        const auto before = connection().status().restarts;
        server.crash("exited");
        ASSERT_TRUE(wait([&] {
            return connection().status().restarts > before && connection().state() == State::Ready;
        }));
        pass(1ms);
    }
    void subscribe(bool wanted) {
        bool told = false;
        connection().subscribe(caller, "file:///a", wanted,
                               [&](const Result<Reply>&) { told = true; });
        ASSERT_TRUE(wait([&] { return told; }));
    }
    Outcome first, second;
};

TEST_F(Requests, NoneHasALineOfItsOwnInIt) {
    ASSERT_EQ(connect(), State::Ready);
    auto asked = call("a");
    asked.params.members += ",\"arguments\":{\r\"b\":\n\r\n1}";
    begin(std::move(asked), first);
    ASSERT_TRUE(wait([&] { return !server.requests("tools/call").empty(); }));
    EXPECT_THAT(server.bodies.back(), HasSubstr(R"({ "b":   1})"));
}

// ---- bounds; what a request takes is its params and 64 bytes

TEST_F(Requests, OneMayBeAsLargeAsAMessageAndNoLarger) {
    const auto size = call("a").params.members.size() + 64;
    limits.message_bytes = size;
    ASSERT_EQ(connect(), State::Ready);
    begin(call("a"), first);
    const auto larger = ask(call("aa"));
    ASSERT_FALSE(larger);
    EXPECT_EQ(larger.error().code, ErrorCode::Limit);
    EXPECT_EQ(larger.error().message, "server \"s\": request of " + std::to_string(size + 1) +
                                          " bytes is over the limit message_bytes (" +
                                          std::to_string(size) + ")");
    auto with_meta = call("a");
    with_meta.params.meta = "x";
    EXPECT_FALSE(ask(with_meta)) << "its _meta counts";
    EXPECT_FALSE(first);
}

TEST_F(Requests, OneThatNoQueueHoldsIsNotToldToTryLater) {
    limits.queue_bytes = 40;
    ASSERT_EQ(connect(), State::Ready);
    const auto refused = ask(call("a"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("is over the limit queue_bytes (40)"));
}

TEST_F(Requests, TogetherTheyMayFillTheQueueToItsLastByte) {
    limits.queue_bytes = 2 * (call("a").params.members.size() + 64);
    ASSERT_EQ(connect(), State::Ready);
    begin(call("a"), first);
    begin(call("a"), second);
    EXPECT_EQ(server.requests("tools/call").size(), 2u);
    Outcome third;
    begin({"x", {}, 0ms, {}}, third);
    ASSERT_TRUE(wait([&] { return third.has_value(); }));
    EXPECT_THAT(third->error().message,
                HasSubstr("2 requests with " + std::to_string(limits.queue_bytes) + " bytes"));
    EXPECT_FALSE(first);
    EXPECT_FALSE(second);
}

TEST_F(Requests, OfAServerThatFailedAreRefusedUntilTheLongestPauseIsOver) {
    health.reconnect_most = 1h;
    server.refuse_open = true;
    ASSERT_EQ(connect(), State::Error);
    loop.turn(1h - 1ms);
    const auto refused = ask(call("a"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
    EXPECT_THAT(refused.error().message, StartsWith("server \"s\" is error: no such program"));
    EXPECT_EQ(server.opened, 1);
    loop.turn(1ms);
    server.refuse_open = false;
    server.results["tools/call"] = [](const auto&) -> json::value { return json::object(); };
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(server.opened, 2);
}

TEST_F(Requests, OfAClosedConnectionAreRefused) {
    ASSERT_EQ(connect(), State::Ready);
    bool closed = false, again = false;
    connection().close([&] { closed = true; });
    connection().close([&] { again = true; });
    const auto refused = ask(call("a"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "server \"s\": the connection is closed");
    ASSERT_TRUE(wait([&] { return closed && again; }));
    bool settled = false;
    connection().connect([&] { settled = true; });
    EXPECT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::Stopped);
    EXPECT_EQ(server.opened, 1);
}

// ---- time

TEST_F(Requests, ACallOfAToolHasTheLimitOfToolsAlone) {
    spec.config.request_timeout = 10ms;
    spec.config.tool_timeout = 1h;
    ASSERT_EQ(connect(), State::Ready);
    auto request = call("a");
    begin(std::move(request), first);
    begin({"prompts/get", {}, 0ms, {}}, second);
    loop.turn(59min);
    ASSERT_TRUE(wait([&] { return second.has_value(); }));
    EXPECT_EQ(second->error().message,
              "server \"s\": prompts/get was not answered within 10 ms (request_timeout_ms); the "
              "server is ready");
    ASSERT_FALSE(first);
    loop.turn(1min);
    begin({"x", {}, 1ms, {}}, second = {});  // its timer makes all of them look at the clock
    loop.turn(1s);
    ASSERT_TRUE(wait([&] { return first.has_value(); }));
    EXPECT_EQ(first->error().message,
              "server \"s\": tools/call was not answered within 3600 s (tool_timeout_sec); the "
              "server is ready");
}

// ---- cancelling

TEST_F(Requests, ThatAreCancelledEndWithTheReasonThatTheServerHears) {
    ASSERT_EQ(connect(), State::Ready);
    const auto one = begin(call("a"), first), two = begin(call("a"), second);
    connection().cancel(one, "enough");
    connection().cancel(two);
    connection().cancel(two, "again");
    connection().cancel(9999, "nobody's");
    EXPECT_EQ(first->error().message, "server \"s\": tools/call was cancelled: enough");
    EXPECT_EQ(second->error().message, "server \"s\": tools/call was cancelled");
    const auto told = server.requests("notifications/cancelled");
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].at("params"), (json::object{{"requestId", one}, {"reason", "enough"}}));
    EXPECT_EQ(told[1].at("params"), (json::object{{"requestId", two}}));
}

TEST_F(Requests, ThatWaitForTheServerAreCancelledWithoutAWordToIt) {
    bool settled = false;
    connection().connect([&] { settled = true; });
    connection().cancel(begin(call("a"), first), "enough");
    EXPECT_TRUE(first);
    ASSERT_TRUE(wait([&] { return settled; }));
    pass(1ms);
    EXPECT_TRUE(server.requests("tools/call").empty());
    EXPECT_TRUE(server.requests("notifications/cancelled").empty());
}

// ---- what the next session is told

TEST_F(Requests, ASubscriptionThatWasEndedIsNotMadeAgain) {
    long_lived = true;
    be_capable({{"resources", {{"subscribe", true}}}});
    for (const char* method : {"resources/subscribe", "resources/unsubscribe"})
        server.results[method] = [](const auto&) -> json::value { return json::object(); };
    ASSERT_EQ(connect(), State::Ready);
    subscribe(true);
    come_back();
    EXPECT_EQ(server.requests("resources/subscribe").size(), 2u);
    server.errors["resources/unsubscribe"] = {-32000, "not now"};
    subscribe(false);
    come_back();
    EXPECT_EQ(server.requests("resources/subscribe").size(), 3u) << "it was not ended";
    server.errors.erase("resources/unsubscribe");
    subscribe(false);
    come_back();
    EXPECT_EQ(server.requests("resources/subscribe").size(), 3u);
}

TEST_F(Requests, AServerThatNoLongerTakesSubscriptionsIsNotAskedForThem) {
    long_lived = true;
    be_capable({{"resources", {{"subscribe", true}}}});
    server.results["resources/subscribe"] = [](const auto&) -> json::value {
        return json::object();
    };
    ASSERT_EQ(connect(), State::Ready);
    subscribe(true);
    be_capable({{"resources", json::object()}});
    come_back();
    EXPECT_EQ(server.requests("resources/subscribe").size(), 1u);
}

TEST_F(Requests, AServerThatNoLongerLogsIsNotToldOfALevel) {
    long_lived = true;
    be_capable({{"logging", json::object()}});
    server.results["logging/setLevel"] = [](const auto&) -> json::value { return json::object(); };
    ASSERT_EQ(connect(), State::Ready);
    bool told = false;
    connection().set_log_level(caller, "debug", [&](const Result<Reply>& reply) {
        EXPECT_TRUE(reply);
        told = true;
    });
    ASSERT_TRUE(wait([&] { return told; }));
    come_back();
    EXPECT_EQ(server.requests("logging/setLevel").size(), 2u);
    be_capable({});
    come_back();
    EXPECT_EQ(server.requests("logging/setLevel").size(), 2u);
}

TEST_F(HttpConnectionTest, ANotificationHasTheHeaderOfTheModernEraAndNoneBefore) {
    server.be_modern({});
    ASSERT_EQ(connect(), State::Ready);
    connection().notify("notifications/x", "\"n\":1");
    EXPECT_EQ(server.arrival("notifications/x").header("Mcp-Method"), "notifications/x");
    EXPECT_EQ(server.requests("notifications/x").at(0).at("params").at("n"), 1);
    close();
    server.arrivals.clear();
    eras.known.clear();
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    connection().notify("notifications/x", "");
    EXPECT_TRUE(server.arrival("notifications/x").headers.empty());
    close();
}

}  // namespace
}  // namespace patchbay::connection
