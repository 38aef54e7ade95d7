// A session before two servers, "git" and "github", of the legacy era; time is turned by hand.
#pragma once

#include "gateway/client_session.hpp"
#include "unit/service/fixture.hpp"

namespace patchbay::gateway {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;
namespace json = boost::json;

class SessionTest : public service::ServiceTest, Outward {
protected:
    // What it offers besides tools, and how it answers.
    void offer(const std::string& id, const char* method, const json::value& result) {
        servers.at(id).results[method] = [result](const auto&) { return result; };
    }
    SessionTest() {
        for (auto& [id, server] : servers) {
            server.be_legacy({test::tool_named("log")});
            server.results["initialize"] = [](const auto&) -> json::value {
                return {{"protocolVersion", "2025-11-25"},
                        {"capabilities",
                         {{"tools", json::object()},
                          {"prompts", json::object()},
                          {"logging", json::object()},
                          {"resources", {{"subscribe", true}}}}},
                        {"serverInfo", {{"name", "fake"}, {"version", "1"}}}};
            };
            offer(id, "resources/list", {{"resources", json::array()}});
            offer(id, "resources/templates/list", {{"resourceTemplates", json::array()}});
            offer(id, "prompts/list", {{"prompts", json::array()}});
            offer(id, "resources/subscribe", json::object());
            offer(id, "resources/unsubscribe", json::object());
            offer(id, "logging/setLevel", json::object());
            server.results["tools/call"] = [](const auto&) -> json::value {
                return {{"content", json::array()}};
            };
        }
        permissions = {};
    }

    ClientSession& session() {
        if (!session_) {
            auto& servers_known = known();
            session_.emplace(
                ClientSession::Parts{callers, servers_known, *catalogue, *this, view,
                                     ClientRequests::kMost, true, nullptr, false, conversations,
                                     task_claims ? &*task_claims : nullptr},
                core::Principal{core::Principal::Kind::Client, {}, "test", core::Trust::Approves},
                connection::Responder(config.client, {}), "1");
        }
        return *session_;
    }
    void greet(const json::object& capabilities = {}) {
        ask(1, "initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", capabilities}});
        session().take(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    }
    void say(const json::value& id, const std::string& method, json::object params = {}) {
        session().take(json::serialize(json::object{
            {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
    }
    void say_modern(const json::value& id, const std::string& method, json::object params = {},
                    json::object meta = {}) {
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        meta["io.modelcontextprotocol/clientCapabilities"] = {{"elicitation", json::object()}};
        params["_meta"] = std::move(meta);
        say(id, method, std::move(params));
    }
    json::object answer_to(const json::value& id) {
        json::object found;
        loop.run_until(
            [&] {
                for (const auto& message : sent)
                    if (!message.contains("method") && message.at("id") == id) found = message;
                return !found.empty();
            },
            core::Clock::now() + 20s);
        EXPECT_FALSE(found.empty()) << id << " was not answered";
        return found;
    }
    json::object ask(const json::value& id, const std::string& method, json::object params = {}) {
        say(id, method, std::move(params));
        return answer_to(id);
    }
    json::object ask_modern(const json::value& id, const std::string& method,
                            json::object params = {}) {
        say_modern(id, method, std::move(params));
        return answer_to(id);
    }
    bool wait(const std::function<bool()>& done) {
        return loop.run_until(done, core::Clock::now() + 20s);
    }
    std::vector<json::object> told(const std::string& method) const {
        std::vector<json::object> found;
        for (const auto& message : sent)
            if (message.contains("method") && message.at("method") == json::value(method))
                found.push_back(message);
        return found;
    }
    static json::value at(const json::object& message, const std::string& pointer) {
        const json::value whole = message;
        json::error_code failed;
        const auto* found = whole.find_pointer(pointer, failed);
        return found ? *found
                     : json::value("nothing at " + pointer + " of " + json::serialize(whole));
    }
    // Of a tool of "git" that asks its client before it answers.
    void be_asked_in_the_middle() {
        servers.at("git").results.erase("tools/call");
        servers.at("git").on_request = [this](const std::string& method) {
            if (method != "tools/call") return;
            call_id = servers.at("git").requests("tools/call").back().at("id").to_number<int>();
            servers.at("git").say(
                R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create",)"
                R"("params":{"message":"name?","requestedSchema":{"type":"object"}}})");
        };
    }

    Outward& outward() { return *this; }

    View view;  // of the session to come
    std::optional<TaskClaims> task_claims;
    Conversations* conversations = nullptr;
    bool client_reads = true;
    std::vector<json::object> sent;
    int call_id = 0;
    std::optional<ClientSession> session_;

private:
    void answer(Answer answer, Route) override { send(std::move(answer.message)); }
    void say(std::string message, Route) override { send(std::move(message)); }
    bool send_question(const std::string&, std::string message, Route) override {
        if (client_reads) send(std::move(message));
        return client_reads;
    }
    void send_event(const std::string&, std::string message, Route) override {
        send(std::move(message));
    }
    void leave_unanswered(Route) override {}
    void send(const std::string& message) {
        json::error_code failed;
        auto parsed = json::parse(message, failed);
        EXPECT_TRUE(!failed && parsed.is_object()) << "is no message: " << message;
        if (parsed.is_object()) sent.push_back(std::move(parsed.get_object()));
    }
};

inline const json::object kCall{{"name", "mcp__git__log"}, {"arguments", json::object()}};

}  // namespace patchbay::gateway
