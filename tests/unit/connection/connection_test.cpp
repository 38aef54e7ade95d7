// What a connection that is up gives its callers.
#include "core/secrets.hpp"
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

TEST_F(ConnectionTest, BringsUpAModernServerAndItsTools) {
    server.be_modern({tool_named("b"), tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_EQ(connection().tools().size(), 2u);
    EXPECT_EQ(connection().tools()[0].name, "a") << "in stable order";
    EXPECT_EQ(connection().status().protocol, "2026-07-28");
    EXPECT_EQ(eras.known["key"].version, "2026-07-28");
    const auto listed = server.requests("tools/list").at(0);
    EXPECT_EQ(listed.at("params").at("_meta").at("io.modelcontextprotocol/protocolVersion"),
              "2026-07-28");
}

TEST_F(ConnectionTest, BringsUpALegacyServerAndDoesNotProbeItAgain) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.requests("server/discover").size(), 1u);
    EXPECT_EQ(server.requests("notifications/initialized").size(), 1u);
    EXPECT_FALSE(server.requests("tools/list").at(0).contains("params"));
    connection_.reset();
    server.received.clear();
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.requests("server/discover").size(), 0u);
}

TEST_F(ConnectionTest, AServerWithoutToolsIsReadyAllTheSame) {
    server.be_legacy({});
    server.results["initialize"] = [](const auto&) -> json::value {
        return {{"protocolVersion", "2025-11-25"}, {"capabilities", json::object()}};
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(server.requests("tools/list").empty());
}

TEST_F(ConnectionTest, ACapabilityOfAnyShapeIsOneUnlessItIsNullOrFalse) {
    const std::pair<json::value, bool> cases[] = {
        {json::object(), true}, {7, true}, {true, true}, {nullptr, false}, {false, false}};
    for (const auto& [shape, offered] : cases) {
        SCOPED_TRACE(json::serialize(shape));
        connection_.reset();
        server.received.clear();
        server.be_legacy({tool_named("a")});
        server.results["initialize"] = [shape = shape](const auto&) -> json::value {
            return {{"protocolVersion", "2025-11-25"}, {"capabilities", {{"tools", shape}}}};
        };
        ASSERT_EQ(connect(), State::Ready);
        EXPECT_EQ(server.requests("tools/list").size(), offered ? 1u : 0u);
        EXPECT_EQ(connection().tools().size(), offered ? 1u : 0u);
        EXPECT_EQ(connection().status().capabilities,
                  offered ? std::vector<std::string>{"tools"} : std::vector<std::string>());
    }
}

TEST_F(ConnectionTest, WhatAServerSaysOfItselfIsCutWhereTheLimitIs) {
    limits.description_bytes = 8;
    server.be_legacy({tool_named("a")});
    server.results["initialize"] = [](const auto&) -> json::value {
        return {{"protocolVersion", "2025-11-25"},
                {"capabilities", {{"tools", json::object()}}},
                {"instructions", "Use it with care."}};
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(connection().status().instructions, "Use it w");
}

TEST_F(ConnectionTest, ProgressMovesTheIdleLimit) {
    server.be_legacy({tool_named("a")});
    spec.config.request_timeout = 20ms;
    ASSERT_EQ(connect(), State::Ready);
    int told = 0;
    Request request{"prompts/get", {}, 0ms, [&](const Progress& progress) {
                        ++told;
                        EXPECT_EQ(progress.total, 9);
                    }};
    Outcome outcome;
    const auto id = begin(std::move(request), outcome);
    for (int i = 1; i <= 3; ++i) {
        loop.turn(19ms);
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            std::to_string(id) + R"(,"progress":1,"total":9}})");
        ASSERT_TRUE(wait([&] { return told == i; }));
        pass(0ms);
        ASSERT_FALSE(outcome);
    }
    loop.turn(20ms);
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("within 20 ms (request_timeout_ms)"));
}

TEST_F(ConnectionTest, ProgressWithoutEndDoesNotOutliveTheWallClock) {
    server.be_legacy({tool_named("a")});
    spec.config.request_timeout = 1h;
    spec.config.tool_timeout = 50ms;
    ASSERT_EQ(connect(), State::Ready);
    RequestId id = 0;
    const auto tell = [&] {
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            std::to_string(id) + R"(,"progress":1}})");
    };
    Outcome outcome;
    id = begin({"prompts/get", {}, 0ms, [&](const Progress&) { loop.after(1ms, tell); }}, outcome);
    tell();
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_THAT(outcome->error().message, HasSubstr("prompts/get was not answered within 50 ms"));
}

TEST_F(ConnectionTest, ProgressIsToldAsItCame) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::vector<Progress> told;
    Outcome outcome;
    auto request = call("a");
    request.on_progress = [&](const Progress& progress) { told.push_back(progress); };
    const auto id = std::to_string(begin(std::move(request), outcome));
    for (const auto& more : {std::string(R"("progress":0.5,"total":2,"message":"half\u0007way")"),
                             std::string(R"("progress":1)"),
                             R"("progress":2,"message":")" + std::string(500, 'y') + '"',
                             R"("progress":3,"message":")" + std::string(501, 'y') + '"'})
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            id + "," + more + "}}");
    ASSERT_TRUE(wait([&] { return told.size() == 4; }));
    EXPECT_EQ(told[0].progress, 0.5);
    EXPECT_EQ(told[0].total, 2);
    EXPECT_THAT(told[0].message, testing::AllOf(HasSubstr("half"), HasSubstr("way")));
    EXPECT_EQ(told[0].message.find('\a'), std::string::npos);
    EXPECT_EQ(told[1].total, std::nullopt);
    EXPECT_EQ(told[1].message, "");
    EXPECT_EQ(told[2].message, std::string(500, 'y'));
    EXPECT_EQ(told[3].message, std::string(500, 'y') + "...") << "that it was cut is seen";
    EXPECT_TRUE(caller.methods().empty()) << "it is the caller's";
}

TEST_F(ConnectionTest, WhatItsStatusSays) {
    spec.config.place.line = 7;
    server.be_legacy({tool_named("a")});
    server.results["tools/list"] = {};
    server.results.erase("tools/list");
    bool settled = false;
    connection().connect([&] { settled = true; });
    ASSERT_TRUE(wait([&] { return !server.requests("tools/list").empty(); }));
    EXPECT_EQ(connection().status().tools, std::nullopt) << "they are not listed yet";
    EXPECT_EQ(connection().status().place.line, 7u);
    EXPECT_EQ(connection().status().server_name, "fake");
    EXPECT_EQ(connection().status().server_version, "1");
    EXPECT_EQ(connection().status().fallback_from, "");
    server.answer(server.requests("tools/list").at(0).at("id").as_int64(), R"({"tools":[]})");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().tools, 0u);
}

TEST_F(ConnectionTest, BytesOfWhatWaitsCount) {
    server.be_legacy({tool_named("a")});
    limits.queue_bytes = 500;
    ASSERT_EQ(connect(), State::Ready);
    Outcome first;
    begin(call(std::string(300, 'a')), first);
    const auto second = ask(call(std::string(300, 'a')));
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("1 requests with"));
    EXPECT_FALSE(first);
}

TEST_F(ConnectionTest, ASubscriptionThatWasRefusedIsNotMadeAgain) {
    long_lived = true;
    server.be_legacy({});
    server.results["initialize"] = [](const json::object&) -> json::value {
        return json::object{{"protocolVersion", "2025-11-25"},
                            {"capabilities", {{"resources", {{"subscribe", true}}}}}};
    };
    server.errors["resources/subscribe"] = {-32002, "no such resource"};
    ASSERT_EQ(connect(), State::Ready);
    std::string told;
    connection().subscribe(caller, "file:///a", true,
                           [&](const Result<Reply>& reply) { told = std::string(reply->error); });
    ASSERT_TRUE(wait([&] { return !told.empty(); }));
    EXPECT_THAT(told, HasSubstr("no such resource"));
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return server.requests("initialize").size() == 2; }));
    ASSERT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    pass(1ms);
    EXPECT_EQ(server.requests("resources/subscribe").size(), 1u);
}

TEST_F(ConnectionTest, AModernServerIsToldOfSubscriptionsByListening) {
    long_lived = true;
    server.be_modern({});
    ASSERT_EQ(connect(), State::Ready);
    for (const bool wanted : {true, false}) {
        std::string told;
        connection().subscribe(caller, "file:///a", wanted, [&](const Result<Reply>& reply) {
            told = std::string(reply->result);
        });
        EXPECT_EQ(told, "") << "not from inside the call";
        ASSERT_TRUE(wait([&] { return !told.empty(); }));
        EXPECT_EQ(told, "{}");
    }
    const auto listened = server.requests("subscriptions/listen");
    ASSERT_EQ(listened.size(), 1u) << "nothing is left to listen for";
    EXPECT_EQ(listened[0].at("params").at("notifications").at("resourceSubscriptions"),
              json::array{"file:///a"});
    ASSERT_EQ(server.requests("notifications/cancelled").size(), 1u);
    EXPECT_EQ(server.requests("notifications/cancelled")[0].at("params").at("requestId"),
              listened[0].at("id"));
}

TEST_F(ConnectionTest, ServersMayAskForRootsInTheLegacyEra) {
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    server.received.clear();
    server.say(R"({"jsonrpc":"2.0","id":"r1","method":"roots/list"})");
    server.say(R"({"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}})");
    server.say(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
    ASSERT_TRUE(wait([&] { return server.received.size() == 3; }));
    EXPECT_EQ(server.received[0].at("id"), "r1");
    EXPECT_EQ(server.received[0].at("result").at("roots").at(0).at("uri"), "file:///data%20set");
    EXPECT_EQ(server.received[1].at("error").at("code"), -32601);
    EXPECT_TRUE(server.received[2].at("result").as_object().empty());
}

TEST_F(ConnectionTest, RefusesMoreThanItsQueueHolds) {
    server.be_legacy({tool_named("a")});
    limits.queue_messages = 2;
    ASSERT_EQ(connect(), State::Ready);
    connection().request(caller, call("a"), [](Result<Reply>) {});
    connection().request(caller, call("a"), [](Result<Reply>) {});
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Limit);
    EXPECT_THAT(reply.error().message, HasSubstr("queue_messages"));
}

// Whatever a server or its transport puts into a status, and a server may echo what it was given.
TEST_F(ConnectionTest, AStatusShowsNoSecret) {
    core::Secrets secrets;
    secrets.add("s3cret-value");
    server.results["initialize"] = [](const auto&) -> json::value {
        return {{"protocolVersion", "2025-11-25"},
                {"capabilities", {{"x-s3cret-value", json::object()}}},
                {"serverInfo", {{"name", "of s3cret-value"}, {"version", "1-s3cret-value"}}},
                {"instructions", "say s3cret-value"}};
    };
    server.errors["server/discover"] = {-32601, "Method not found"};
    ASSERT_EQ(connect(), State::Ready);
    server.fact("trouble", "no way to https://a.example/s3cret-value/sse");
    server.fact("s3cret-value", "7");
    server.say(R"({"jsonrpc":"2.0","s3cret-value":)");
    ASSERT_TRUE(wait([&] { return connection().status().malformed == 1; }));
    const auto status = connection().status();
    EXPECT_EQ(status.server_name, "of ***");
    EXPECT_EQ(status.server_version, "1-***");
    EXPECT_EQ(status.instructions, "say ***");
    EXPECT_EQ(status.capabilities, std::vector<std::string>{"x-***"});
    EXPECT_EQ(status.facts.at("trouble"), "no way to https://a.example/***/sse");
    EXPECT_EQ(status.facts.at("***"), "7");
    EXPECT_EQ(status.last_error.find("s3cret"), std::string::npos) << status.last_error;
}

TEST_F(ConnectionTest, ToolsThatCannotBeListedShowNoSecretInAStatus) {
    core::Secrets secrets;
    secrets.add("s3cret-value");
    server.be_legacy({});
    server.results.erase("tools/list");
    server.errors["tools/list"] = {-32000, "denied to s3cret-value"};
    ASSERT_EQ(connect(), State::Ready);
    const auto status = connection().status();
    EXPECT_THAT(status.tools_error, HasSubstr("denied to ***"));
    EXPECT_THAT(status.last_error, HasSubstr("denied to ***"));
    EXPECT_THAT(status.notes, testing::ElementsAre(HasSubstr("denied to ***")));
}

TEST_F(ConnectionTest, BytesThatWereAnsweredDoNotCountAgainstTheQueue) {
    server.be_legacy({tool_named("a")});
    server.results["tools/call"] = [](const auto&) -> json::value { return json::object(); };
    limits.queue_bytes = 500;
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(ask(call("a"))) << i;
    const auto large = ask(call(std::string(500, 'a')));
    ASSERT_FALSE(large);
    EXPECT_THAT(large.error().message, HasSubstr("queue_bytes"));
}

}  // namespace
}  // namespace patchbay::connection
