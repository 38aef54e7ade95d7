// However servers come to start, only so many do at once.
#include "connection/connection_pool.hpp"
#include "support/fake_caller.hpp"
#include "support/fake_channel.hpp"
#include "support/fake_sources.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace patchbay::connection {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using test::FakeServer;
using test::tool_named;
using ::testing::HasSubstr;

class StartQueues : public ::testing::Test, protected test::PoolParts {
protected:
    StartQueues() {
        limits.local_starts = 2;
        limits.remote_starts = 3;
        health.reconnect_first = 1ms;
        health.reconnect_most = 5ms;
    }

    // A server that answers everything.
    FakeServer& add(const std::string& id, const char* transport = "stdio") {
        auto& server = servers.emplace(id, loop).first->second;
        server.be_legacy({tool_named("a")});
        server.results["tools/call"] = [](const auto&) -> json::value { return json::object(); };
        registry::ServerSpec spec;
        spec.config.id = id;
        spec.config.transport = transport;
        spec.config.local = spec.config.transport == "stdio";
        spec.definition_key = id;
        specs.push_back(spec);
        return server;
    }
    // One that starts and then says nothing.
    FakeServer& add_silent(const std::string& id) {
        auto& server = add(id);
        server.results.clear();
        server.errors.clear();
        return server;
    }
    void add_many(int count, const char* transport = "stdio") {
        for (int i = 0; i < count; ++i) add(transport + std::to_string(i), transport);
    }
    ConnectionPool& pool() {
        if (!pool_) {
            Terms terms;
            terms.health = health;
            terms.limits = limits;
            terms.long_lived = long_lived;
            pool_.emplace(context(loop, transports, std::move(terms)));
            pool_->apply(specs);
        }
        return *pool_;
    }
    Connection& connection(const std::string& id) { return pool().lease(id, caller).value(); }
    bool wait(const std::function<bool()>& done) { return loop.run_until(done); }
    bool all_ready() {
        for (const auto& status : pool().statuses())
            if (status.state != State::Ready) return false;
        return true;
    }

    void on_state(const std::string& server, State state) override {
        if (state != State::Connecting) starting.erase(server);
    }

    test::TurnedLoop loop;
    std::map<std::string, FakeServer> servers;
    test::FakeTransports transports{
        [this](const plugin::ChannelOptions& options, plugin::ChannelEvents& on) {
            starting.insert(options.server);
            most = std::max(most, starting.size());
            return servers.at(options.server).open(on);
        }};
    std::vector<registry::ServerSpec> specs;
    test::FakeCaller caller{callers};
    config::HealthSettings health;
    core::Limits limits;
    bool long_lived = false;
    std::set<std::string> starting;
    std::size_t most = 0;
    std::optional<ConnectionPool> pool_;
};

TEST_F(StartQueues, HoldForConnectingThemAll) {
    add_many(9);
    add_many(9, "http");
    bool settled = false;
    pool().connect(caller, {}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_TRUE(all_ready());
    EXPECT_EQ(most, 5u) << "two local ones beside three remote ones";
}

TEST_F(StartQueues, HoldForFirstCalls) {
    add_many(9);
    int answered = 0;
    for (const auto& id : pool().ids()) {
        connection(id).request(caller, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
                               [&](auto reply) {
                                   EXPECT_TRUE(reply);
                                   ++answered;
                               });
    }
    ASSERT_TRUE(wait([&] { return answered == 9; }));
    EXPECT_EQ(most, 2u);
}

TEST_F(StartQueues, HoldForListsThatAreRefreshed) {
    add_many(9);
    int fresh = 0;
    for (const auto& id : pool().ids()) {
        connection(id).refresh_tools([&](auto outcome) {
            EXPECT_TRUE(outcome);
            ++fresh;
        });
    }
    ASSERT_TRUE(wait([&] { return fresh == 9; }));
    EXPECT_EQ(most, 2u);
}

TEST_F(StartQueues, HoldForServersThatComeBack) {
    long_lived = true;
    add_many(9);
    pool().connect(caller, {}, [] {});
    ASSERT_TRUE(wait([&] { return all_ready(); }));
    most = 0;
    for (auto& [id, server] : servers) {
        server.results.erase("initialize");  // it starts, and does not get further
        server.crash("gone");
    }
    bool pauses_over = false;  // timers go off in their order, and theirs are 1 ms
    loop.after(50ms, [&] { pauses_over = true; });
    ASSERT_TRUE(wait([&] { return pauses_over && starting.size() >= 2; }));
    EXPECT_EQ(most, 2u);
    const auto started = std::exchange(starting, {});
    for (auto& [id, server] : servers) server.be_legacy({tool_named("a")});
    for (const auto& id : started) servers.at(id).crash("gone again");
    EXPECT_TRUE(wait([&] { return all_ready(); }));
    EXPECT_EQ(most, 2u);
}

TEST_F(StartQueues, ASlowOneGivesItsPlaceBackWhenItsTimeIsUp) {
    limits.local_starts = 1;
    add_silent("a");
    add("b");
    specs[0].config.startup_timeout = 20ms;
    bool settled = false;
    pool().connect(caller, {"a", "b"}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return settled; }));
    EXPECT_EQ(connection("a").state(), State::Failed);
    EXPECT_EQ(connection("b").state(), State::Ready);
    EXPECT_EQ(most, 1u);
}

TEST_F(StartQueues, OneThatCannotBeOpenedHoldsNobodyUp) {
    limits.local_starts = 1;
    add_many(5);
    for (auto& [id, server] : servers) server.refuse_open = true;
    bool settled = false;
    pool().connect(caller, {}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return settled; }));
    for (auto& [id, server] : servers) EXPECT_EQ(server.opened, 1) << id;
}

TEST_F(StartQueues, ACallThatQueuesKeepsItsOwnTimeLimit) {
    limits.local_starts = 1;
    add_silent("a");
    add("b");
    pool().connect(caller, {"a"}, [] {});
    std::optional<Error> error;
    connection("b").request(caller, {"tools/call", {"\"name\":\"a\"", ""}, 20ms, {}},
                            [&](auto reply) { error = reply.error(); });
    ASSERT_TRUE(wait([&] { return error.has_value(); }));
    EXPECT_EQ(error->code, ErrorCode::Timeout);
    EXPECT_THAT(error->message, HasSubstr("was not sent within 20 ms"));
    EXPECT_EQ(connection("b").state(), State::Connecting);
    EXPECT_EQ(servers.at("b").opened, 0);
}

TEST_F(StartQueues, AServerThatIsTakenAwayLeavesTheQueueAndEndsItsCalls) {
    limits.local_starts = 1;
    auto& slow = add_silent("a");
    add("b");
    add("c");
    specs[0].config.protocol = "2025-11-25";  // without a probe, after which it would try again
    pool().connect(caller, {"a"}, [] {});
    std::optional<ErrorCode> code;
    connection("b").request(caller, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
                            [&](auto reply) { code = reply.error().code; });
    bool settled = false;
    pool().connect(caller, {"b", "c"}, [&] { settled = true; });
    specs.erase(specs.begin() + 1);
    pool().apply(specs);
    slow.crash("gone");
    ASSERT_TRUE(wait([&] { return settled && code; }));
    EXPECT_EQ(code, ErrorCode::Unavailable);
    EXPECT_EQ(connection("c").state(), State::Ready);
    EXPECT_EQ(servers.at("b").opened, 0);
}

TEST_F(StartQueues, AChangeReachesWhoItConcernsAndNobodyElse) {
    add("gone");
    add("changed");
    add("kept");
    add("unused");
    bool settled = false;
    pool().connect(caller, {"gone", "changed", "kept"}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return settled; }));
    auto* const kept = &connection("kept");
    specs.erase(specs.begin());
    for (auto* spec : {&specs[0], &specs[2]}) spec->config.settings["args"] = "2";
    pool().apply(specs);
    EXPECT_EQ(pool().ids(), (std::vector<std::string>{"changed", "kept", "unused"}));
    EXPECT_EQ(pool().statuses().size(), 3u);
    EXPECT_EQ(pool().statuses()[2].id, "unused");
    EXPECT_FALSE(pool().find("gone"));
    ASSERT_TRUE(wait([&] {
        return servers.at("changed").opened == 2 && connection("changed").state() == State::Ready;
    })) << "what was in use is opened again";
    EXPECT_EQ(&connection("kept"), kept);
    EXPECT_EQ(servers.at("kept").opened, 1);
    EXPECT_EQ(servers.at("unused").opened, 0);
}

TEST_F(StartQueues, AServerThatNobodyKnowsSettlesAtOnce) {
    add("a");
    bool settled = false;
    pool().connect(caller, {"nobody"}, [&] { settled = true; });
    EXPECT_TRUE(wait([&] { return settled; }));
    settled = false;
    specs.clear();
    pool().apply(specs);
    pool().connect(caller, {}, [&] { settled = true; });
    EXPECT_FALSE(settled) << "never from inside the call";
    EXPECT_TRUE(wait([&] { return settled; }));
}

TEST_F(StartQueues, ThePoolMayEndWhileServersQueue) {
    limits.local_starts = 1;
    add_many(3);
    pool().connect(caller, {}, [] {});
    pool_.reset();
    bool turned = false;
    loop.defer([&] { turned = true; });
    EXPECT_TRUE(wait([&] { return turned; }));
}

TEST_F(StartQueues, WhoseTurnHasComeAndIsGoneDoesNotStart) {
    StartQueue line(loop, 1);
    int turns = 0;
    const auto turn = [&] { ++turns; };
    auto first = line.enter(turn), second = line.enter(turn), third = line.enter(turn);
    EXPECT_TRUE(first->taken());
    first.reset();
    EXPECT_TRUE(second->taken());
    EXPECT_EQ(turns, 0) << "from inside the other's end";
    second.reset();
    EXPECT_TRUE(wait([&] { return turns > 0; }));
    bool over = false;
    loop.defer([&] { over = true; });
    EXPECT_TRUE(wait([&] { return over; }));
    EXPECT_EQ(turns, 1) << "of the third";
    EXPECT_TRUE(third->taken());
}

TEST_F(StartQueues, ThePoolIsClosedWhenTheLastThatWasTakenAwayIs) {
    auto& slow = add("a");
    bool settled = false, closed = false;
    pool().connect(caller, {}, [&] { settled = true; });
    ASSERT_TRUE(wait([&] { return settled; }));
    slow.holds_on = true;
    pool().apply({});
    pool().close([&] { closed = true; });
    bool turned = false;
    loop.after(1ms, [&] { turned = true; });
    ASSERT_TRUE(wait([&] { return turned; }));
    EXPECT_FALSE(closed);
    slow.let_go();
    EXPECT_TRUE(wait([&] { return closed; }));
}

}  // namespace
}  // namespace patchbay::connection
