// A host moves from one configuration to the next while its servers are at work.
#include "app/running_snapshot.hpp"

#include "unit/router/fixture.hpp"

namespace patchbay::app {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunningSnapshotTest : public router::RouterTest {
protected:
    RunningSnapshotTest() {
        for (const auto& spec : specs) config.servers.push_back(spec.config);
        config.permissions = {};
        permissions = {};
        specs = registry::specs_of(config);
    }
    RunningSnapshot& running() {
        if (!running_) running_.emplace(in_force = config, (router(), *policy), *connections);
        return *running_;
    }
    // The same configuration but for `change`.
    RunningSnapshot::Pointer changed(const std::function<void(config::Config&)>& change) {
        auto other = config;
        change(other);
        return registry::snapshot_of(std::move(other));
    }
    static config::Server& git(config::Config& of) { return of.servers.front(); }

    // A call that the server has, and that waits for answer().
    void begin_call() {
        auto& server = servers.at("git");
        server.results.erase("tools/call");
        router::Call request;
        request.name = "mcp__git__log";
        router().call(caller, std::move(request), [this](const Result<router::Reply>& reply) {
            outcome = reply ? std::string(reply->result) : reply.error().message;
        });
        ASSERT_TRUE(until([&] { return !server.requests("tools/call").empty(); }));
    }
    void answer() {
        auto& server = servers.at("git");
        server.answer(server.requests("tools/call").back().at("id").as_int64(),
                      R"({"resultType":"complete","content":[]})");
    }
    bool until(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }

    config::Config config, in_force;
    std::optional<RunningSnapshot> running_;
    std::optional<std::string> outcome;
};

TEST_F(RunningSnapshotTest, AChangedRuleRestartsNothingAndDecidesTheNextCall) {
    running();
    ASSERT_TRUE(call("mcp__git__log"));
    const auto plan =
        running().apply(changed([](auto& c) { git(c).tools["log"] = config::Level::Deny; }));
    ASSERT_TRUE(plan);
    EXPECT_THAT(plan->restart, IsEmpty());
    ASSERT_EQ(plan->narrowed.size(), 1u);
    EXPECT_EQ(plan->narrowed[0].rule, "servers.git.tools.log");
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Denied);
    EXPECT_EQ(servers.at("git").opened, 1);

    ASSERT_TRUE(running().apply(changed([](auto& c) { c.permissions.deny = {"mcp__git__*"}; })));
    EXPECT_THAT(call("mcp__git__log").error().message, HasSubstr("[permissions] deny"));
    ASSERT_TRUE(running().apply(changed([](auto&) {})));
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_EQ(servers.at("git").opened, 1) << "one connection through all of it";
}

TEST_F(RunningSnapshotTest, WhatAFilterHidesIsLostAtOnce) {
    running();
    ASSERT_TRUE(call("mcp__git__log"));
    const auto plan = running().apply(changed([](auto& c) { git(c).disabled_tools = {"log"}; }));
    EXPECT_THAT(plan->lost, ElementsAre("mcp__git__log"));
    for (const auto& tool : router().tools(caller)) EXPECT_NE(tool.public_name, "mcp__git__log");
    EXPECT_EQ(servers.at("git").opened, 1);
}

TEST_F(RunningSnapshotTest, ACallInFlightEndsUnderTheRulesItBeganWith) {
    running();
    begin_call();
    ASSERT_TRUE(
        running().apply(changed([](auto& c) { git(c).tools["log"] = config::Level::Deny; })));
    answer();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(*outcome, HasSubstr("complete"));
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Denied);
}

TEST_F(RunningSnapshotTest, ACallInFlightEndsAtTheServerItWentToThoughThatIsGone) {
    running();
    begin_call();
    const auto plan = running().apply(changed([](auto& c) { c.servers.erase(c.servers.begin()); }));
    EXPECT_THAT(plan->stop, ElementsAre("git"));
    EXPECT_THAT(connections->ids(), ElementsAre("github"));
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::NotFound) << "no new one";
    EXPECT_FALSE(outcome);
    answer();
    ASSERT_TRUE(until([&] { return outcome.has_value(); }));
    EXPECT_THAT(*outcome, HasSubstr("complete"));
}

TEST_F(RunningSnapshotTest, ChangedCredentialsStartThatServerAnew) {
    running();
    ASSERT_TRUE(call("mcp__git__log"));
    ASSERT_TRUE(call("mcp__github__log"));
    const auto plan = running().apply(changed([](auto& c) {
        git(c).settings["headers"] = {{"Authorization", "${NEW}"}};
    }));
    ASSERT_EQ(plan->restart.size(), 1u);
    EXPECT_EQ(plan->restart[0].server, "git");
    EXPECT_THAT(plan->restart[0].keys, ElementsAre("folder", "headers"));
    ASSERT_TRUE(until([&] { return servers.at("git").opened == 2; })) << "it was open";
    EXPECT_TRUE(call("mcp__git__log"));
    EXPECT_TRUE(call("mcp__github__log"));
    EXPECT_EQ(servers.at("github").opened, 1) << "the others stay";
}

TEST_F(RunningSnapshotTest, AServerThatNobodyHasUsedIsNotStartedByAChange) {
    running();
    ASSERT_TRUE(running().apply(changed([](auto& c) { git(c).settings["args"] = {"x"}; })));
    ASSERT_TRUE(call("mcp__github__log"));
    EXPECT_EQ(servers.at("git").opened, 0);
}

TEST_F(RunningSnapshotTest, AChangedTimeOutCountsForTheNextRequest) {
    running();
    ASSERT_TRUE(call("mcp__git__log"));
    servers.at("git").results.erase("tools/call");
    const auto plan = running().apply(changed([](auto& c) { git(c).tool_timeout = 20ms; }));
    ASSERT_EQ(plan->adjust.size(), 1u);
    EXPECT_THAT(plan->adjust[0].keys, ElementsAre("tool_timeout"));
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Timeout);
    EXPECT_EQ(servers.at("git").opened, 1);
}

TEST_F(RunningSnapshotTest, RollbackAppliesTheOneBefore) {
    EXPECT_EQ(running().rollback().error().code, ErrorCode::NotFound);
    const auto first = running().now();
    const auto denied = changed([](auto& c) { git(c).tools["log"] = config::Level::Deny; });
    ASSERT_TRUE(running().apply(denied));
    EXPECT_EQ(running().now(), denied);
    const auto back = running().rollback();
    ASSERT_TRUE(back);
    EXPECT_EQ(back->widened.size(), 1u);
    EXPECT_EQ(running().now(), first);
    EXPECT_TRUE(call("mcp__git__log"));
    ASSERT_TRUE(running().rollback()) << "and forth again";
    EXPECT_EQ(running().now(), denied);
}

TEST_F(RunningSnapshotTest, OneThatIsAppliedInTheMiddleOfAnotherIsTheOneInForce) {
    running();
    const auto without_git = changed([](auto& c) { c.servers.erase(c.servers.begin()); });
    const auto denied = changed([](auto& c) { git(c).tools["log"] = config::Level::Deny; });
    bool told = false;
    // It waits for its server, and hears of the end from inside what ends it.
    connections->lease("git", caller)
        ->get()
        .request(caller, {"ping", {}, {}, {}}, [&](const Result<router::Reply>&) {
            told = true;
            EXPECT_TRUE(running().apply(denied));
        });
    ASSERT_TRUE(running().apply(without_git));
    EXPECT_TRUE(told);
    EXPECT_EQ(running().now(), denied);
    EXPECT_THAT(connections->ids(), ElementsAre("git", "github"));
    EXPECT_EQ(call("mcp__git__log").error().code, ErrorCode::Denied);
    ASSERT_TRUE(running().rollback());
    EXPECT_EQ(running().now(), without_git);
}

TEST_F(RunningSnapshotTest, AConfigurationThatMayNotRunChangesNothing) {
    const auto first = running().now();
    const auto refused = running().apply(changed([](auto& c) {
        c.stop = "--config: no such file";
        c.servers.clear();
    }));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "--config: no such file");
    EXPECT_EQ(running().now(), first);
    EXPECT_TRUE(call("mcp__git__log"));
}

TEST_F(RunningSnapshotTest, ABrokenEnterpriseFileStopsEverything) {
    running();
    ASSERT_TRUE(call("mcp__git__log"));
    ASSERT_TRUE(running().apply(changed([](auto& c) {
        c.stop = "enterprise.toml is broken";
        c.deny_all = true;
    })));
    EXPECT_THAT(connections->ids(), IsEmpty());
    EXPECT_FALSE(call("mcp__git__log"));
}

}  // namespace
}  // namespace patchbay::app
