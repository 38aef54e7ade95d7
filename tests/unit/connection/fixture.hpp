// One connection to a scripted server, and what tests of it ask for.
#pragma once

#include "connection/connection.hpp"
#include "connection/responder.hpp"
#include "support/fake_caller.hpp"
#include "support/fake_channel.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::connection {

namespace json = boost::json;
using namespace std::chrono_literals;
using test::FakeServer;
using test::tool_named;

struct Eras final : EraMemory {
    std::map<std::string, KnownEra> known;         // by who prefers the modern era
    std::map<std::string, KnownEra> known_legacy;  // and the other
    KnownEra find(const std::string& key, protocol::Era preferred) override {
        const auto& all = preferred == protocol::Era::Legacy ? known_legacy : known;
        const auto found = all.find(key);
        return found == all.end() ? KnownEra{} : found->second;
    }
    void remember(const std::string& key, protocol::Era preferred, const KnownEra& era) override {
        (preferred == protocol::Era::Legacy ? known_legacy : known)[key] = era;
    }
};

struct Events final : ServerEvents {
    std::vector<std::string> output;
    std::vector<State> states;
    int tool_changes = 0, starts = 0;
    void on_output(const std::string&, bool, std::string_view line) override {
        output.emplace_back(line);
    }
    void on_state(const std::string&, State state) override { states.push_back(state); }
    void on_start(const std::string&) override { ++starts; }
    void on_tools_changed(const std::string&) override { ++tool_changes; }
};

class ConnectionTest : public ::testing::Test {
protected:
    ConnectionTest() {
        config::ClientSettings client;
        client.roots = {"/data set"};
        client.elicitation = "fixed";
        client.elicitation_content = {{"name", "octocat"}};
        use(client, {});
        spec.config.id = "s";
        spec.config.transport = "fake";
        spec.definition_key = "key";
        health.reconnect_first = 1ms;
        health.reconnect_most = 5ms;
    }

    void TearDown() override { over = true; }

    Connection& connection() {
        if (!connection_) {
            Terms terms;
            terms.identity = {{{"name", "patchbay"}, {"version", "1"}}, capabilities_of(settings)};
            terms.health = health;
            terms.limits = limits;
            terms.long_lived = long_lived;
            terms.asking = asking;
            terms.listen_first = 5ms;
            terms.listen_most = 40ms;
            terms.relist_first = relist_first;
            terms.relist_most = relist_most;
            context.emplace(Context{.loop = loop,
                                    .events = events,
                                    .callers = callers,
                                    .eras = eras,
                                    .expander = sources,
                                    .transports = sources,
                                    .credentials = sources,
                                    .terms = std::move(terms)});
            connection_ = std::make_unique<Connection>(*context, spec, std::make_shared<Starts>(),
                                                       Manner{preferred});
        }
        // Whoever is there holds it.
        for (const auto number : callers.numbers()) connection_->give_to(number);
        return *connection_;
    }
    bool wait(const std::function<bool()>& done) { return loop.run_until(done); }
    State connect() {
        bool settled = false;
        connection().connect([&] { settled = true; });
        EXPECT_TRUE(wait([&] { return settled; }));
        return connection().state();
    }
    // How a request ended; nothing: not yet.
    using Outcome = std::optional<Result<std::string>>;
    RequestId begin(Request request, Outcome& outcome) {
        const auto id = connection().request(caller, std::move(request), [&](Result<Reply> reply) {
            if (over) return;  // the connection outlives the test's own variables
            EXPECT_FALSE(outcome) << "ended twice";
            if (reply)
                outcome.emplace(std::string(reply->error.empty() ? reply->result : reply->error));
            else
                outcome.emplace(reply.error());
        });
        EXPECT_FALSE(outcome) << "answered from inside the call";
        return id;
    }
    Result<std::string> ask(Request request) {
        Outcome outcome;
        begin(std::move(request), outcome);
        EXPECT_TRUE(wait([&] { return outcome.has_value(); }));
        return *outcome;
    }
    // The outcome of calling "a" when the server, which leaves tools/call alone otherwise, says
    // `answer(id)` to it.
    Result<std::string> ask_and_hear(
        const std::function<std::string(const std::string& id)>& answer) {
        const auto before = server.requests("tools/call").size();
        std::optional<Result<std::string>> outcome;
        connection().request(caller, call("a"), [&](Result<Reply> reply) {
            if (reply)
                outcome.emplace(std::string(reply->error.empty() ? reply->result : reply->error));
            else
                outcome.emplace(reply.error());
        });
        EXPECT_TRUE(wait([&] { return server.requests("tools/call").size() > before; }));
        server.say(answer(json::serialize(server.requests("tools/call").back().at("id"))));
        EXPECT_TRUE(wait([&] { return outcome.has_value(); }));
        return outcome.value_or(Error{ErrorCode::Timeout, "no outcome"});
    }
    // Lets every timer that is due until then fire, and what was deferred run.
    void pass(std::chrono::milliseconds time) { loop.pass(time); }
    // Servers' questions go to a person, who answers when the test says so.
    using Person = std::function<void(std::optional<json::object>)>;
    void use_person() {
        config::ClientSettings client;
        client.elicitation = "ask";
        use(client, [this](const std::string&, const json::object&, Person answer) {
            asked.push_back(std::move(answer));
            if (on_asked) on_asked();
            return Question(&asked,
                            [this, number = asked.size() - 1](void*) { withdrawn.insert(number); });
        });
    }
    // The caller answers like that, and the connection says so.
    void use(const config::ClientSettings& client, AskPerson ask) {
        settings = client;
        caller.respond = [responder = Responder(client, std::move(ask))](auto&&... question) {
            return responder.respond(std::forward<decltype(question)>(question)...);
        };
    }
    static Request call(const std::string& name, std::chrono::milliseconds timeout = 0ms) {
        return {"tools/call", {"\"name\":\"" + name + "\"", ""}, timeout, {}};
    }

    // As the pool does of callers that go.
    struct Releasing final : CallersWatcher {
        explicit Releasing(ConnectionTest& of) : test(of) { test.callers.watch(*this); }
        ~Releasing() { test.callers.unwatch(*this); }
        void on_leaving(Caller& leaving) override {
            if (!test.over && test.connection_) test.connection_->release(leaving.number());
        }
        ConnectionTest& test;
    };

    // What lies above the connection, as the members below say.
    struct Sources final : SettingsExpander, TransportSource, CredentialSource {
        explicit Sources(ConnectionTest& of) : test(of) {}
        void expand(const config::Server& of, SettingsExpander::Then then) override {
            auto tell = [settings = of.settings, then] { then(Expanded{settings}); };
            if (test.hold_expansion) return test.held_expansions.push_back(tell);
            tell();
        }
        bool has(const std::string& transport) const override {
            return transport == "sse" && test.has_sse;
        }
        void prepare(const std::string& transport, Prepared ready) override {
            test.prepare ? test.prepare(transport, std::move(ready)) : ready({});
        }
        Result<std::unique_ptr<plugin::Channel>> open(const std::string& transport,
                                                      plugin::ChannelOptions options,
                                                      plugin::ChannelEvents& on) override {
            auto& one = transport == "sse" ? test.old_server : test.server;
            one.credentials = std::move(options.credentials);
            return one.open(on);
        }
        std::optional<AuthChoice> choice(const config::Server& of) const override {
            return test.auth_of ? test.auth_of(of) : std::nullopt;
        }
        void prepare(const AuthMethod& method, Prepared ready) override {
            test.prepare_auth ? test.prepare_auth(method, std::move(ready)) : ready({});
        }
        Result<std::unique_ptr<plugin::Authenticator>> authenticator(
            const config::Server& of, const AuthMethod& method,
            std::shared_ptr<plugin::Signer> signer, plugin::AuthenticatorEvents& on) override {
            return test.authenticate(of, method, std::move(signer), on);
        }
        std::optional<std::string> variable(const std::string& name) const override {
            const auto found = test.variables.find(name);
            if (found == test.variables.end()) return std::nullopt;
            return found->second;
        }
        ConnectionTest& test;
    };

    bool over = false;
    protocol::Era preferred = protocol::Era::Modern;
    test::TurnedLoop loop;
    Sources sources{*this};
    FakeServer server{loop}, old_server{loop};  // the second is reached by transport "sse"
    bool has_sse = true;
    plugin::Asking asking = plugin::Asking::Quiet;
    bool hold_expansion = false;  // then each waits here until it is called
    std::vector<std::function<void()>> held_expansions;
    std::function<std::optional<AuthChoice>(const config::Server&)> auth_of;
    std::function<Result<std::unique_ptr<plugin::Authenticator>>(
        const config::Server&, const AuthMethod&, std::shared_ptr<plugin::Signer>,
        plugin::AuthenticatorEvents&)>
        authenticate;
    // Instead of being ready at once.
    std::function<void(const std::string& transport, Prepared)> prepare;
    std::function<void(const AuthMethod&, Prepared)> prepare_auth;
    std::map<std::string, std::string> variables;
    Events events;
    Callers callers;
    Releasing releasing{*this};
    test::FakeCaller caller{callers};
    Eras eras;
    config::ClientSettings settings;
    std::vector<Person> asked;
    std::set<std::size_t> withdrawn;  // those of `asked` whose answer nobody waits for any more
    std::function<void()> on_asked;
    config::HealthSettings health;
    core::Limits limits;
    bool long_lived = false;
    std::chrono::milliseconds relist_first{5}, relist_most{40};
    registry::ServerSpec spec;
    std::optional<Context> context;
    std::unique_ptr<Connection> connection_;
};

// Behind HTTP, where a message names its exchange.
class HttpConnectionTest : public ConnectionTest {
protected:
    HttpConnectionTest() {
        spec.config.transport = "http";
        server.be_http();
        for (const char* method : {"tools/call", "prompts/get"}) {
            server.results[method] = [](const json::object& params) -> json::value {
                return {{"resultType", "complete"}, {"got", params.at("name")}};
            };
        }
    }
    void close() {
        if (!connection_) return;
        bool closed = false;
        connection_->close([&] { closed = true; });
        EXPECT_TRUE(wait([&] { return closed; }));
        connection_.reset();
    }
    static json::object marked_tool(const char* name, const char* mark) {
        return {{"name", name},
                {"inputSchema",
                 {{"type", "object"},
                  {"properties", {{"region", {{"type", "string"}, {"x-mcp-header", mark}}}}}}}};
    }
    static Request call_with(const std::string& name, const std::string& arguments) {
        return {
            "tools/call", {"\"name\":\"" + name + "\",\"arguments\":" + arguments, ""}, 0ms, {}};
    }
};

}  // namespace patchbay::connection
