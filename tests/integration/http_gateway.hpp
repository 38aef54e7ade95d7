// `patchbay serve --http` as a program that tests start, kill and start again, and the sessions that a
// legacy client has there.
//
// Threads: one.
#pragma once

#include "integration/home.hpp"
#include "support/plain_http.hpp"

#include <optional>
#include <string>
#include <utility>

namespace patchbay::test {

class HttpGatewayProgram {
public:
    explicit HttpGatewayProgram(const Home& home, Words flags = {}, std::string address = {})
        : program_(command(home, words(std::move(flags), std::move(address)))) {
        EXPECT_TRUE(program_.wait_for_out("\n")) << program_.err();
        const auto url = program_.out().substr(0, program_.out().find('\n'));
        port_ = std::atoi(url.c_str() + url.rfind(':') + 1);
        EXPECT_GT(port_, 0) << url;
    }
    int port() const { return port_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    Program& program() { return program_; }

private:
    // Many sessions take their time on a slow machine.
    static Command command(const Home& home, Words arguments) {
        auto command = home.patchbay(std::move(arguments));
        command.deadline = std::chrono::minutes(4);
        return command;
    }
    static Words words(Words flags, std::string address) {
        if (address.empty()) address = "127.0.0.1:0";
        flags.insert(flags.begin(), {"serve", "--http", std::move(address)});
        return flags;
    }
    Program program_;
    int port_ = 0;
};

inline std::string request_text(const json::value& id, const std::string& method,
                                json::object params = {}) {
    return json::serialize(json::object{
        {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

// Of the legacy era. What it asks goes to the gateway that is at `port` just then.
class HttpSession {
public:
    explicit HttpSession(int port) : port_(port) {}

    void greet(const json::object& capabilities = {}) {
        auto answer = begin(request_text(0, "initialize",
                                         {{"protocolVersion", "2025-11-25"},
                                          {"capabilities", capabilities},
                                          {"clientInfo", {{"name", "test"}, {"version", "1"}}}}));
        EXPECT_TRUE(answer.wait_for_answer()) << answer.got();
        id_ = answer.header("MCP-Session-Id");
        EXPECT_NE(id_, "") << answer.got();
        auto told = begin(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
        EXPECT_TRUE(told.wait_for_answer()) << told.got();
    }
    const std::string& id() const { return id_; }
    void move_to(int port) { port_ = port; }
    PlainHttp begin(const std::string& message) const {
        PlainHttp http(port_);
        http.ask("POST", "/mcp", headers(true), message);
        return http;
    }
    // All that came for it, its head too.
    std::string ask(const std::string& method, json::object params = {}) {
        auto http = begin(request_text(++last_, method, std::move(params)));
        EXPECT_TRUE(http.wait_for_answer()) << http.got();
        return http.got();
    }
    std::string call(const std::string& tool, json::object arguments = {}) {
        return ask("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
    }
    PlainHttp listen(const std::string& last_event = {}) const {
        auto all = headers(false);
        if (!last_event.empty()) all.emplace_back("Last-Event-ID", last_event);
        PlainHttp http(port_);
        http.ask("GET", "/mcp", all);
        return http;
    }
    unsigned remove() const {
        PlainHttp http(port_);
        http.ask("DELETE", "/mcp", headers(false));
        EXPECT_TRUE(http.wait_for_answer()) << http.got();
        return http.status();
    }

private:
    PlainHttp::Headers headers(bool with_body) const {
        PlainHttp::Headers all{{"Accept", "application/json, text/event-stream"}};
        if (with_body) all.emplace_back("Content-Type", "application/json");
        if (!id_.empty()) all.emplace_back("MCP-Session-Id", id_);
        return all;
    }

    int port_;
    std::string id_;
    int last_ = 0;
};

}  // namespace patchbay::test
