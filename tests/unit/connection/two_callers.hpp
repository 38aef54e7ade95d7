// Two callers on one connection.
#pragma once

#include "unit/connection/fixture.hpp"

namespace patchbay::connection {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

inline constexpr const char* kMessage = "notifications/message";
inline constexpr const char* kUpdated = "notifications/resources/updated";

inline std::string notification(const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}";
}
inline std::string updated(const std::string& uri) {
    return notification(kUpdated, R"({"uri":")" + uri + R"("})");
}
inline std::string logged(const std::string& level) {
    return notification(kMessage, R"({"level":")" + level + R"(","data":"x"})");
}
inline std::string question(const std::string& id) {
    return R"({"jsonrpc":"2.0","id":")" + id + R"(","method":"roots/list"})";
}

// The same for every kind of connection; both callers answer when the test does.
template <class Fixture>
class TwoCallers : public Fixture {
protected:
    TwoCallers() {
        this->caller.respond = {};
        for (const char* method :
             {"resources/subscribe", "resources/unsubscribe", "logging/setLevel"})
            this->server.results[method] = [](const auto&) -> json::value {
                return json::object();
            };
    }
    void be_legacy() {
        this->server.be_legacy({tool_named("a")});
        this->server.results["initialize"] = [](const auto&) -> json::value {
            return {{"protocolVersion", "2025-11-25"},
                    {"capabilities",
                     {{"tools", json::object()},
                      {"logging", json::object()},
                      {"resources", {{"subscribe", true}}}}}};
        };
        this->server.results.erase("tools/call");
    }
    // A call that the server has; `ended`: how often it was told to have.
    plugin::ExchangeId call_by(Caller& asker, int* ended = nullptr, const std::string& level = {}) {
        const auto before = this->server.requests("tools/call").size();
        auto& count = ended ? *ended : unheeded;
        auto asked = this->call("a");
        asked.log_level = level;
        this->connection().request(asker, std::move(asked),
                                   [&count](const Result<Reply>&) { ++count; });
        EXPECT_TRUE(
            this->wait([&] { return this->server.requests("tools/call").size() == before + 1; }));
        return static_cast<plugin::ExchangeId>(
            this->server.requests("tools/call").back().at("id").as_int64());
    }
    void subscribe(Caller& asker, const std::string& uri, bool wanted = true) {
        bool told = false;
        this->connection().subscribe(asker, uri, wanted, [&](const Result<Reply>& reply) {
            EXPECT_TRUE(reply && reply->error.empty());
            told = true;
        });
        ASSERT_TRUE(this->wait([&] { return told; }));
    }
    void set_level(Caller& asker, const std::string& level) {
        bool told = false;
        this->connection().set_log_level(asker, level, [&](const Result<Reply>&) { told = true; });
        ASSERT_TRUE(this->wait([&] { return told; }));
    }
    // What the server is answered to a question with that id.
    json::object answer_to(const std::string& id) {
        const json::object* found = nullptr;
        EXPECT_TRUE(this->wait([&] {
            for (const auto& message : this->server.received) {
                const auto* given = message.if_contains("id");
                if (!message.contains("method") && given && *given == json::value(id))
                    found = &message;
            }
            return found != nullptr;
        }));
        return found ? *found : json::object();
    }
    void turn() { this->pass(1ms); }
    std::size_t said(const char* method) { return this->server.requests(method).size(); }

    test::FakeCaller other{this->callers};
    int unheeded = 0;  // outlives what the fixture's connection ends late
};
using OnOneStream = TwoCallers<ConnectionTest>;
using BehindHttp = TwoCallers<HttpConnectionTest>;

}  // namespace patchbay::connection
