#include "router/router.hpp"

#include "protocol/qualified_name.hpp"
#include "support/fake_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
                {},
                false,
                [this](const std::string&, plugin::ChannelOptions options,
                       plugin::ChannelEvents& on) { return servers.at(options.server).open(on); },
                [](const config::Server& s) { return Result<json::object>(s.settings); }};
            connections.emplace(context);
            connections->apply(specs);
            router_.emplace(*connections, policy);
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
        loop.run_until([&] { return outcome.has_value(); }, core::Clock::now() + 5s);
        return outcome.value_or(Error{ErrorCode::Internal, "never answered"});
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
    policy::Policy policy{{{}, {"mcp__github__log"}}};
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
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 5s));
    ASSERT_TRUE(*listed);
    EXPECT_EQ((*listed)->size(), 2u);

    server.results["resources/list"] = [](const auto&) -> json::value {
        return {{"resources", json::array()}, {"nextCursor", "same"}};
    };
    listed.reset();
    router().list_all("git", "resources/list",
                      [&](auto items) { listed.emplace(std::move(items)); });
    ASSERT_TRUE(loop.run_until([&] { return listed.has_value(); }, core::Clock::now() + 5s));
    EXPECT_THAT(listed->error().message, HasSubstr("repeats the cursor"));
}

TEST_F(RouterTest, ARequestForWhatAServerDoesNotOfferIsNotSent) {
    std::optional<Error> error;
    ServerRequest request;
    request.server = "git";
    request.method = "prompts/list";
    router().request(std::move(request), [&](Result<Reply> reply) { error = reply.error(); });
    ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 5s));
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
                               core::Clock::now() + 5s));
    router().cancel(id);
    EXPECT_EQ(code, ErrorCode::Cancelled);
    EXPECT_EQ(server.requests("notifications/cancelled").size(), 1u);
}

}  // namespace
}  // namespace patchbay::router
