// Whether, when and how often a server that was lost is started again.
#include "unit/connection/fixture.hpp"

namespace patchbay::connection {
namespace {

using ::testing::HasSubstr;

class ComingBack : public ConnectionTest {
protected:
    ComingBack() {
        long_lived = true;
        server.be_legacy({tool_named("a")});
    }
    bool reach(State state) {
        return wait([&] { return connection().state() == state; });
    }
    // Starts and is refused.
    void break_it() {
        server.results.erase("initialize");
        server.errors["initialize"] = {-32000, "broken"};
    }
};

TEST_F(ComingBack, IsNotTriedForAServerThatMustNotBeRestarted) {
    spec.config.restart = config::Restart::Never;
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(reach(State::Failed));
    pass(20ms);
    EXPECT_EQ(server.opened, 1);
}

// What a program's transport tells when it has left.
TEST_F(ComingBack, WaitsForTheNextCallAfterAProgramHasEndedWell) {
    ASSERT_EQ(connect(), State::Ready);
    Outcome in_flight;
    begin(call("a"), in_flight);
    ASSERT_TRUE(wait([&] { return !server.requests("tools/call").empty(); }));
    server.fact("exit", "code 0");
    server.crash("server process exited with code 0");
    ASSERT_TRUE(wait([&] { return in_flight.has_value(); }));
    EXPECT_THAT(in_flight->error().message,
                HasSubstr("the server has ended: server process exited with code 0"));
    EXPECT_EQ(connection().state(), State::Idle);
    pass(1min);
    EXPECT_EQ(server.opened, 1);
    EXPECT_EQ(connection().status().last_exit->code, 0);
    server.results["tools/call"] = [](const auto&) -> json::value { return {{"ok", true}}; };
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(server.opened, 2);
}

TEST_F(ComingBack, FollowsAnyOtherEndAndEveryEndWhereThatIsSaid) {
    for (const auto& [restart, exit] : {std::pair{config::Restart::OnFailure, "code 3"},
                                        {config::Restart::OnFailure, "signal 9"},
                                        {config::Restart::Always, "code 0"}}) {
        SCOPED_TRACE(std::string(config::name_of(restart)) + ", " + exit);
        connection_.reset();
        server.opened = 0;
        spec.config.restart = restart;
        ASSERT_EQ(connect(), State::Ready);
        server.fact("exit", exit);
        server.crash("server process exited");
        EXPECT_TRUE(wait([&] { return server.opened == 2; }));
        EXPECT_TRUE(reach(State::Ready));
    }
}

TEST_F(ComingBack, ItsStatusTellsHowItsLastProgramEndedAndWhatAllHaveCost) {
    health.reconnect_attempts = 1;
    health.reconnect_first = 1h;
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_FALSE(connection().status().last_exit);
    server.results["tools/call"] = [](const auto&) -> json::value { return {{"ok", true}}; };
    ASSERT_TRUE(ask(call("a")));
    for (const auto& [fact, value] : std::map<std::string, std::string>{
             {"cpu_ms", "1500"}, {"limit", "memory"}, {"peak_memory_bytes", "4096"}})
        server.fact(fact, value);
    server.fact("exit", "signal 9");
    server.crash("killed");
    ASSERT_TRUE(reach(State::Reconnecting));
    const auto status = connection().status();
    ASSERT_TRUE(status.last_exit);
    EXPECT_EQ(status.last_exit->signal, 9);
    EXPECT_FALSE(status.last_exit->code);
    EXPECT_EQ(status.last_exit->limit, "memory");
    EXPECT_EQ(to_string(*status.last_exit), "killed by SIGKILL (limits.memory)");
    EXPECT_EQ(status.cost.calls, 1u);
    EXPECT_EQ(status.cost.cpu, 1500ms);
    EXPECT_EQ(status.cost.peak_memory_bytes, 4096u);
    EXPECT_GT(status.cost.sent_bytes, 100u);
    EXPECT_GT(status.cost.received_bytes, 100u);
    EXPECT_FALSE(status.facts.contains("exit")) << "told once";
}

TEST_F(ComingBack, AnExitThatMakesNoSenseIsNone) {
    ASSERT_EQ(connect(), State::Ready);
    for (const auto* exit : {"code", "code -1", "code 99999999999999999999", "signal x", ""}) {
        server.fact("exit", exit);
        server.fact("cpu_ms", exit);
        const auto status = connection().status();
        EXPECT_FALSE(status.last_exit->code) << exit;
        EXPECT_FALSE(status.last_exit->signal) << exit;
    }
    EXPECT_EQ(connection().status().cost.cpu, 0ms);
}

TEST_F(ComingBack, WhoWaitsForAStartHearsHowFarItHasCome) {
    server.results.erase("initialize");
    spec.config.startup_timeout = 60s;
    Outcome outcome;
    begin(call("a", 12s), outcome);
    ASSERT_TRUE(wait([&] { return server.opened == 1; }));
    server.write_stderr("added 42 packages");
    pass(12s);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_THAT(outcome->error().message,
                HasSubstr("the server is starting, 12 s, last said on stderr: added 42 packages"));
    const auto starting = connection().status().starting;
    ASSERT_TRUE(starting);
    EXPECT_EQ(starting->taken, 12s);
    EXPECT_EQ(starting->limit, 60s);
    EXPECT_EQ(starting->last_said, "added 42 packages");
    EXPECT_EQ(server.opened, 1) << "what still works is not begun again";
}

TEST_F(ComingBack, AServerThatAnswersAllButCallsIsNamed) {
    ASSERT_EQ(connect(), State::Ready);
    for (int late = 1; late <= 3; ++late) {
        const auto error = ask(call("a", 1s)).error().message;
        EXPECT_EQ(error.find("answers no calls") != error.npos, late == 3) << error;
    }
    EXPECT_THAT(connection().status().notes.back(),
                HasSubstr("answers no calls: 3 in a row were not answered in time"));
    server.results["tools/call"] = [](const auto&) -> json::value { return {{"ok", true}}; };
    ASSERT_TRUE(ask(call("a")));
    EXPECT_TRUE(connection().status().notes.empty());
}

// However it is asked for, and however late: who wants it back restarts it.
TEST_F(ComingBack, IsForNobodyWhoAsksForOneThatMustNotBeRestarted) {
    spec.config.restart = config::Restart::Never;
    health.reconnect_most = 30s;
    const auto say_why = [&](const std::string& why) {
        EXPECT_EQ(connect(), State::Failed);
        std::optional<Result<void>> listed;
        connection().refresh_tools([&](auto outcome) { listed = std::move(outcome); });
        ASSERT_TRUE(wait([&] { return listed.has_value(); }));
        ASSERT_FALSE(*listed);
        EXPECT_THAT(listed->error().message, HasSubstr(why));
        EXPECT_THAT(ask(call("a")).error().message, HasSubstr(why));
    };
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(reach(State::Failed));
    for (int asked = 0; asked < 3; ++asked) {
        say_why("connection lost: exited; it is to stay down (restart = \"never\")");
        pass(1h);
    }
    EXPECT_EQ(server.opened, 1);
}

TEST_F(ComingBack, IsToldHowItIsHadOfOneThatIsGivenUp) {
    health.reconnect_attempts = 1;
    health.reconnect_most = 30s;
    break_it();
    connection().connect({});
    ASSERT_TRUE(reach(State::Failed));
    const std::string next =
        "; a request later than 30 s (health.reconnect_most_ms) starts it again";
    EXPECT_THAT(connection().status().last_error, ::testing::EndsWith(next));
    EXPECT_THAT(ask(call("a")).error().message, ::testing::EndsWith(next));
    server.errors.erase("initialize");
    server.be_legacy({tool_named("a")});
    pass(31s);
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_NE(connection().status().last_error, "") << "why it was down";
    EXPECT_THAT(connection().status().last_error, ::testing::Not(HasSubstr("starts it again")));
}

TEST_F(ComingBack, IsTriedAsOftenAsItMayBeAndAsOftenAgainForWhoAsks) {
    health.reconnect_attempts = 2;
    break_it();
    connection().connect({});
    ASSERT_TRUE(reach(State::Failed));
    EXPECT_EQ(server.opened, 3) << "once, and twice again";
    connection().connect({});
    ASSERT_TRUE(wait([&] { return server.opened > 3; }));
    ASSERT_TRUE(reach(State::Failed));
    EXPECT_EQ(server.opened, 6);
}

TEST_F(ComingBack, OfWhoDoesNotWaitForThePauseHappensOnce) {
    health.reconnect_first = health.reconnect_most = 30ms;
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(reach(State::Reconnecting));
    ASSERT_EQ(connect(), State::Ready);
    pass(60ms);
    EXPECT_EQ(server.opened, 2) << "the pause has no end of its own";
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ComingBack, EndsWithTheConnection) {
    health.reconnect_first = health.reconnect_most = 50ms;
    ASSERT_EQ(connect(), State::Ready);
    server.crash("exited");
    ASSERT_TRUE(reach(State::Reconnecting));
    bool closed = false;
    connection().close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed; }));
    pass(80ms);
    EXPECT_EQ(connection().state(), State::Stopped);
    EXPECT_EQ(server.opened, 1);
}

TEST_F(ComingBack, IsPutOffAsLongAsTheServerAsks) {
    spec.config.transport = "http";
    server.be_http();
    auto busy = FakeServer::problem(ErrorCode::Io, "HTTP 503", 503);
    busy.retry_after_ms = 60;
    server.endings["server/discover"].push_back(busy);
    const auto begun = loop.now();
    connection().connect({});
    ASSERT_TRUE(reach(State::Ready));
    EXPECT_EQ(loop.now() - begun, 60ms);
    EXPECT_EQ(server.opened, 2);
}

TEST_F(ComingBack, IsForgivenAfterFiveMinutesAndNotBefore) {
    for (const auto& [steady, state] :
         {std::pair<core::Clock::duration, State>{5min - 1ms, State::Failed},
          {5min, State::Ready}}) {
        connection_.reset();
        health.reconnect_attempts = 1;
        ASSERT_EQ(connect(), State::Ready);
        for (unsigned i = 1; i <= 2; ++i) {
            loop.turn(steady);
            server.crash("exited");
            ASSERT_TRUE(wait([&] { return connection().status().restarts == i; }));
            ASSERT_TRUE(wait([&] {
                return connection().state() == State::Ready ||
                       connection().state() == State::Failed;
            }));
        }
        EXPECT_EQ(connection().state(), state);
    }
}

TEST_F(ComingBack, DependsOnWhyItsChannelDidNotOpen) {
    health.reconnect_attempts = 1;
    for (const auto& [code, times] : {std::pair{ErrorCode::Io, 2},
                                      {ErrorCode::Timeout, 2},
                                      {ErrorCode::Unavailable, 2},
                                      {ErrorCode::NotFound, 1},
                                      {ErrorCode::Invalid, 1},
                                      {ErrorCode::Denied, 1}}) {
        SCOPED_TRACE(name_of(code));
        connection_.reset();
        server.opened = 0;
        server.refuse_open = true;
        server.open_code = code;
        connection().connect({});
        ASSERT_TRUE(reach(times == 2 ? State::Failed : State::Error));
        EXPECT_EQ(server.opened, times);
        EXPECT_THAT(connection().status().last_error, HasSubstr("no such program"));
    }
}

TEST_F(ComingBack, AModernServerIsAskedWhetherItIsThereByItsOwnRequest) {
    health.ping_interval = 5ms;
    server.errors.clear();
    server.be_modern({});
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(wait([&] { return server.requests("server/discover").size() >= 3; }));
    EXPECT_TRUE(server.requests("ping").empty());
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(ComingBack, MissesAreCountedInOneSession) {
    health.ping_interval = 5ms;
    health.ping_timeout = 2ms;
    health.misses = 2;
    ASSERT_EQ(connect(), State::Ready);
    ASSERT_TRUE(wait([&] { return connection().status().restarts == 2; }));
    EXPECT_GE(server.requests("ping").size(), 4u) << "two in each of two sessions";
    EXPECT_THAT(connection().status().last_error,
                HasSubstr("no answer to 2 health checks in a row (health.misses)"));
}

TEST_F(ComingBack, AFactThatIsOverIsForgotten) {
    ASSERT_EQ(connect(), State::Ready);
    server.fact("trouble", "no route");
    server.fact("peer", "::1");
    EXPECT_EQ(connection().status().facts.at("trouble"), "no route");
    server.fact("trouble", "");
    EXPECT_EQ(connection().status().facts, (std::map<std::string, std::string>{{"peer", "::1"}}));
    server.fact("pid", "7");
    health.reconnect_first = 1h;
    server.crash("exited");
    ASSERT_TRUE(wait([&] { return connection().state() != State::Ready; }));
    EXPECT_FALSE(connection().status().facts.contains("pid")) << "the process is gone";
}

// ---- behind HTTP, where no channel breaks when a server goes

class OutOfReach : public HttpConnectionTest {
protected:
    OutOfReach() {
        long_lived = true;
        server.be_legacy({tool_named("a")});
        // The transport has tried, and tries no more.
        for (const char* method : {"tools/call", "ping"})
            for (int i = 0; i < 2; ++i) server.endings[method].push_back(refused());
    }
    ~OutOfReach() override { close(); }

    static plugin::Problem refused() {
        auto problem = FakeServer::problem(ErrorCode::Io, "Connection refused");
        problem.not_sent = true;
        return problem;
    }
};

TEST_F(OutOfReach, AServerThatMustNotBeRestartedHasFailed) {
    spec.config.restart = config::Restart::Never;
    ASSERT_EQ(connect(), State::Ready);
    const auto reply = ask(call("a"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
    EXPECT_THAT(reply.error().message, HasSubstr("connection lost: Connection refused"));
    EXPECT_EQ(connection().state(), State::Failed);
    EXPECT_EQ(server.opened, 1);
}

TEST_F(OutOfReach, ACallWaitsForTheServerToComeBack) {
    ASSERT_EQ(connect(), State::Ready);
    EXPECT_TRUE(ask(call("a")));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_EQ(server.opened, 2);
}

TEST_F(OutOfReach, IsSeenByWhoLooks) {
    spec.config.restart = config::Restart::Never;
    ASSERT_EQ(connect(), State::Ready);
    bool known = false;
    connection().check([&] { known = true; });
    EXPECT_FALSE(known);
    ASSERT_TRUE(wait([&] { return known; }));
    EXPECT_EQ(connection().state(), State::Failed);
}

TEST_F(OutOfReach, EndsNothingThatItsServerMayStillAnswer) {
    server.be_legacy({tool_named("a"), tool_named("b")});
    server.endings.erase("tools/call");
    server.results.erase("tools/call");
    ASSERT_EQ(connect(), State::Ready);
    Outcome first;
    begin(call("b"), first);
    ASSERT_TRUE(wait([&] { return !server.requests("tools/call").empty(); }));
    for (int i = 0; i < 2; ++i) server.endings["prompts/get"].push_back(refused());
    const auto other = ask({"prompts/get", {"\"name\":\"p\"", ""}, 0ms, {}});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::Unavailable);
    EXPECT_THAT(other.error().message, HasSubstr("the request was not sent"));
    EXPECT_EQ(connection().state(), State::Ready);
    EXPECT_FALSE(first);
}

// ---- what a modern server is listened to for

class Listening : public ComingBack {
protected:
    void offer(json::object capabilities) {
        server.errors.clear();
        server.be_modern({});
        server.results["server/discover"] = [capabilities](const auto&) -> json::value {
            return {{"supportedVersions", {"2026-07-28"}}, {"capabilities", capabilities}};
        };
    }
    json::value wanted() {
        EXPECT_TRUE(wait([&] { return !server.requests("subscriptions/listen").empty(); }));
        return server.requests("subscriptions/listen").back().at("params").at("notifications");
    }
};

TEST_F(Listening, IsForWhatTheServerSaysThatItTells) {
    const json::object tells{{"listChanged", true}};
    const std::pair<const char*, const char*> each[] = {{"tools", "toolsListChanged"},
                                                        {"prompts", "promptsListChanged"},
                                                        {"resources", "resourcesListChanged"}};
    for (const auto& [capability, member] : each) {
        connection_.reset();
        server.received.clear();
        offer({{capability, tells}});
        ASSERT_EQ(connect(), State::Ready);
        EXPECT_EQ(wanted(), (json::object{{member, true}}));
    }
    connection_.reset();
    server.received.clear();
    offer({{"tools", json::object()}, {"prompts", {{"listChanged", false}}}});
    ASSERT_EQ(connect(), State::Ready);
    pass(10ms);
    EXPECT_TRUE(server.requests("subscriptions/listen").empty());
}

TEST_F(Listening, EndsForGoodWithItsConnection) {
    offer({{"prompts", {{"listChanged", true}}}});
    ASSERT_EQ(connect(), State::Ready);
    wanted();
    connection_.reset();
    pass(20ms);
    EXPECT_EQ(server.requests("subscriptions/listen").size(), 1u);
}

TEST_F(Listening, IsNotTriedAgainWhereItIsRefused) {
    offer({{"prompts", {{"listChanged", true}}}});
    server.errors["subscriptions/listen"] = {-32601, "Method not found"};
    ASSERT_EQ(connect(), State::Ready);
    wanted();
    pass(30ms);
    EXPECT_EQ(server.requests("subscriptions/listen").size(), 1u);
    EXPECT_EQ(connection().state(), State::Ready);
}

TEST_F(Listening, IsNotForAOneShotHost) {
    long_lived = false;
    offer({{"prompts", {{"listChanged", true}}}});
    ASSERT_EQ(connect(), State::Ready);
    pass(10ms);
    EXPECT_TRUE(server.requests("subscriptions/listen").empty());
}

TEST_F(Listening, HasNoLimitOfTime) {
    offer({{"prompts", {{"listChanged", true}}}});
    ASSERT_EQ(connect(), State::Ready);
    wanted();
    loop.turn(24h * 300);
    Outcome outcome;
    begin({"x", {}, 1ms, {}}, outcome);  // its timer makes all of them look at the clock
    loop.turn(1h);
    ASSERT_TRUE(wait([&] { return outcome.has_value(); }));
    EXPECT_EQ(server.requests("subscriptions/listen").size(), 1u);
    EXPECT_EQ(connection().status().pending, 1u);
}

}  // namespace
}  // namespace patchbay::connection
