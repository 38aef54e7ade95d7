// The rules of now decide, whatever was listed, connected or asked before; and the tools that are
// known are those that the servers of now have listed.
#include "unit/router/fixture.hpp"

namespace patchbay::router {
namespace {

using config::Level;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RouterRules : public RouterTest {
protected:
    RouterRules() { permissions = {}; }

    // As a changed configuration comes into force.
    void apply() {
        set_rules();
        connections->apply(specs);
    }
    void connect(const std::string& server) {
        bool settled = false;
        connections->connect(caller, {server}, [&] { settled = true; });
        ASSERT_TRUE(loop.run_until([&] { return settled; }, core::Clock::now() + 20s));
    }
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& tool : router().tools(caller)) all.push_back(tool.public_name);
        return all;
    }
    std::size_t lists_of(const std::string& server) {
        return servers.at(server).requests("tools/list").size();
    }
};

TEST_F(RouterRules, ARuleThatChangesBetweenTwoCallsDecidesTheSecond) {
    ASSERT_TRUE(call("mcp__git__log"));
    specs[0].config.tools = {{"log", Level::Deny}};
    apply();
    const auto denied = call("mcp__git__log");
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, ErrorCode::Denied);
    EXPECT_THAT(denied.error().message, HasSubstr("mcp__git__log is denied in tools of server"));
    EXPECT_EQ(ask("git", "tools/call", R"("name":"log")").error().code, ErrorCode::Denied);
    specs[0].config.tools.clear();
    apply();
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").opened, 1) << "a rule restarts no server";
    EXPECT_EQ(lists_of("git"), 1u) << "nor makes it list again";
    EXPECT_EQ(servers.at("git").requests("tools/call").size(), 2u);
}

TEST_F(RouterRules, AToolThatWasListedBeforeADenyCameIsDenied) {
    router();
    connect("git");
    const auto odd_name = protocol::public_name("git", "odd name");
    EXPECT_THAT(names(), ElementsAre("mcp__git__log", odd_name));
    permissions.deny = {"mcp__git__log"};
    set_rules();
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Denied);
    const auto tools = router().tools(caller);
    ASSERT_EQ(tools.size(), 2u) << "denied is not hidden";
    EXPECT_EQ(tools[0].level, Level::Deny);
    EXPECT_TRUE(call(odd_name));
    specs[0].config.disabled_tools = {"log"};
    set_rules();
    EXPECT_THAT(names(), ElementsAre(odd_name));
    EXPECT_THAT(*ask("git", "tools/list"), ::testing::Not(HasSubstr(R"("log")")));
    EXPECT_EQ(servers.at("git").opened, 1);
}

TEST_F(RouterRules, ACallThatWaitsForItsServerIsJudgedWhenItIsSent) {
    std::optional<Error> error;
    Call request;
    request.name = "mcp__git__log";
    router().call(caller, std::move(request),
                  [&](const Result<Reply>& reply) { error = reply.error(); });
    permissions.deny = {"mcp__git__*"};
    set_rules();
    ASSERT_TRUE(loop.run_until([&] { return error.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(error->code, ErrorCode::Denied);
    EXPECT_TRUE(servers.at("git").requests("tools/call").empty());
}

TEST_F(RouterRules, ARequestThatWaitsForItsServerIsJudgedWhenItIsSent) {
    servers.at("git").results["completion/complete"] = [](const auto&) { return json::object(); };
    std::optional<Result<Reply>> outcome;
    ServerRequest request;
    request.server = "git";
    request.method = "completion/complete";
    router().request(caller, std::move(request),
                     [&](Result<Reply> reply) { outcome = std::move(reply); });
    permissions.deny = {"mcp__git__*"};
    set_rules();
    ASSERT_TRUE(loop.run_until([&] { return outcome.has_value(); }, core::Clock::now() + 20s));
    ASSERT_FALSE(*outcome);
    EXPECT_EQ(outcome->error().code, ErrorCode::Denied);
    EXPECT_TRUE(servers.at("git").requests("completion/complete").empty());
}

TEST_F(RouterRules, WhatWouldHaveToBeAskedIsRefusedWithTheRuleThatAllowsIt) {
    const auto call_as_agent = [&] { return ask("git", "tools/call", R"("name":"log")", &agent); };
    const auto refused = call_as_agent();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Denied);
    EXPECT_EQ(refused.error().message,
              "mcp__git__log needs approval and nobody is there to give it; to allow it: "
              "[servers.git.tools] log = \"allow-always\"");
    specs[0].config.tools = {{"log", Level::AllowAlways}};
    apply();
    EXPECT_TRUE(call_as_agent());
}

TEST_F(RouterRules, ADenialIsCertainBeforehandOnlyWhereEveryPossibleOwnerDenies) {
    permissions.deny = {"mcp__git__wipe"};
    EXPECT_EQ(router().certain_denial(caller, "mcp__git__wipe")->code, ErrorCode::Denied);
    EXPECT_FALSE(router().certain_denial(caller, "mcp__git__log"));
    EXPECT_FALSE(router().certain_denial(caller, "mcp__nobody__log"));
    EXPECT_FALSE(router().certain_denial(caller, "git", "resources/list"));
    const std::string prefix(58, 'x');
    add_server(prefix + "a");
    add_server(prefix + "b");
    router_.reset();
    const auto name = protocol::public_name(prefix + "a", "log");
    specs[2].config.trust = "untrusted";
    EXPECT_FALSE(router().certain_denial(caller, name));
    permissions.deny = {name};
    specs[2].config.trust.clear();
    set_rules();
    EXPECT_TRUE(router().certain_denial(caller, name));
    permissions.deny = {"mcp__git__*"};
    set_rules();
    EXPECT_EQ(router().certain_denial(caller, "git", "resources/list")->code, ErrorCode::Denied);
    EXPECT_EQ(servers.at("git").opened, 0);
}

// Each way to a tool, for a caller that has no connection yet.
TEST_F(RouterRules, WhatIsDeniedForCertainStartsNothingAndTakesNoLease) {
    const auto expect_denied = [&](const Result<std::string>& reply) {
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, ErrorCode::Denied);
        EXPECT_EQ(servers.at("git").opened, 0);
        EXPECT_FALSE(connections->held("git", caller.number()));
    };
    permissions.deny = {"mcp__git__*"};
    expect_denied(call("mcp__git__log"));
    expect_denied(ask("git", "tools/call", R"("name":"log")"));
    expect_denied(ask("git", "tools/list"));
    for (const char* method : {"resources/read", "prompts/get", "completion/complete"})
        expect_denied(ask("git", method));
    permissions.deny = {"mcp__git__log"};
    set_rules();
    expect_denied(call("mcp__git__log"));
    expect_denied(ask("git", "tools/call", R"("name":"log")"));
    permissions.deny.clear();
    specs[0].config.trust = "untrusted";
    set_rules();
    expect_denied(ask("git", "tools/call", R"("name":"log")"));
    specs[0].config.trust.clear();
    specs[0].config.enabled_tools = {"other"};
    set_rules();
    expect_denied(ask("git", "tools/call", R"("name":"log")"));
}

TEST_F(RouterRules, WhatAnotherCallersConnectionHasListedIsDeniedWithoutAConnectionOfOnesOwn) {
    for (auto& spec : specs) spec.config.mode = "per_session";
    specs[0].config.trust = "untrusted";
    router();
    connect("git");
    EXPECT_EQ(ask("git", "tools/call", R"("name":"log")", &agent).error().code, ErrorCode::Denied);
    std::optional<ErrorCode> code;
    Call request;
    request.name = "mcp__git__log";
    router().call(agent, std::move(request),
                  [&](const Result<Reply>& reply) { code = reply.error().code; });
    ASSERT_TRUE(loop.run_until([&] { return code.has_value(); }, core::Clock::now() + 20s));
    EXPECT_EQ(code, ErrorCode::Denied);
    EXPECT_FALSE(connections->held("git", agent.number()));
    EXPECT_EQ(servers.at("git").opened, 1);
}

TEST_F(RouterRules, WhatMayTurnOutToBeAllowedOrAskedForIsNotDeniedBeforehand) {
    specs[0].config.tools = {{"log", Level::AllowAlways}};
    EXPECT_TRUE(ask("git", "tools/call", R"("name":"log")", &agent));
    EXPECT_FALSE(router().certain_denial(agent, "mcp__github__log")) << "it may be approved";
    agent.approves = true;
    std::optional<Result<Reply>> outcome;
    Call request;
    request.name = "mcp__github__log";
    router().call(agent, std::move(request),
                  [&](Result<Reply> reply) { outcome = std::move(reply); });
    ASSERT_TRUE(loop.run_until([&] { return !agent.approvals.empty(); }, core::Clock::now() + 20s));
    agent.approvals[0].second(connection::Approval::Given);
    ASSERT_TRUE(loop.run_until([&] { return outcome.has_value(); }, core::Clock::now() + 20s));
    EXPECT_TRUE(*outcome);
}

TEST_F(RouterRules, ANameWithADotForbidsThatToolAloneAsLongAsItsServerListsIt) {
    permissions.deny = {"mcp__git__log.it"};
    auto& git = servers.at("git");
    git.be_modern({tool_named("log"), tool_named("log.it")});
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(call(protocol::public_name("git", "log.it")).error().code, ErrorCode::Denied);
    EXPECT_EQ(ask("git", "tools/call", R"("name":"log.it")").error().code, ErrorCode::Denied);
    EXPECT_FALSE(router().certain_denial(caller, "mcp__git__log"));
    specs[0].config.settings["args"] = "other";
    specs[0].definition_key = "other";
    git.be_modern({tool_named("log")});
    apply();
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Denied);
    EXPECT_TRUE(call("mcp__github__log"));
}

TEST_F(RouterRules, AServerThatIsGoneTakesItsToolsWithIt) {
    router();
    connect("git");
    connect("github");
    EXPECT_EQ(names().size(), 4u);
    specs.erase(specs.begin());
    apply();
    EXPECT_THAT(names(),
                ElementsAre("mcp__github__log", protocol::public_name("github", "odd name")));
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::NotFound);
    EXPECT_TRUE(call("mcp__github__log"));
}

TEST_F(RouterRules, AServerThatIsAnotherNowHasListedNothing) {
    router();
    connect("git");
    specs[0].config.settings["args"] = "other";
    specs[0].definition_key = "other";
    apply();
    EXPECT_THAT(names(), IsEmpty());
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").opened, 2);
    EXPECT_EQ(names().size(), 2u);
}

TEST_F(RouterRules, AServerThatIsOnlyRunInAnotherWayHasWhatItListed) {
    router();
    connect("git");
    specs[0].config.request_timeout = 7s;
    apply();
    EXPECT_EQ(names().size(), 2u);
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").opened, 1);
}

TEST_F(RouterRules, AServerThatIsOnlySignedInToInAnotherWayHasWhatItListed) {
    router();
    connect("git");
    specs[0].auth_table = {{"kind", "bearer"}};
    apply();
    EXPECT_EQ(names().size(), 2u);
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").opened, 2);
}

}  // namespace
}  // namespace patchbay::router
