// What is asked of a server in its own words, and that no such request gets around the policy.
#include "unit/router/fixture.hpp"

namespace patchbay::router {
namespace {

using ::testing::HasSubstr;

TEST_F(RouterTest, ARequestForWhatAServerDoesNotOfferIsNotSent) {
    std::optional<Error> error;
    ServerRequest request;
    request.server = "git";
    request.method = "prompts/list";
    router().request(caller, std::move(request),
                     [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(error->code, ErrorCode::Unsupported);
    EXPECT_TRUE(servers.at("git").requests("prompts/list").empty());
}

TEST_F(RouterTest, AToolIsJudgedByItsNameWhateverTheRequestThatReachesIt) {
    specs[0].config.disabled_tools = {"odd name"};  // of git
    const auto denied = ask("github", "tools/call", R"("name":"log","arguments":{})");
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, ErrorCode::Denied);
    EXPECT_EQ(denied.error().message, call("mcp__github__log").error().message);
    EXPECT_EQ(ask("github", "tools/call", R"("name":"l\u006fg")").error().code, ErrorCode::Denied);
    EXPECT_EQ(ask("git", "tools/call", R"("name":"odd name")").error().code, ErrorCode::Denied)
        << "what is hidden is forbidden too";
    EXPECT_EQ(ask("git", "tools/call", R"("name":"log")", &agent).error().code, ErrorCode::Denied);
    for (const char* id : {"git", "github"})
        EXPECT_TRUE(servers.at(id).requests("tools/call").empty()) << id;
}

TEST_F(RouterTest, ACallInTheServersOwnWordsSendsWhatWasJudgedAndWhatElseItSays) {
    const auto reply =
        ask("git", "tools/call", R"("more":[1],"name":"odd name","arguments":{"max":3})");
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("tool":"odd name","arguments":{"max":3})"));
    const auto sent = servers.at("git").requests("tools/call").at(0).at("params").as_object();
    EXPECT_EQ(sent.at("more"), json::array{1});
    ASSERT_TRUE(ask("git", "tools/call", R"("name":"log")")) << "of a server that is ready";
    EXPECT_TRUE(servers.at("git")
                    .requests("tools/call")
                    .at(1)
                    .at("params")
                    .at("arguments")
                    .as_object()
                    .empty());
}

TEST_F(RouterTest, ACallThatNamesNoToolOrIsNoneIsNotSent) {
    EXPECT_EQ(ask("git", "tools/call", R"("arguments":{})").error().code, ErrorCode::Invalid);
    EXPECT_EQ(ask("git", "tools/call", R"("name":7)").error().code, ErrorCode::Invalid);
    EXPECT_EQ(ask("git", "tools/call", R"("name":"log","arguments":[])").error().code,
              ErrorCode::Invalid);
    EXPECT_EQ(ask("git", "tools/call", R"("name":)").error().code, ErrorCode::Invalid);
    const auto unknown = ask("git", "tools/call", R"("name":"lgo")");
    EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
    EXPECT_THAT(unknown.error().message, HasSubstr(R"(did you mean "log")"));
    EXPECT_TRUE(servers.at("git").requests("tools/call").empty());
}

TEST_F(RouterTest, ACallIsNotJudgedByOneSpellingAndRunByAnother) {
    for (const auto* params :
         {R"("name":"log","Name":"secret")", R"("name":"log","arguments":{},"Arguments":{"b":2})",
          R"("name":"log","_Meta":{})", "\"name\":\"log\",\"argument\u017f\":{}"}) {
        const auto refused = ask("git", "tools/call", params);
        EXPECT_EQ(refused.error().code, ErrorCode::Invalid) << params;
        EXPECT_THAT(refused.error().message, HasSubstr("is no member of it")) << params;
    }
    for (const auto* members : {R"("Name":"secret")", R"("ARGUMENTS":{"b":2})", R"("_Meta":{})"})
        EXPECT_EQ(call("mcp__git__log", "{}", members).error().code, ErrorCode::Invalid) << members;
    EXPECT_EQ(ask("git", "prompts/get", R"("name":"a","Name":"b")").error().code,
              ErrorCode::Invalid);
    for (const char* method : {"Prompts/get", "Tools/list", "Resources/Read"})
        EXPECT_THAT(ask("git", method, R"("name":"a")").error().message,
                    HasSubstr("no method \"" + std::string(method) + "\"; it is "));
    EXPECT_EQ(ask("git", "Tools/Call", R"("name":"log")").error().code, ErrorCode::Invalid);
    EXPECT_TRUE(ask("git", "tools/call", R"("name":"log","Other":1)"));
    EXPECT_EQ(servers.at("git").received.back().at("method").as_string(), "tools/call");
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 1u);
    EXPECT_TRUE(servers.at("git").requests("Tools/Call").empty());
}

// What the caller owes the server ends the connection, and that the call that waits for it.
TEST_F(RouterTest, ACallerMayGoWhileItsGoingEndsAConnectionThatItWaitsFor) {
    limits.server_request_bytes = 300;
    auto& git = servers.at("git");
    git.be_legacy({tool_named("log")});
    add_server("git_");
    auto leaving = std::make_unique<test::FakeCaller>(callers);
    const auto until = [&](const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    };
    const auto begin = [&](const std::string& name) {
        Call call;
        call.name = name;
        router().call(*leaving, std::move(call), [](const Result<Reply>& reply) {
            ADD_FAILURE() << (reply ? "answered" : reply.error().message);
        });
    };
    git.results.erase("tools/call");
    begin("mcp__git__log");
    ASSERT_TRUE(until([&] { return git.requests("tools/call").size() == 1; }));
    git.results.erase("tools/list");
    git.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    git.say(R"({"jsonrpc":"2.0","id":"q1","method":"roots/list"})");
    git.say(R"({"jsonrpc":"2.0","id":"q2","method":"roots/list"})");
    ASSERT_TRUE(until([&] { return leaving->asked.size() == 2; }));
    begin("mcp__git___log");
    ASSERT_TRUE(until([&] { return servers.at("git_").requests("tools/list").size() == 1; }));
    leaving.reset();
    EXPECT_TRUE(ask("git_", "ping")) << "the others go on";
}

// A server that trims what it reads, or folds other letters, knows it as what nobody judged.
TEST_F(RouterTest, WhatIsNoMethodIsNotSent) {
    specs[0].config.disabled_tools = {"log"};
    ASSERT_TRUE(ask("git", "ping"));
    const auto before = servers.at("git").received.size();
    for (const std::string method :
         {"tools/call", "tools/list", "initialize", "notifications/cancelled", "logging/setLevel",
          "resources/subscribe"})
        for (const std::string odd :
             {" ", "\t", "\n", "\u00a0", "\u200b", "\uff0f", "\"", "%20", "?", "\u017f", "\uff54"})
            for (const auto& written :
                 {odd + method, method + odd, method.substr(0, 3) + odd + method.substr(3)}) {
                const auto refused = ask("git", written, R"("name":"log")");
                ASSERT_FALSE(refused) << written;
                EXPECT_EQ(refused.error().code, ErrorCode::Invalid) << written;
            }
    EXPECT_EQ(ask("git", "").error().code, ErrorCode::Invalid);
    EXPECT_EQ(servers.at("git").received.size(), before);
}

TEST_F(RouterTest, WhatIsTheHostsToSayIsNotSentForACaller) {
    ASSERT_TRUE(ask("git", "ping"));
    const auto before = servers.at("git").received.size();
    for (const auto* method : {"initialize", "Initialize", "notifications/cancelled",
                               "notifications/initialized", "notifications/roots/list_changed"}) {
        const auto refused = ask("git", method, R"("requestId":1)");
        EXPECT_EQ(refused.error().code, ErrorCode::Invalid) << method;
        EXPECT_THAT(refused.error().message, HasSubstr("is said by the host itself")) << method;
    }
    EXPECT_EQ(servers.at("git").received.size(), before);
}

TEST_F(RouterTest, AListInTheServersOwnWordsLeavesOutWhatIsHidden) {
    const auto whole = ask("git", "tools/list");
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_THAT(*whole, HasSubstr(R"("odd name")"));
    router_.reset();
    specs[0].config.disabled_tools = {"odd name"};
    const auto fewer = ask("git", "tools/list");
    ASSERT_TRUE(fewer) << fewer.error().message;
    EXPECT_THAT(*fewer, HasSubstr(R"("log")"));
    EXPECT_THAT(*fewer, ::testing::Not(HasSubstr("odd name")));
    EXPECT_THAT(*fewer, HasSubstr(R"("ttlMs":60000)")) << "the rest as it came";
}

TEST_F(RouterTest, ADenialOfAWholeServerHoldsForAllThatItOffers) {
    permissions.deny = {"mcp__git__*"};
    for (const char* method : {"resources/list", "resources/read", "resources/subscribe",
                               "prompts/list", "prompts/get", "completion/complete",
                               "logging/setLevel", "subscriptions/listen", "ping", "tools/list"}) {
        EXPECT_EQ(ask("git", method).error().code, ErrorCode::Denied) << method;
    }
    EXPECT_EQ(servers.at("git").opened, 0);
    EXPECT_EQ(ask("nobody", "ping").error().code, ErrorCode::NotFound);
}

class RouterEras : public RouterTest {
protected:
    void be_modern() {
        servers.at("git").results["server/discover"] = [](const auto&) -> json::value {
            return {{"supportedVersions", {"2026-07-28"}},
                    {"capabilities", {{"resources", json::object()}, {"logging", json::object()}}}};
        };
    }
    void be_legacy() {
        auto& server = servers.at("git");
        server.be_legacy({});
        server.results["initialize"] = [](const auto&) -> json::value {
            return {{"protocolVersion", "2025-11-25"},
                    {"capabilities", {{"resources", json::object()}, {"logging", json::object()}}}};
        };
        for (const char* method :
             {"resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"})
            server.results[method] = [](const auto&) -> json::value { return {{"legacy", 1}}; };
    }
};

TEST_F(RouterEras, SubscriptionsAndLevelsAreSaidInTheServersOwnWay) {
    be_legacy();
    EXPECT_EQ(*ask("git", "resources/subscribe", R"("uri":"a:1")"), R"({"legacy":1})");
    EXPECT_EQ(*ask("git", "resources/unsubscribe", R"("uri":"a:2")"), R"({"legacy":1})");
    EXPECT_EQ(*ask("git", "logging/setLevel", R"("level":"debug")"), R"({"legacy":1})");
    EXPECT_EQ(*ask("git", "ping"), R"({"legacy":1})");
    const auto params = [&](const char* method) {
        return servers.at("git").requests(method).at(0).at("params").as_object();
    };
    EXPECT_EQ(params("resources/subscribe").at("uri"), "a:1");
    EXPECT_EQ(params("resources/unsubscribe").at("uri"), "a:2");
    EXPECT_EQ(params("logging/setLevel").at("level"), "debug");

    router_.reset();
    servers.at("git").received.clear();
    servers.at("git").errors.clear();
    be_modern();
    EXPECT_EQ(*ask("git", "resources/subscribe", R"("uri":"a:1")"), "{}");
    EXPECT_EQ(*ask("git", "logging/setLevel", R"("level":"debug")"), "{}");
    const auto probes = servers.at("git").requests("server/discover").size();
    EXPECT_TRUE(ask("git", "ping"));
    const auto pinged = servers.at("git").requests("server/discover");
    ASSERT_EQ(pinged.size(), probes + 1);
    EXPECT_EQ(pinged.back().at("params").at("_meta").at("io.modelcontextprotocol/logLevel"),
              "debug");
    EXPECT_EQ(params("subscriptions/listen").at("notifications").at("resourceSubscriptions"),
              json::array{"a:1"});
    for (const char* method :
         {"resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"})
        EXPECT_TRUE(servers.at("git").requests(method).empty()) << method;
}

TEST_F(RouterEras, ParamsThatCannotBeReadAreNotSent) {
    be_legacy();
    for (const char* method : {"resources/subscribe", "logging/setLevel"}) {
        const auto reply = ask("git", method, R"("uri":)");
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, ErrorCode::Invalid);
        EXPECT_THAT(reply.error().message, HasSubstr("the params of " + std::string(method)));
        EXPECT_TRUE(servers.at("git").requests(method).empty());
    }
}

TEST_F(RouterTest, WhatNeedsACapabilityIsAskedOnlyWhereItIs) {
    auto& server = servers.at("git");
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}}, {"capabilities", json::object()}};
    };
    const std::pair<const char*, const char*> needs[] = {{"tools/list", "tools"},
                                                         {"resources/read", "resources"},
                                                         {"prompts/get", "prompts"},
                                                         {"completion/complete", "completions"},
                                                         {"logging/setLevel", "logging"}};
    for (const auto& [method, capability] : needs) {
        const auto reply = ask("git", method);
        ASSERT_FALSE(reply) << method;
        EXPECT_EQ(reply.error().message, "server \"git\" does not offer " +
                                             std::string(capability) + " (no such capability)");
        EXPECT_TRUE(server.requests(method).empty());
    }
    server.results["example/own"] = [](const auto&) -> json::value { return {{"own", 1}}; };
    EXPECT_EQ(*ask("git", "example/own"), R"({"own":1})");
}

TEST_F(RouterTest, ARequestToAServerThatDoesNotComeUpEndsForItsReason) {
    servers.at("git").refuse_open = true;
    const auto reply = ask("git", "ping");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
    EXPECT_EQ(reply.error().message, "server \"git\": no such program");
}

TEST_F(RouterEras, TheHostMayEndWhileAServerIsSubscribedTo) {
    be_legacy();
    auto& server = servers.at("git");
    server.results.erase("resources/subscribe");
    int ended = 0;
    ServerRequest request;
    request.server = "git";
    request.method = "resources/subscribe";
    request.params.members = R"("uri":"a:1")";
    router().request(caller, std::move(request), [&](const Result<Reply>& reply) {
        EXPECT_EQ(reply.error().message, "the host is closing");
        ++ended;
    });
    ASSERT_TRUE(loop.run_until([&] { return !server.requests("resources/subscribe").empty(); },
                               core::Clock::now() + 20s));
    router_.reset();
    EXPECT_EQ(ended, 1);
    server.answer(server.requests("resources/subscribe")[0].at("id").as_int64(), "{}");
    bool turned = false;
    loop.defer([&] { turned = true; });
    ASSERT_TRUE(loop.run_until([&] { return turned; }, core::Clock::now() + 20s));
    EXPECT_EQ(ended, 1) << "told twice";
}

TEST_F(RouterEras, ARequestWithoutWhatItIsAboutIsNotSent) {
    be_legacy();
    EXPECT_EQ(ask("git", "resources/subscribe", R"("uri":7)").error().message,
              "resources/subscribe needs a \"uri\"");
    EXPECT_EQ(ask("git", "logging/setLevel", R"("level":"debgu")").error().message,
              "unknown log level \"debgu\"; did you mean \"debug\"? Known: debug, info, notice, "
              "warning, error, critical, alert, emergency");
    const auto longest = std::string(1'000, 'Q');
    EXPECT_THAT(ask("git", "logging/setLevel", R"("level":")" + longest + "\"").error().message,
                HasSubstr("unknown log level \"" + longest.substr(0, 80) + "\""));
    for (const char* method : {"resources/subscribe", "logging/setLevel"})
        EXPECT_TRUE(servers.at("git").requests(method).empty());
}

}  // namespace
}  // namespace patchbay::router
