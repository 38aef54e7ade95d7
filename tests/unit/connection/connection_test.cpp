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

// What runs meanwhile is the loop: a secret that takes its time is fetched elsewhere.
TEST_F(ConnectionTest, IsOpenedWhenItsSettingsHaveBeenExpandedAndOnlyOnce) {
    server.be_legacy({});
    hold_expansion = true;
    bool settled = false;
    connection().connect([&] { settled = true; });
    connection().connect([] {});
    EXPECT_EQ(connection().state(), State::Connecting);
    ASSERT_EQ(held_expansions.size(), 1u);
    EXPECT_EQ(server.opened, 0);
    held_expansions[0]();
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(server.opened, 1);
}

TEST_F(ConnectionTest, AnExpansionThatEndsAfterTheConnectionOpensNothing) {
    server.be_legacy({});
    hold_expansion = true;
    connection().connect([] {});
    bool closed = false;
    connection().close([&] { closed = true; });
    ASSERT_EQ(held_expansions.size(), 1u);
    held_expansions[0]();
    ASSERT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(connection().state(), State::Stopped);
    connection_.reset();
    held_expansions[0]();
    EXPECT_EQ(server.opened, 0);
}

TEST_F(ConnectionTest, AServerThatLeavesOnTheProbeIsTriedWithoutIt) {
    server.be_legacy({});
    server.leave_on_discover = true;
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.opened, 2);
    EXPECT_EQ(connection().status().pending, 0u) << "nobody waits for the probe";
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

TEST_F(ConnectionTest, AnswersCallsAndPassesServerErrorsOn) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const json::object& params) -> json::value {
        return {{"resultType", "complete"}, {"got", params.at("name")}};
    };
    const auto reply = ask(call("a"));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("got":"a")"));
    server.errors["tools/call"] = {-32602, "bad"};
    EXPECT_THAT(*ask(call("a")), HasSubstr("-32602"));
}

TEST_F(ConnectionTest, ATimeOutTellsTheServerAndDropsTheLateAnswer) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    const auto reply = ask(call("a", 20ms));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Timeout);
    EXPECT_THAT(reply.error().message, HasSubstr("within 20 ms"));
    const auto id = server.requests("tools/call").at(0).at("id").as_int64();
    EXPECT_EQ(server.requests("notifications/cancelled").at(0).at("params").at("requestId"), id);
    server.answer(id, "{}");
    EXPECT_TRUE(wait([&] { return connection().status().late_answers == 1; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, ProgressMovesTheIdleLimit) {
    server.be_legacy({tool_named("a")});
    spec.config.request_timeout = 20ms;
    frozen = core::Clock::now();
    ASSERT_EQ(connect(), State::Ready);
    int told = 0;
    Request request{"prompts/get", {}, 0ms, [&](const Progress& progress) {
                        ++told;
                        EXPECT_EQ(progress.total, 9);
                    }};
    Outcome outcome;
    const auto id = begin(std::move(request), outcome);
    for (int i = 1; i <= 3; ++i) {
        *frozen += 19ms;
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            std::to_string(id) + R"(,"progress":1,"total":9}})");
        ASSERT_TRUE(wait([&] { return told == i; }));
        pass(30ms);  // every timer of those 20 ms has fired
        ASSERT_FALSE(outcome);
    }
    *frozen += 20ms;
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
    for (const std::string more :
         {R"("progress":0.5,"total":2,"message":"half\u0007way")", R"("progress":1)"})
        server.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
            id + "," + more + "}}");
    ASSERT_TRUE(wait([&] { return told.size() == 2; }));
    EXPECT_EQ(told[0].progress, 0.5);
    EXPECT_EQ(told[0].total, 2);
    EXPECT_THAT(told[0].message, testing::AllOf(HasSubstr("half"), HasSubstr("way")));
    EXPECT_EQ(told[0].message.find('\a'), std::string::npos);
    EXPECT_EQ(told[1].total, std::nullopt);
    EXPECT_EQ(told[1].message, "");
    EXPECT_TRUE(events.notifications.empty()) << "it is the caller's";
}

TEST_F(ConnectionTest, TheLastFiveLinesOfStderrAreToldWithAFailure) {
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    for (int i = 1; i <= 7; ++i) server.write_stderr("line " + std::to_string(i));
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": connection lost: exited; stderr: line 3 | line 4 | line 5 | line 6 | "
              "line 7");
}

TEST_F(ConnectionTest, AStartThatTakesTooLongSaysHowFarItCame) {
    spec.config.startup_timeout = 30ms;
    EXPECT_NE(connect(), State::Ready);
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": no answer to the handshake within 30 ms (startup_timeout_sec)");
    connection_.reset();
    bool settled = false;
    connection().connect([&] { settled = true; });
    server.fact("trouble", "connection refused");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection().status().last_error,
              "server \"s\": not connected within 30 ms (startup_timeout_sec): connection refused");
}

TEST_F(ConnectionTest, APinnedRevisionIsTheOnlyOneThatIsTried) {
    spec.config.protocol = "2026-07-28";
    server.be_legacy({});
    server.leave_on_discover = true;
    EXPECT_NE(connect(), State::Ready);
    EXPECT_EQ(server.opened, 1);
}

TEST_F(ConnectionTest, AServerThatLeavesOnEveryFirstWordIsNotTriedForEver) {
    server.be_legacy({});
    server.leave_on_discover = true;
    server.on_request = [&](const std::string& method) {
        if (method == "initialize") server.crash("exited again");
    };
    server.results.erase("initialize");
    EXPECT_NE(connect(), State::Ready);
    EXPECT_EQ(server.opened, 2);
    EXPECT_EQ(connection().status().pending, 0u);
}

TEST_F(ConnectionTest, AnExpansionThatTakesItsTimeWhenTheServerComesBackIsBegunOnce) {
    long_lived = true;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    hold_expansion = true;
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return held_expansions.size() == 1; }));
    EXPECT_EQ(connection().state(), State::Reconnecting);
    connection().connect([] {});
    EXPECT_EQ(held_expansions.size(), 1u);
    held_expansions[0]();
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(server.opened, 2);
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
    connection().subscribe("file:///a", true,
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
        connection().subscribe("file:///a", wanted, [&](const Result<Reply>& reply) {
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

TEST_F(ConnectionTest, APingThatFailsAtOnceIsNoMiss) {
    long_lived = true;
    health.ping_interval = 2ms;
    health.misses = 2;
    server.be_legacy({});
    for (int i = 0; i < 6; ++i) server.refusals["ping"].push_back(ErrorCode::Internal);
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return server.refusals["ping"].empty(); }));
    EXPECT_EQ(connection().status().restarts, 0u);
}

TEST_F(ConnectionTest, AListThatAClosingChannelRefusesFailsForTheReasonOfItsEnd) {
    health.reconnect_attempts = 0;
    server.be_legacy({tool_named("a")});
    server.refusals["tools/list"] = {ErrorCode::Unavailable};
    server.on_request = [&](const std::string& method) {
        if (method == "initialize") loop.defer([&] { server.crash("exited with code 3"); });
    };
    EXPECT_EQ(connect(), State::Failed);
    EXPECT_THAT(connection().status().last_error, HasSubstr("exited with code 3"));
    EXPECT_THAT(connection().status().last_error, testing::Not(HasSubstr("send refused")));
}

TEST_F(ConnectionTest, ALostServerEndsItsCallsAtOnceAndComesBack) {
    long_lived = true;
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<Error> error;
    connection().request(call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    server.crash("exited with code 3");
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("server \"s\": connection lost: exited with code 3"));
    EXPECT_TRUE(wait([&] { return connection().state() == State::Ready; }));
    EXPECT_EQ(connection().status().restarts, 1u);
}

TEST_F(ConnectionTest, AServerThatNeverStartsFailsAfterItsAttempts) {
    long_lived = true;
    health.reconnect_attempts = 3;
    server.results.clear();
    server.leave_on_discover = true;
    spec.config.protocol = "2026-07-28";
    connect();
    EXPECT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_EQ(server.opened, 4);
}

TEST_F(ConnectionTest, AProgramThatIsNotThereIsNotTriedAgain) {
    long_lived = true;
    server.refuse_open = true;
    EXPECT_EQ(connect(), State::Error);
    EXPECT_EQ(server.opened, 1);
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("no such program"));
}

TEST_F(ConnectionTest, AnAnswerNobodyAskedForEndsTheConnection) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<Error> error;
    connection().request(call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    server.answer(999, "{}");
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("answered id 999, which nobody asked"));
}

TEST_F(ConnectionTest, AConnectionThatIsLostWhileItListsToolsIsNotReady) {
    server.be_legacy({});
    server.results.erase("tools/list");
    bool settled = false;
    connection().connect([&] { settled = true; });
    ASSERT_TRUE(wait([&] { return !server.requests("tools/list").empty(); }));
    server.answer(999, "{}");
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_NE(connection().state(), State::Ready);
    EXPECT_THAT(connection().status().last_error, HasSubstr("which nobody asked"));
}

TEST_F(ConnectionTest, ABrokenAnswerEndsTheCallItNames) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<Error> error;
    const auto id =
        connection().request(call("a"), [&](Result<Reply> reply) { error = reply.error(); });
    server.answer(static_cast<std::int64_t>(id), std::string(1000, '['));
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_THAT(error->message, HasSubstr("json_depth"));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, ABrokenAnswerIsTracedWhateverTheDigitsOfItsId) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::vector<Outcome> outcomes(20);
    std::vector<RequestId> ids;
    for (auto& outcome : outcomes) ids.push_back(begin(call("a"), outcome));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        server.answer(static_cast<std::int64_t>(ids[i]), "[");
        ASSERT_TRUE(wait([&] { return outcomes[i].has_value(); })) << ids[i];
        EXPECT_THAT(outcomes[i]->error().message, HasSubstr("sent a malformed message"));
    }
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, JsonLogLinesOnStdoutHarmNobody) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    server.say(R"({"level":"info","msg":"hello"})");
    server.say(R"({"level":"inf)");
    EXPECT_TRUE(wait([&] { return connection().status().stray_lines == 2; }));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(events.output.size(), 2u);
}

// One byte short of whole it would not be found any more where errors and logs are masked.
TEST_F(ConnectionTest, WhatIsQuotedOfAServerIsMaskedBeforeItIsCut) {
    const std::string secret = "k9ZqA7Lw2pXv4Tn8";
    core::Secrets secrets;
    secrets.add(secret);
    const auto cut_at = [&](std::size_t most, const std::string& head) {
        return head + std::string(most - head.size() - secret.size() + 1, 'x') + secret;
    };
    server.be_legacy({tool_named("a")});
    limits.stderr_line_bytes = 1000;
    ASSERT_EQ(connect(), State::Ready);
    server.say(cut_at(1000, "{") + "}");
    ASSERT_TRUE(wait([&] { return connection().status().stray_lines == 1; }));
    EXPECT_THAT(events.output, ::testing::ElementsAre(::testing::EndsWith("xx***")));
    Outcome wrong, lost;
    const auto id = begin(call("a"), wrong);
    server.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"error":)" +
               cut_at(300, R"({"code":"none","message":")") + R"("}})");
    ASSERT_TRUE(wait([&] { return wrong.has_value(); }));
    EXPECT_THAT(wrong->error().message, ::testing::EndsWith("xx***"));
    begin(call("a"), lost);
    server.say(R"({"jsonrpc":"2.0","error":)" + cut_at(300, R"({"code":-1,"message":")") +
               R"("}})");
    ASSERT_TRUE(wait([&] { return lost.has_value(); }));
    EXPECT_THAT(lost->error().message,
                ::testing::AllOf(HasSubstr("xx***"), ::testing::Not(HasSubstr("k9Zq"))));
}

TEST_F(ConnectionTest, ACursorThatRepeatsIsNotFollowedForEver) {
    server.be_legacy({});
    server.results["tools/list"] = [](const auto&) -> json::value {
        return {{"tools", {tool_named("a")}}, {"nextCursor", "again"}};
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_EQ(server.requests("tools/list").size(), 2u);
    EXPECT_THAT(connection().status().last_error, HasSubstr("repeats the cursor \"again\""));
    EXPECT_EQ(connection().tools().size(), 1u) << "what was listed is kept";
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

TEST_F(ConnectionTest, AnswersInputRequiredAndSendsTheCallAgain) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const json::object& params) -> json::value {
        if (!params.contains("inputResponses")) {
            return {
                {"resultType", "input_required"},
                {"requestState", "opaque"},
                {"inputRequests",
                 {{"who", {{"method", "elicitation/create"}, {"params", {{"mode", "form"}}}}}}}};
        }
        return {{"resultType", "complete"},
                {"name", params.at("inputResponses").at("who").at("content").at("name")},
                {"state", params.at("requestState")}};
    };
    const auto reply = ask(call("a"));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("name":"octocat","state":"opaque")"));
    const auto sent = server.requests("tools/call");
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_NE(sent[0].at("id"), sent[1].at("id"));
}

TEST_F(ConnectionTest, AnInputRequestOfAnyShapeEndsItsCallAndNothingElse) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    std::string crowd = "{\"k\":0";
    for (int i = 0; i < 10'000; ++i) crowd += ",\"k" + std::to_string(i) + "\":0";
    crowd += "}";
    struct Case {
        std::string members, message;
    };
    const Case cases[] = {
        {"\"inputRequests\":" + nested(40), "asked for input without saying what"},
        {"\"inputRequests\":{},\"x\":" + nested(120), "asked for input without saying what"},
        {"\"inputRequests\":[]", "asked for input without saying what"},
        {"\"inputRequests\":" + crowd, "limit json_crowding"},
        {"\"inputRequests\":{\"a\":7}", "an input request has no method"},
        {"\"inputRequests\":{\"a\":{\"method\":[]}}", "an input request has no method"},
    };
    server.be_modern({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (const auto& c : cases) {
        SCOPED_TRACE(c.members.substr(0, 60));
        const auto reply = ask_and_hear([&](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + id +
                   R"(,"result":{"resultType":"input_required",)" + c.members + "}}";
        });
        ASSERT_FALSE(reply);
        EXPECT_THAT(reply.error().message, HasSubstr(c.message));
        EXPECT_EQ(connection().state(), State::Ready);
    }
}

TEST_F(ConnectionTest, AnIdMayComeBackInQuotesOrAsAFloat) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    for (const bool quoted : {true, false}) {
        const auto reply = ask_and_hear([&](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + (quoted ? "\"" + id + "\"" : id + ".0") +
                   R"(,"result":{"quoted":1}})";
        });
        ASSERT_TRUE(reply) << reply.error().message;
        EXPECT_EQ(*reply, R"({"quoted":1})");
    }
}

TEST_F(ConnectionTest, AnIdThatIsNearlyOursIsNobodysAnswer) {
    for (const char* wrong : {"1.5", "\"1.5\"", "\"x\"", "\"\"", "\"-1\"", "1e300",
                              "9223372036854775808", "\"99999999999999999999\""}) {
        SCOPED_TRACE(wrong);
        connection_.reset();
        server.be_legacy({tool_named("a")});
        ASSERT_EQ(connect(), State::Ready);
        const auto reply = ask_and_hear([&](const std::string&) {
            return std::string(R"({"jsonrpc":"2.0","id":)") + wrong + R"(,"result":{}})";
        });
        ASSERT_FALSE(reply);
        EXPECT_THAT(reply.error().message, HasSubstr("which nobody asked"));
    }
}

TEST_F(ConnectionTest, AnErrorCodeThatIsNoneIsAnErrorOfItsCall) {
    server.be_legacy({tool_named("a")});
    for (const char* code : {"1e308", "-1e308", "1.5", "9223372036854775808"}) {
        SCOPED_TRACE(code);
        connection_.reset();
        server.results.erase("tools/list");
        connection().connect([] {});
        ASSERT_TRUE(wait([&] { return !server.requests("tools/list").empty(); }));
        const auto id = json::serialize(server.requests("tools/list").back().at("id"));
        server.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + code +
                   R"(,"message":"no"}})");
        ASSERT_TRUE(wait([&] { return !connection().status().last_error.empty(); }));
        EXPECT_THAT(connection().status().last_error, HasSubstr("error.code is not an integer"));
        server.received.clear();
    }
}

TEST_F(ConnectionTest, InputIsNotAskedForWithoutEnd) {
    server.be_modern({tool_named("a")});
    server.results["tools/call"] = [](const auto&) -> json::value {
        return {{"resultType", "input_required"}, {"requestState", "again"}};
    };
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("limit input_rounds"));
    const auto again = server.requests("tools/call").at(1).at("params").as_object();
    EXPECT_EQ(again.at("requestState"), "again");
    EXPECT_FALSE(again.contains("inputResponses"));
}

TEST_F(ConnectionTest, RefusesMoreThanItsQueueHolds) {
    server.be_legacy({tool_named("a")});
    limits.queue_messages = 2;
    ASSERT_EQ(connect(), State::Ready);
    connection().request(call("a"), [](Result<Reply>) {});
    connection().request(call("a"), [](Result<Reply>) {});
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Limit);
    EXPECT_THAT(reply.error().message, HasSubstr("queue_messages"));
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

TEST_F(ConnectionTest, AnIdThatIsEchoedAsAStringIsTheSame) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    Outcome outcome;
    const auto id = begin(call("a"), outcome);
    server.say(R"({"jsonrpc":"2.0","id":")" + std::to_string(id) + R"(","result":{}})");
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_TRUE(*outcome);
    ASSERT_LT(id, 10u) << "one digit, the shortest there is";
}

TEST_F(ConnectionTest, AnIdThatIsNoWholeNumberIsNobodys) {
    for (const char* strange : {"1.5", "\"\"", "\"1x\"", "-1", "\"999999999999999999999\""}) {
        connection_.reset();
        server.be_legacy({tool_named("a")});
        ASSERT_EQ(connect(), State::Ready);
        Outcome outcome;
        begin(call("a"), outcome);
        server.say(R"({"jsonrpc":"2.0","id":)" + std::string(strange) + R"(,"result":{}})");
        ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
        EXPECT_THAT(outcome->error().message,
                    HasSubstr("answered id " + std::string(strange) + ", which nobody asked"));
    }
}

TEST_F(ConnectionTest, ScatteredMissesDoNotEndAServerThatIsHeardOf) {
    long_lived = true;
    health.ping_interval = 5ms;
    health.ping_timeout = 2ms;
    health.misses = 2;
    health.reconnect_attempts = 0;
    server.be_legacy({});
    // No ping is answered, but something else comes after each.
    server.on_request = [&](const std::string& method) {
        if (method == "ping")
            server.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
    };
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return server.requests("ping").size() == 6; }));
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ConnectionTest, AServerThatStopsAnsweringPingsIsGivenUp) {
    long_lived = true;
    health.ping_interval = 5ms;
    health.ping_timeout = 2ms;
    health.misses = 2;
    health.reconnect_attempts = 0;
    server.be_legacy({});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return connection().state() == State::Failed; }));
    EXPECT_THAT(connection().status().last_error, HasSubstr("health.misses"));
}

TEST_F(ConnectionTest, ListsToolsAgainWhenTheyChanged) {
    long_lived = true;
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    server.be_legacy({tool_named("a"), tool_named("b")});
    server.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    EXPECT_TRUE(wait([&] { return connection().tools().size() == 2; }));
    EXPECT_EQ(events.notifications.at(0), "notifications/tools/list_changed");
}

TEST_F(ConnectionTest, ClosingEndsWhatIsInFlight) {
    server.be_legacy({tool_named("a")});
    ASSERT_EQ(connect(), State::Ready);
    std::optional<ErrorCode> code;
    connection().request(call("a"), [&](Result<Reply> reply) { code = reply.error().code; });
    bool closed = false;
    connection().close([&] { closed = true; });
    EXPECT_TRUE(wait([&] { return closed; }));
    EXPECT_EQ(code, ErrorCode::Unavailable);
    EXPECT_EQ(connection().state(), State::Stopped);
}

}  // namespace
}  // namespace patchbay::connection
