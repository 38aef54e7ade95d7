// A pool of connections to one server, each a process of its own, in the order in which they are
// opened.
#pragma once

#include "connection/connection_pool.hpp"
#include "support/fake_sources.hpp"
#include "unit/connection/fixture.hpp"

#include <deque>

namespace patchbay::connection {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Pool : public ::testing::Test, protected test::PoolParts {
protected:
    Pool() {
        health.reconnect_first = 1ms;
        health.reconnect_most = 5ms;
        spec.config.id = "s";
        spec.config.transport = "stdio";
        spec.config.local = true;
        spec.definition_key = "s";
    }

    ConnectionPool& pool() {
        if (!pool_) {
            Terms terms;
            terms.health = health;
            terms.limits = limits;
            terms.long_lived = long_lived;
            terms.more_callers = more_callers;
            terms.stdio_sharing = stdio_sharing;
            pool_.emplace(context(loop, transports, std::move(terms)));
            pool_->apply({spec});
        }
        return *pool_;
    }
    bool wait(const std::function<bool()>& done) { return loop.run_until(done); }
    // Lets every timer that is due until then fire, and what was deferred run.
    void pass(std::chrono::milliseconds time) { loop.pass(time); }
    Connection* connect(const Caller& who) {
        bool settled = false;
        pool().connect(who, {"s"}, [&] { settled = true; });
        EXPECT_TRUE(wait([&] { return settled; }));
        auto leased = pool().lease("s", who);
        EXPECT_TRUE(leased) << leased.error().message;
        return leased ? &leased->get() : nullptr;
    }
    // How the one caller's call ends: with the number of the server that answered, or why not.
    std::string call(Caller& who) {
        std::optional<std::string> ended;
        auto leased = pool().lease("s", who);
        if (!leased) return leased.error().message;
        leased->get().request(
            who, {"tools/call", {"\"name\":\"a\"", ""}, {}, {}},
            [&ended](const Result<Reply>& reply) {
                ended = reply ? json::serialize(json::parse(reply->result).at("number"))
                              : reply.error().message;
            });
        EXPECT_TRUE(wait([&] { return ended.has_value(); }));
        return ended.value_or("never");
    }
    Status status() { return pool().statuses().at(0); }
    std::vector<std::string> uses() {
        std::vector<std::string> uses;
        for (const auto& one : status().connections)
            uses.push_back(one.use + " " + name_of(one.state));
        return uses;
    }

    // Tells of the end of the channel.
    struct Counted final : plugin::ChannelEvents {
        Counted(Pool& of, plugin::ChannelEvents& to) : test(of), events(to) {}
        void on_opened() override { events.on_opened(); }
        void on_message(plugin::ExchangeId exchange, core::Buffer body) override {
            events.on_message(exchange, std::move(body));
        }
        void on_done(plugin::ExchangeId exchange, const plugin::Problem* problem) override {
            events.on_done(exchange, problem);
        }
        void on_challenge(const plugin::Problem& problem) override { events.on_challenge(problem); }
        void on_writable() override { events.on_writable(); }
        void on_output(unsigned stream, std::string_view line) override {
            events.on_output(stream, line);
        }
        void on_fact(std::string_view name, std::string_view value) override {
            events.on_fact(name, value);
        }
        void on_closed(const plugin::Problem* problem) override {
            ++test.closed;
            events.on_closed(problem);
        }
        Pool& test;
        plugin::ChannelEvents& events;
    };
    Result<std::unique_ptr<plugin::Channel>> open_another(plugin::ChannelEvents& on) {
        auto& server = processes.emplace_back(loop);
        server.be_legacy({tool_named("a")});
        const auto number = processes.size();
        server.results["tools/call"] = [number](const auto&) -> json::value {
            return {{"number", number}};
        };
        if (make) make(server);
        ++opened;
        return server.open(heard.emplace_back(*this, on));
    }

    test::TurnedLoop loop;
    std::deque<FakeServer> processes;
    std::deque<Counted> heard;
    std::function<void(FakeServer&)> make;  // what is different about the next ones
    std::size_t opened = 0, closed = 0;
    test::FakeTransports transports{[this](const plugin::ChannelOptions&,
                                           plugin::ChannelEvents& on) { return open_another(on); }};
    test::FakeCaller first{callers};
    config::HealthSettings health;
    core::Limits limits;
    bool long_lived = false, more_callers = true, stdio_sharing = false;
    registry::ServerSpec spec;
    std::optional<ConnectionPool> pool_;
};

}  // namespace patchbay::connection
