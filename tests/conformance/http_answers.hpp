// A channel of the http or the sse plugin to a server that answers by a script.
#pragma once

#include "support/plugin_host.hpp"
#include "support/scripted_http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace patchbay::test {

using Answer = ScriptedHttp::Answer;
using Request = ScriptedHttp::Request;
using Then = ScriptedHttp::Answer::Then;

inline const std::string kAnswer = R"({"jsonrpc":"2.0","id":1,"result":{}})";

class HttpAnswers : public testing::Test {
protected:
    void TearDown() override {
        if (!channel_) return;
        if (!channel_->closed()) channel_->close();
        EXPECT_TRUE(channel_->until([&] { return channel_->closed(); }));
        channel_->destroy();
        EXPECT_THAT(channel_->faults, testing::IsEmpty());
        EXPECT_EQ(channel_->released, channel_->given) << "bodies are consumed exactly once";
        EXPECT_EQ(host_->misbehaviour(), "");
    }
    void serve(ScriptedHttp::Script script, const std::string& plugin = "http") {
        server_.emplace(std::move(script));
        open(server_->url(), plugin);
    }
    void open(const std::string& url, const std::string& plugin) {
        host_.emplace(loop_, plugin);
        if (divisor_) host_->turn_timers(*divisor_);
        channel_.emplace(loop_, *host_);
        ASSERT_EQ(channel_->open("{\"url\":\"" + url + "\"}"), PATCHBAY_OK) << channel_->refusal;
        look();
    }
    // Sends it, and how it ended.
    PluginChannel::End call(const std::string& method = "tools/call",
                            const std::string& body = R"({"id":1})") {
        const auto before = channel_->ended();
        EXPECT_GE(channel_->send(body, method), 0);
        EXPECT_TRUE(channel_->until([&] { return channel_->ended() > before; }));
        return channel_->last_end();
    }
    void begin_session() { EXPECT_EQ(call("initialize").status, PATCHBAY_OK); }
    // Long enough for what would come at once; too short only lets a fault pass.
    void let_time_pass() {
        EXPECT_FALSE(loop_.run_until([] { return false; },
                                     core::Clock::now() + std::chrono::milliseconds(60)));
    }
    // What the server's thread does wakes no loop.
    void look() {
        loop_.after(std::chrono::milliseconds(5), [this] { look(); });
    }

    // What the plugin has asked timers for, in milliseconds; where divisor_ is set.
    std::vector<int> waits() const {
        std::vector<int> all;
        for (const auto each : host_->timers()) all.push_back(static_cast<int>(each.count()));
        return all;
    }

    std::optional<std::uint64_t> divisor_;  // of TurnedTimers, for open()
    core::Loop loop_;
    std::optional<ScriptedHttp> server_;
    std::optional<PluginHost> host_;
    std::optional<PluginChannel> channel_;
};

// The script of a server with a session, which answers all else by `script`.
inline ScriptedHttp::Script with_session(ScriptedHttp::Script script) {
    return [script](const ScriptedHttp::Request& request) -> ScriptedHttp::Answer {
        if (request.is("DELETE")) return {ScriptedHttp::empty("200 OK")};
        if (request.is("POST") && !request.has("Mcp-Session-Id: ") &&
            !request.has("MCP-Session-Id: "))
            return {ScriptedHttp::json(kAnswer, "Mcp-Session-Id: one\r\n")};
        return script(request);
    };
}

}  // namespace patchbay::test
