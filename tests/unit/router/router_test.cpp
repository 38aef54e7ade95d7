#include "router/router.hpp"

#include "protocol/qualified_name.hpp"
#include "support/fake_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace patchbay::router {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using connection::Reply;
using test::tool_named;
using ::testing::HasSubstr;

struct Eras final : connection::EraMemory {
    connection::KnownEra find(const std::string&) override { return {}; }
    void remember(const std::string&, const connection::KnownEra&) override {}
};

class RouterTest : public ::testing::Test, protected connection::ServerEvents {
protected:
    RouterTest() : responder(connection::make_responder({}, {})) {
        for (const char* id : {"git", "github"}) {
            servers.emplace(id, loop);
            servers.at(id).be_modern({tool_named("log"), tool_named("odd name")});
            servers.at(id).results["tools/call"] = [id](const json::object& params) -> json::value {
                return {{"resultType", "complete"},
                        {"server", id},
                        {"tool", params.at("name")},
                        {"arguments", params.at("arguments")}};
            };
            registry::ServerSpec spec;
            spec.config.id = id;
            spec.config.transport = "fake";
            specs.push_back(spec);
        }
    }

    Router& router() {
        if (!router_) {
            connection::Context context{
                loop,
                *responder,
                *this,
                eras,
                {{{"name", "t"}}, {}},
                {},
                limits,
                false,
                [this](const std::string&, plugin::ChannelOptions options,
                       plugin::ChannelEvents& on) { return servers.at(options.server).open(on); },
                [](const config::Server& s,
                   const std::function<void(Result<connection::Expanded>)>& then) {
                    then(connection::Expanded{s.settings});
                }};
            connections.emplace(context);
            connections->apply(specs);
            policy.emplace(permissions);
            router_.emplace(*connections, *policy);
        }
        return *router_;
    }
    Result<std::string> call(const std::string& name, const std::string& arguments = "{}") {
        std::optional<Result<std::string>> outcome;
        Call request;
        request.name = name;
        request.arguments = arguments;
        router().call(std::move(request), [&](Result<Reply> reply) {
            if (reply)
                outcome.emplace(std::string(reply->result));
            else
                outcome.emplace(reply.error());
        });
        EXPECT_FALSE(outcome) << "answered from inside the call";
        loop.run_until([&] { return outcome.has_value(); }, core::Clock::now() + 20s);
        return outcome.value_or(Error{ErrorCode::Internal, "never answered"});
    }

    // Anything else that a server can be asked; `params` are the raw members.
    Result<std::string> ask(const std::string& server, const std::string& method,
                            const std::string& params = "",
                            policy::Principal principal = policy::Principal::LocalUser) {
        ServerRequest request;
        request.server = server;
        request.method = method;
        request.params.members = params;
        request.principal = principal;
        std::optional<Result<std::string>> outcome;
        router().request(std::move(request), [&](Result<Reply> reply) {
            if (reply)
                outcome.emplace(std::string(reply->error.empty() ? reply->result : reply->error));
            else
                outcome.emplace(reply.error());
        });
        EXPECT_FALSE(outcome) << "answered from inside the call";
        loop.run_until([&] { return outcome.has_value(); }, core::Clock::now() + 20s);
        return outcome.value_or(Error{ErrorCode::Internal, "never answered"});
    }
    Result<json::array> list(const std::string& server, const std::string& method) {
        std::optional<Result<json::array>> listed;
        router().list_all(server, method, [&](auto items) { listed.emplace(std::move(items)); });
        loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s);
        return listed.value_or(Error{ErrorCode::Internal, "never answered"});
    }
    // Pages of two items each, without end.
    void be_endless(const std::string& id) {
        auto& server = servers.at(id);
        server.results["server/discover"] = [](const auto&) -> json::value {
            return {{"supportedVersions", {"2026-07-28"}},
                    {"capabilities", {{"resources", json::object()}}}};
        };
        server.results["resources/list"] = [page = 0](const auto&) mutable -> json::value {
            return {{"resources", {{{"uri", "a:1"}}, {{"uri", "a:2"}}}},
                    {"nextCursor", std::to_string(++page)}};
        };
    }
    void add_server(const std::string& id) {
        auto& server = servers.emplace(id, loop).first->second;
        server.be_modern({tool_named("log")});
        server.results["tools/call"] = [](const auto&) -> json::value {
            return {{"resultType", "complete"}};
        };
        registry::ServerSpec spec;
        spec.config.id = id;
        spec.config.transport = "fake";
        specs.push_back(spec);
    }

    void on_notification(const std::string&, const std::string&, std::string_view) override {}
    void on_output(const std::string&, bool, std::string_view) override {}
    void on_state(const std::string&, connection::State) override {}
    void on_tools_changed(const std::string&) override {
        if (router_) router_->forget_index();
    }

    core::Loop loop;
    std::map<std::string, test::FakeServer> servers;
    std::vector<registry::ServerSpec> specs;
    std::unique_ptr<connection::Responder> responder;
    Eras eras;
    core::Limits limits;
    config::Permissions permissions{{}, {"mcp__github__log"}};
    std::optional<policy::Policy> policy;
    std::optional<connection::ConnectionManager> connections;
    std::optional<Router> router_;
};

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

TEST_F(RouterTest, NamesTheNearestWhenThereIsNoSuchTool) {
    const auto missing = call("mcp__git__lgo");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().message, HasSubstr(R"(did you mean "mcp__git__log")"));
    EXPECT_THAT(call("mcp__gti__log").error().message,
                HasSubstr("no enabled server has this prefix"));
}

TEST_F(RouterTest, AsksThePolicyBeforeTheServer) {
    const auto denied = call("mcp__github__log");
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, ErrorCode::Denied);
    EXPECT_TRUE(servers.at("github").requests("tools/call").empty());
}

TEST_F(RouterTest, ADeadServerTakesOnlyItsOwnCallsDown) {
    servers.at("git").refuse_open = true;
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Unavailable);
    EXPECT_TRUE(call(protocol::public_name("github", "odd name")));
}

TEST_F(RouterTest, ListsAllPagesAndStopsAtARepeatedCursor) {
    auto& server = servers.at("git");
    server.results["server/discover"] = [](const auto&) -> json::value {
        return {{"supportedVersions", {"2026-07-28"}},
                {"capabilities", {{"resources", json::object()}}}};
    };
    server.results["resources/list"] = [](const json::object& params) -> json::value {
        if (!params.contains("cursor"))
            return {{"resources", {{{"uri", "a:1"}}}}, {"nextCursor", "two"}};
        return {{"resources", {{{"uri", "a:2"}}}}};
    };
    std::optional<Result<json::array>> listed;
    router().list_all("git", "resources/list",
                      [&](auto items) { listed.emplace(std::move(items)); });
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
    ASSERT_TRUE(*listed);
    EXPECT_EQ((*listed)->size(), 2u);

    server.results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", json::array()}, {"nextCursor", "same"}};
    };
    listed.reset();
    router().list_all("git", "resources/list",
                      [&](auto items) { listed.emplace(std::move(items)); });
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 20s));
    EXPECT_THAT(listed->error().message, HasSubstr("repeats the cursor"));
}

TEST_F(RouterTest, ARequestForWhatAServerDoesNotOfferIsNotSent) {
    std::optional<Error> error;
    ServerRequest request;
    request.server = "git";
    request.method = "prompts/list";
    router().request(std::move(request), [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(error->code, ErrorCode::Unsupported);
    EXPECT_TRUE(servers.at("git").requests("prompts/list").empty());
}

TEST_F(RouterTest, ACancelledCallEndsAndTheServerHearsOfIt) {
    servers.at("git").results.erase("tools/call");
    std::optional<ErrorCode> code;
    Call request;
    request.name = "mcp__git__log";
    const auto id =
        router().call(std::move(request), [&](Result<Reply> reply) { code = reply.error().code; });
    auto& server = servers.at("git");
    ASSERT_TRUE(loop.run_until([&] { return !server.requests("tools/call").empty(); },
                               core::Clock::now() + 20s));
    router().cancel(id);
    EXPECT_EQ(code, ErrorCode::Cancelled);
    EXPECT_EQ(server.requests("notifications/cancelled").size(), 1u);
}

// ---- no way around the policy

TEST_F(RouterTest, AToolIsJudgedByItsNameWhateverTheRequestThatReachesIt) {
    specs[0].config.disabled_tools = {"odd name"};  // of git
    const auto denied = ask("github", "tools/call", R"("name":"log","arguments":{})");
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, ErrorCode::Denied);
    EXPECT_EQ(denied.error().message, call("mcp__github__log").error().message);
    EXPECT_EQ(ask("github", "tools/call", R"("name":"l\u006fg")").error().code, ErrorCode::Denied);
    EXPECT_EQ(ask("git", "tools/call", R"("name":"odd name")").error().code, ErrorCode::Denied)
        << "what is hidden is forbidden too";
    EXPECT_EQ(ask("git", "tools/call", R"("name":"log")", policy::Principal::Agent).error().code,
              ErrorCode::Denied);
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
    EXPECT_THAT(unknown.error().message, HasSubstr(R"(did you mean "mcp__git__log")"));
    EXPECT_TRUE(servers.at("git").requests("tools/call").empty());
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

// ---- a list that does not come

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

// ---- what reaches the server

TEST_F(RouterTest, ACallsOwnLimitAndProgressGoWithIt) {
    servers.at("git").results.erase("tools/call");
    for (const bool raw : {false, true}) {
        for (const bool connected : {false, true}) {
            SCOPED_TRACE(raw);
            if (!connected) router_.reset();
            router();
            servers.at("git").received.clear();
            if (connected) connections->connect({"git"}, [] {});
            std::optional<Error> error;
            const auto ended = [&](const Result<Reply>& reply) { error = reply.error(); };
            const auto progress = [](const connection::Progress&) {};
            const auto begun = core::Clock::now() - 1h;
            if (raw) {
                ServerRequest request;
                request.server = "git";
                request.method = "tools/call";
                request.params.members = R"("name":"log")";
                request.timeout = 1h + 300ms;
                request.begun = begun;
                request.on_progress = progress;
                router().request(std::move(request), ended);
            } else {
                Call request;
                request.name = "mcp__git__log";
                request.timeout = 1h + 300ms;
                request.begun = begun;
                request.on_progress = progress;
                router().call(std::move(request), ended);
            }
            ASSERT_TRUE(
                loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
            EXPECT_EQ(error->code, ErrorCode::Timeout);
            const auto sent = servers.at("git").requests("tools/call");
            if (sent.empty()) continue;  // a slow machine has spent the time on connecting
            EXPECT_TRUE(sent[0].at("params").at("_meta").as_object().contains("progressToken"));
        }
    }
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
            router().request(std::move(request), end);
        } else {
            Call request;
            request.name = "mcp__git__log";
            request.meta = R"("example/key":"mine")";
            router().call(std::move(request), end);
        }
        ASSERT_TRUE(loop.run_until([&] { return ended; }, core::Clock::now() + 20s));
        const auto sent = servers.at("git").requests("tools/call").back();
        EXPECT_EQ(sent.at("params").at("_meta").at("example/key"), "mine");
        servers.at("git").received.clear();
    }
}

// ---- which tools there are

TEST_F(RouterTest, ShowsToolsInOrderAndWithoutWhatIsHidden) {
    specs[0].config.disabled_tools = {"odd name"};
    EXPECT_TRUE(router().tools(policy::Principal::LocalUser).empty()) << "nobody has been asked";
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(call("mcp__github__log").error().code, ErrorCode::Denied);
    std::vector<std::string> names;
    for (const auto& tool : router().tools(policy::Principal::LocalUser)) {
        names.push_back(tool.public_name);
        EXPECT_EQ(protocol::public_name(tool.server, tool.tool->name), tool.public_name);
    }
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_THAT(names, testing::IsSupersetOf({std::string("mcp__git__log"),
                                              protocol::public_name("github", "odd name")}));
    EXPECT_THAT(names, testing::Not(testing::Contains(protocol::public_name("git", "odd name"))));
}

TEST_F(RouterTest, FindsOneToolWhoseServerIsNotThereYet) {
    specs[0].config.disabled_tools = {"odd name"};
    add_server("slow");
    servers.at("slow").results.clear();
    const auto find = [&](const std::string& name, std::chrono::milliseconds timeout = 0ms) {
        std::optional<Result<ListedTool>> found;
        router().find_tool(name, timeout, [&](auto outcome) {
            EXPECT_FALSE(found) << "told twice";
            found.emplace(std::move(outcome));
        });
        EXPECT_TRUE(loop.run_until([&] { return found.has_value(); }, core::Clock::now() + 20s));
        return found.value_or(Error{ErrorCode::Internal, "never"});
    };
    const auto found = find("mcp__git__log", 20s);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->server, "git");
    EXPECT_EQ(found->tool->name, "log");
    EXPECT_EQ(find(protocol::public_name("git", "odd name")).error().code, ErrorCode::Denied);
    EXPECT_EQ(find("mcp__git__lgo").error().code, ErrorCode::NotFound);
    const auto late = find("mcp__slow__log", 20ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().message, "server \"slow\" is still connecting after 20 ms");
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
    const auto id = router().call(std::move(request), [&](const Result<Reply>& reply) {
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

// ---- lists of other things

TEST_F(RouterTest, AListIsBoundedInPagesItemsAndBytes) {
    struct Case {
        const char* limit;
        std::function<void(core::Limits&)> set;
        std::size_t pages;
    };
    const Case cases[] = {
        {"pages_per_list", [](auto& l) { l.pages_per_list = 3; }, 3},
        {"items_per_list", [](auto& l) { l.items_per_list = 5; }, 3},
        {"list_bytes", [](auto& l) { l.list_bytes = 100; }, 2},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.limit);
        router_.reset();
        limits = {};
        each.set(limits);
        be_endless("git");
        servers.at("git").received.clear();
        const auto listed = list("git", "resources/list");
        ASSERT_FALSE(listed);
        EXPECT_EQ(listed.error().code, ErrorCode::Limit);
        EXPECT_THAT(listed.error().message, HasSubstr("(limit " + std::string(each.limit) + ")"));
        EXPECT_EQ(servers.at("git").requests("resources/list").size(), each.pages);
    }
}

TEST_F(RouterTest, AListWithOneDeepItemIsWhole) {
    be_endless("git");
    json::object nested;
    for (int i = 0; i < 50; ++i) nested = {{"p", std::move(nested)}};
    servers.at("git").results["resources/list"] = [nested](const auto&) -> json::value {
        return {{"resources", {{{"uri", "a:1"}, {"_meta", nested}}, {{"uri", "a:2"}}}}};
    };
    const auto listed = list("git", "resources/list");
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->size(), 2u);
}

// ---- once, and never too late

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
        router().request(std::move(request), count);
    }
    Call request;
    request.name = "mcp__git__log";
    router().call(std::move(request), count);
    router_.reset();
    EXPECT_EQ(ended, 3);
    bool settled = false;
    connections->connect({"git"}, [&] { settled = true; });
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
    router().call(std::move(request), [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(error->code, ErrorCode::Timeout);
    EXPECT_EQ(error->message, "server \"git\" is still connecting after 20 ms");
}

}  // namespace
}  // namespace patchbay::router
