// A router before two servers, "git" and "github", and what tests ask of it.
#pragma once

#include "protocol/qualified_name.hpp"
#include "router/router.hpp"
#include "support/fake_caller.hpp"
#include "support/fake_channel.hpp"
#include "support/fake_sources.hpp"
#include "support/turned_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::router {

namespace json = boost::json;
using namespace std::chrono_literals;
using connection::Reply;
using test::tool_named;

class RouterTest : public ::testing::Test, protected test::PoolParts {
protected:
    RouterTest() {
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
            connection::Terms terms;
            terms.limits = limits;
            terms.long_lived = false;
            auto parts = context(loop, transports, std::move(terms));
            parts.catalogue = &catalogue.emplace();
            parts.observer = observer;
            connections.emplace(std::move(parts));
            connections->apply(specs);
            set_rules();
            router_.emplace(callers, *connections, *policy, *catalogue, observer, decisions,
                            pins_of ? pins_of(*catalogue) : nullptr);
        }
        return *router_;
    }
    // Those of `permissions` and `specs` as they are now.
    void set_rules() {
        std::vector<config::Server> configured;
        for (const auto& spec : specs) configured.push_back(spec.config);
        policy = policy::Policy(permissions, configured);
    }
    Result<std::string> call(const std::string& name, const std::string& arguments = "{}",
                             const std::string& members = {}) {
        std::optional<Result<std::string>> outcome;
        Call request;
        request.name = name;
        request.arguments = arguments;
        request.members = members;
        router().call(caller, std::move(request), [&](Result<Reply> reply) {
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
                            const std::string& params = "", connection::Caller* asker = nullptr) {
        ServerRequest request;
        request.server = server;
        request.method = method;
        request.params.members = params;
        std::optional<Result<std::string>> outcome;
        router().request(asker ? *asker : caller, std::move(request), [&](Result<Reply> reply) {
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
        const auto list = router().list_all(caller, {server, method, {}}, [&](auto items) {
            if (items) {
                EXPECT_EQ(items->values.size(), items->texts.size());
            }
            items ? listed.emplace(std::move(items->values)) : listed.emplace(items.error());
        });
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

    test::TurnedLoop loop;
    std::map<std::string, test::FakeServer> servers;
    test::FakeTransports transports{
        [this](const plugin::ChannelOptions& options, plugin::ChannelEvents& on) {
            return servers.at(options.server).open(on);
        }};
    std::vector<registry::ServerSpec> specs;
    test::FakeCaller caller{callers};
    test::FakeCaller agent{callers, core::Trust::NeedsApproval};
    core::Limits limits;
    config::Permissions permissions{{}, {"mcp__github__log"}};
    std::optional<policy::Policy> policy;
    std::optional<catalogue::Catalogue> catalogue;
    std::optional<connection::ConnectionPool> connections;
    core::Observer* observer = nullptr;
    std::function<pins::Pins*(catalogue::Catalogue&)> pins_of;  // none: nothing is pinned
    connection::Decisions* decisions = nullptr;
    std::optional<Router> router_;
};

}  // namespace patchbay::router
