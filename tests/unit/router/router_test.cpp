// Calls of tools by their public names: where they go, and how they end.
#include "unit/router/fixture.hpp"

#include <algorithm>

namespace patchbay::router {
namespace {

using ::testing::HasSubstr;

TEST_F(RouterTest, ConnectsOnlyTheServerThatTheNameBelongsTo) {
    const auto reply = call("mcp__git__log", R"({"max":3})");
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("server":"git","tool":"log","arguments":{"max":3})"));
    EXPECT_EQ(servers.at("git").opened, 1);
    EXPECT_EQ(servers.at("github").opened, 0);
}

TEST_F(RouterTest, SendsTheRawNameOfATool) {
    const auto reply = call(protocol::public_name("git", "odd name"));
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_THAT(*reply, HasSubstr(R"("tool":"odd name")"));
}

TEST_F(RouterTest, ToolsWhoseNamesWouldBeTheSameAreToldApart) {
    add_server("a");
    add_server("a_");
    servers.at("a").be_modern({tool_named("_log")});
    ASSERT_EQ(protocol::public_name("a", "_log"), protocol::public_name("a_", "log"));
    router();
    bool settled = false;
    connections->connect(caller, {"a", "a_"}, [&] { settled = true; });
    ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    const auto tools = router().tools(caller);
    ASSERT_EQ(tools.size(), 2u);
    EXPECT_NE(tools[0].public_name, tools[1].public_name);
    for (const auto& tool : tools) {
        EXPECT_TRUE(call(tool.public_name)) << tool.server;
        EXPECT_EQ(servers.at(tool.server).requests("tools/call").size(), 1u) << tool.server;
    }
}

TEST_F(RouterTest, WhoseToolIsKnownIsTheOnlyOneThatIsBroughtUp) {
    add_server("git__a");
    servers.at("git").be_modern({tool_named("a__log")});
    router();
    const auto recall = [&](const std::string& server, const std::string& tool) {
        catalogue->recall(server,
                          std::make_shared<const catalogue::Listing>(
                              catalogue::Listing{"", {{tool, R"("inputSchema":{})", {}}}}),
                          {});
    };
    recall("git", "a__log");
    EXPECT_TRUE(call("mcp__git__a__log"));
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 1u);
    EXPECT_EQ(servers.at("git__a").opened, 0) << "though it may have a tool of that name too";
}

TEST_F(RouterTest, AToolThatItsServerHasGivenUpIsLookedForAtTheOthers) {
    add_server("git__a");
    servers.at("git").be_modern({tool_named("other")});
    router();
    catalogue->recall("git",
                      std::make_shared<const catalogue::Listing>(
                          catalogue::Listing{"", {{"a__log", R"("inputSchema":{})", {}}}}),
                      {});
    EXPECT_TRUE(call("mcp__git__a__log"));
    EXPECT_EQ(servers.at("git__a").requests("tools/call").size(), 1u);
}

TEST_F(RouterTest, NamesTheNearestWhenThereIsNoSuchTool) {
    const auto missing = call("mcp__git__lgo");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().message, HasSubstr(R"(did you mean "mcp__git__log")"));
    EXPECT_THAT(call("mcp__gti__log").error().message,
                HasSubstr("no enabled server has this prefix"));
}

TEST_F(RouterTest, ANameAsItsServerHasItLeadsToThePublicOne) {
    add_server("odd");
    servers.at("odd").be_modern({tool_named("weird name/x")});
    for (const std::string name : {"mcp__odd__weird name/x", "mcp__odd__weird_name_x"})
        EXPECT_THAT(call(name).error().message,
                    HasSubstr("server \"odd\" has no tool \"" + name + "\"; did you mean \"" +
                              protocol::public_name("odd", "weird name/x") + "\"?"));
}

TEST_F(RouterTest, WhoAsksInAServersOwnWordsIsToldOfItsToolsInThem) {
    const auto ask = [&](const std::string& tool) {
        std::string message;
        router().request(caller, {"git", "tools/call", {"\"name\":\"" + tool + "\"", {}}},
                         [&](const auto& reply) { message = reply.error().message; });
        loop.run_until([&] { return !message.empty(); }, core::Clock::now() + 20s);
        return message;
    };
    EXPECT_EQ(ask("lgo"), "server \"git\" has no tool \"lgo\"; did you mean \"log\"?");
    EXPECT_EQ(ask("mcp__git__log"),
              "server \"git\" has no tool \"mcp__git__log\"; did you mean \"log\"?");
}

TEST_F(RouterTest, AToolOfAServerThatHasGoneIsLookedForInItsNewList) {
    ASSERT_TRUE(call("mcp__git__log"));
    auto& git = servers.at("git");
    git.be_modern({tool_named("other")});
    git.crash("gone");
    const auto* const held = connections->held("git", caller.number());
    ASSERT_TRUE(loop.run_until([&] { return held->state() != connection::State::Ready; }));
    const auto called = git.requests("tools/call").size();
    const auto reply = call("mcp__git__log");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::NotFound) << reply.error().message;
    EXPECT_EQ(git.requests("tools/call").size(), called);
}

TEST_F(RouterTest, NamesTheNearestOfAllToolsWhereNoServerHasThePrefix) {
    ASSERT_TRUE(call("mcp__git__log"));
    EXPECT_THAT(call("mcp__gti__log").error().message,
                HasSubstr(R"(has this prefix; did you mean "mcp__git__log"?)"));
}

TEST_F(RouterTest, OfForeignTextTellsSoMuchAndNoMore) {
    const std::string longest(1'000, 'Q');
    const auto told = [](const auto& refused) {
        const auto& message = refused.error().message;
        return std::count(message.begin(), message.end(), 'Q');
    };
    EXPECT_EQ(told(call(longest)), 80);
    EXPECT_EQ(told(call("mcp__git__" + longest)), 70) << "80 with its prefix";
    be_endless("git");
    servers.at("git").results["resources/list"] = [&](const auto&) -> json::value {
        return {{"resources", json::array()}, {"nextCursor", longest}};
    };
    router_.reset();
    EXPECT_EQ(told(list("git", "resources/list")), 64);
    servers.at("git").errors["resources/list"] = {-32603, longest};
    EXPECT_EQ(told(list("git", "resources/list")), 500);
}

TEST_F(RouterTest, AsksThePolicyBeforeTheServer) {
    const auto denied = call("mcp__github__log");
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, ErrorCode::Denied);
    EXPECT_TRUE(servers.at("github").requests("tools/call").empty());
}

TEST_F(RouterTest, AMethodThatAServerMayReadAsAnotherIsNotSent) {
    std::optional<ErrorCode> code;
    ServerRequest request;
    request.server = "git";
    request.method = std::string("tools/call\0", 11);
    request.params.members = R"("name":"log")";
    router().request(caller, std::move(request),
                     [&](Result<Reply> reply) { code = reply.error().code; });
    ASSERT_TRUE(loop.run_until([&] { return code.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(code, ErrorCode::Invalid);
    EXPECT_EQ(servers.at("git").opened, 0);
}

TEST_F(RouterTest, ADeadServerTakesOnlyItsOwnCallsDown) {
    servers.at("git").refuse_open = true;
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Unavailable);
    EXPECT_TRUE(call(protocol::public_name("github", "odd name")));
}

TEST_F(RouterTest, ACancelledCallEndsAndTheServerHearsOfIt) {
    servers.at("git").results.erase("tools/call");
    std::optional<ErrorCode> code;
    Call request;
    request.name = "mcp__git__log";
    const auto id = router().call(caller, std::move(request),
                                  [&](Result<Reply> reply) { code = reply.error().code; });
    auto& server = servers.at("git");
    ASSERT_TRUE(loop.run_until([&] { return !server.requests("tools/call").empty(); },
                               core::Clock::now() + 20s));
    router().cancel(id);
    EXPECT_EQ(code, ErrorCode::Cancelled);
    EXPECT_EQ(server.requests("notifications/cancelled").size(), 1u);
}

TEST_F(RouterTest, ACallToAServerWhoseListDoesNotComeSaysWhy) {
    auto& server = servers.at("git");
    server.results.erase("tools/list");
    specs[0].config.request_timeout = 20ms;
    for (int i = 0; i < 2; ++i) {
        const auto reply =
            i == 0 ? call("mcp__git__log") : ask("git", "tools/call", R"("name":"log")");
        ASSERT_FALSE(reply);
        EXPECT_THAT(reply.error().message,
                    HasSubstr("tools/list was not answered within 20 ms (request_timeout_ms)"));
    }
    server.errors["tools/list"] = {-32603, "the database is down"};
    specs[0].config.request_timeout = 20s;
    router_.reset();
    const auto refused = call("mcp__git__log");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Protocol);
    EXPECT_EQ(refused.error().message,
              "server \"git\": tools/list failed: the database is down; so nothing is known of the "
              "tool \"mcp__git__log\"");
}

TEST_F(RouterTest, ACallsOwnLimitAndProgressGoWithIt) {
    servers.at("git").results.erase("tools/call");
    for (const bool raw : {false, true}) {
        for (const bool connected : {false, true}) {
            SCOPED_TRACE(raw);
            if (!connected) router_.reset();
            router();
            servers.at("git").received.clear();
            if (connected) connections->connect(caller, {"git"}, [] {});
            std::optional<Error> error;
            const auto ended = [&](const Result<Reply>& reply) { error = reply.error(); };
            const auto progress = [](const connection::Progress&) {};
            const auto begun = loop.now() - 1h;
            if (raw) {
                ServerRequest request;
                request.server = "git";
                request.method = "tools/call";
                request.params.members = R"("name":"log")";
                request.timeout = 1h + 300ms;
                request.begun = begun;
                request.on_progress = progress;
                router().request(caller, std::move(request), ended);
            } else {
                Call request;
                request.name = "mcp__git__log";
                request.timeout = 1h + 300ms;
                request.begun = begun;
                request.on_progress = progress;
                router().call(caller, std::move(request), ended);
            }
            ASSERT_TRUE(
                loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
            EXPECT_EQ(error->code, ErrorCode::Timeout);
            const auto sent = servers.at("git").requests("tools/call");
            ASSERT_FALSE(sent.empty());
            EXPECT_TRUE(sent[0].at("params").at("_meta").as_object().contains("progressToken"));
        }
    }
}

TEST_F(RouterTest, TheCallersMetaGoesWithItsCall) {
    for (const char* how : {"by public name", "raw"}) {
        SCOPED_TRACE(how);
        bool ended = false;
        const auto end = [&](const Result<Reply>&) { ended = true; };
        if (*how == 'r') {
            ServerRequest request;
            request.server = "git";
            request.method = "tools/call";
            request.params = {R"("name":"log")", R"("example/key":"mine")"};
            router().request(caller, std::move(request), end);
        } else {
            Call request;
            request.name = "mcp__git__log";
            request.meta = R"("example/key":"mine")";
            router().call(caller, std::move(request), end);
        }
        ASSERT_TRUE(loop.run_until([&] { return ended; }, core::Clock::now() + 20s));
        const auto sent = servers.at("git").requests("tools/call").back();
        EXPECT_EQ(sent.at("params").at("_meta").at("example/key"), "mine");
        servers.at("git").received.clear();
    }
}

TEST_F(RouterTest, WithoutServersSaysThatThereAreNone) {
    specs.clear();
    EXPECT_THAT(call("mcp__git__log").error().message,
                HasSubstr("no MCP server is configured and enabled"));
}

TEST_F(RouterTest, NamesNoHiddenToolAsTheNearest) {
    specs[0].config.disabled_tools = {"log"};
    EXPECT_THAT(call("mcp__git__lgo").error().message,
                testing::Not(HasSubstr("\"mcp__git__log\"")));
}

TEST_F(RouterTest, ACallThatIsCancelledBeforeItsServerIsThereEndsOnce) {
    std::optional<Error> error;
    Call request;
    request.name = "mcp__git__log";
    request.timeout = 20s;
    const auto id = router().call(caller, std::move(request), [&](const Result<Reply>& reply) {
        EXPECT_FALSE(error);
        error = reply.error();
    });
    router().cancel(id);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::Cancelled);
    router().cancel(id);
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 1u);
}

TEST_F(RouterTest, ACallThatSeveralServersMayOwnRunsOnce) {
    const std::string prefix(58, 'x');
    add_server(prefix + "a");
    add_server(prefix + "b");
    const auto name = protocol::public_name(prefix + "a", "log");
    ASSERT_EQ(protocol::servers_for(name, {prefix + "a", prefix + "b"}).size(), 2u);
    const auto reply = call(name);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_TRUE(call(name)) << "and whatever is left of the first call is over by now";
    EXPECT_EQ(servers.at(prefix + "a").requests("tools/call").size(), 2u);
    EXPECT_TRUE(servers.at(prefix + "b").requests("tools/call").empty());
}

TEST_F(RouterTest, TheHostMayEndWhileServersConnect) {
    int ended = 0;
    const auto count = [&](const auto& reply) {
        EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
        ++ended;
    };
    for (const char* method : {"ping", "tools/call"}) {
        ServerRequest request;
        request.server = "git";
        request.method = method;
        request.params.members = R"("name":"log")";
        router().request(caller, std::move(request), count);
    }
    Call request;
    request.name = "mcp__git__log";
    router().call(caller, std::move(request), count);
    router_.reset();
    EXPECT_EQ(ended, 3);
    bool settled = false;
    connections->connect(caller, {"git"}, [&] { settled = true; });
    EXPECT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    EXPECT_EQ(ended, 3) << "each once";
    EXPECT_TRUE(servers.at("git").requests("tools/call").empty());
}

TEST_F(RouterTest, ACallsTimeLimitCountsItsWaitForTheServer) {
    servers.at("git").results.clear();
    servers.at("git").errors.clear();
    Call request;
    request.name = "mcp__git__log";
    request.timeout = 20ms;
    std::optional<Error> error;
    router().call(caller, std::move(request), [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(error->code, ErrorCode::Timeout);
    EXPECT_EQ(error->message, "server \"git\" is still connecting after 20 ms: starting");
}

// What waits for a server that starts is bounded whichever way it came, and by what still waits.
TEST_F(RouterTest, WhatWaitsForAServerThatStartsIsBounded) {
    limits.queue_bytes = 1000;
    for (auto& [id, server] : servers) {
        server.results.clear();
        server.errors.clear();
    }
    const std::string large(400, 'a');
    struct Asked {
        CallId id;
        std::shared_ptr<std::optional<Error>> end;
    };
    const auto noted = [](const Asked& asked) {
        return [end = asked.end](const Result<Reply>& reply) { *end = reply.error(); };
    };
    const auto call_log = [&](const std::string& server) {
        Asked asked{0, std::make_shared<std::optional<Error>>()};
        Call one;
        one.name = "mcp__" + server + "__log";
        one.arguments = R"({"a":")" + large + R"("})";
        asked.id = router().call(caller, std::move(one), noted(asked));
        return asked;
    };
    const auto request = [&](const std::string& method) {
        Asked asked{0, std::make_shared<std::optional<Error>>()};
        ServerRequest one;
        one.server = "git";
        one.method = method;
        one.params.members = R"("name":"log","arguments":{"a":")" + large + R"("})";
        asked.id = router().request(caller, std::move(one), noted(asked));
        return asked;
    };
    const std::function<Asked()> ways[] = {[&] { return call_log("git"); },
                                           [&] { return request("tools/call"); },
                                           [&] { return request("prompts/get"); }};
    for (std::size_t way = 0; way < std::size(ways); ++way) {
        SCOPED_TRACE(way);
        std::vector<Asked> waiting{ways[way](), ways[(way + 1) % 3]()};
        for (const auto& each : ways) {
            const auto refused = each();
            ASSERT_TRUE(
                loop.run_until([&] { return refused.end->has_value(); }, core::Clock::now() + 20s));
            EXPECT_EQ((*refused.end)->code, ErrorCode::Limit);
            EXPECT_THAT((*refused.end)->message,
                        testing::AllOf(HasSubstr("server \"git\": 2 requests with 8"),
                                       HasSubstr("wait for it to start (limits queue_messages, "
                                                 "queue_bytes)")));
        }
        waiting.push_back(call_log("github"));
        EXPECT_FALSE(*waiting.back().end) << "another server's are its own";
        for (const auto& each : waiting) router().cancel(each.id);
        for (const auto& each : waiting) EXPECT_EQ((*each.end)->code, ErrorCode::Cancelled);
    }
    limits.queue_messages = 1;
    router_.reset();
    connections.reset();
    const auto first = call_log("git"), second = call_log("git");
    ASSERT_TRUE(loop.run_until([&] { return second.end->has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ((*second.end)->code, ErrorCode::Limit) << "in number too";
}

TEST_F(RouterTest, WhatOneCallerHasWaitingTakesNoPlaceOfAnothers) {
    limits.queue_messages = 1;
    for (const char* method : {"server/discover", "initialize"})
        servers.at("git").results.erase(method);
    std::map<connection::Caller*, std::vector<ErrorCode>> refused;
    std::vector<CallId> calls;
    for (auto* each : {&caller, &caller, &agent}) {
        Call request;
        request.name = "mcp__git__log";
        calls.push_back(
            router().call(*each, std::move(request), [&, each](const Result<Reply>& reply) {
                refused[each].push_back(reply.error().code);
            }));
    }
    ASSERT_TRUE(loop.run_until([&] { return !refused.empty(); }, core::Clock::now() + 20s));
    bool turned = false;
    loop.defer([&] { turned = true; });
    ASSERT_TRUE(loop.run_until([&] { return turned; }, core::Clock::now() + 20s));
    EXPECT_EQ(refused[&caller], std::vector{ErrorCode::Limit}) << "its second";
    EXPECT_TRUE(refused[&agent].empty());
    for (const auto id : calls) router().cancel(id);
}

TEST_F(RouterTest, AnotherCallerOfASharedServerNeedsNeitherAConnectionNorAList) {
    ASSERT_TRUE(call("mcp__git__log"));
    test::FakeCaller second{callers};
    bool answered = false;
    Call request;
    request.name = "mcp__git__log";
    router().call(second, std::move(request), [&](const Result<Reply>& reply) {
        EXPECT_TRUE(reply);
        answered = true;
    });
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 2u) << "it is sent at once";
    ASSERT_TRUE(loop.run_until([&] { return answered; }, core::Clock::now() + 20s));
    EXPECT_EQ(servers.at("git").opened, 1);
    EXPECT_EQ(servers.at("git").requests("tools/list").size(), 1u);
}

TEST_F(RouterTest, AToolThatIsKnownIsCalledWithoutAnotherList) {
    auto& server = servers.at("git");
    server.results["tools/list"] = [](const auto&) -> json::value {
        return {{"resultType", "complete"}, {"tools", {tool_named("log")}}, {"ttlMs", 0}};
    };
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(call("mcp__git__log"));
        EXPECT_TRUE(ask("git", "tools/call", R"("name":"log")"));
    }
    EXPECT_EQ(server.requests("tools/list").size(), 1u);
}

}  // namespace
}  // namespace patchbay::router
