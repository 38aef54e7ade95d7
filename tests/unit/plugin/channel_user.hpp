// Who uses a channel in tests: what its events were, and the loop they come on.
#pragma once

#include "core/loop.hpp"
#include "plugin/channel.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::plugin {

struct Recorder final : ChannelEvents {
    std::vector<std::string> lines;
    std::vector<Problem> problems;
    std::size_t messages = 0;
    bool closed = false;
    std::function<void()> during_message, at_the_end;

    void keep(const Problem* problem) {
        if (problem) problems.push_back(*problem);
    }
    void on_opened() override { lines.emplace_back("opened"); }
    void on_message(ExchangeId exchange, core::Buffer body) override {
        ++messages;
        lines.push_back("message " + std::to_string(exchange) + " " +
                        std::string(body.view().substr(0, 40)));
        if (during_message) during_message();
    }
    void on_done(ExchangeId exchange, const Problem* problem) override {
        lines.push_back("done " + std::to_string(exchange));
        keep(problem);
    }
    void on_writable() override { lines.emplace_back("writable"); }
    void on_challenge(const Problem& problem) override {
        lines.emplace_back("challenge");
        keep(&problem);
    }
    void on_output(unsigned stream, std::string_view line) override {
        lines.push_back("output " + std::to_string(stream) + " " + std::string(line));
    }
    void on_fact(std::string_view name, std::string_view value) override {
        lines.push_back(std::string(name) + "=" + std::string(value));
    }
    void on_closed(const Problem* problem) override {
        lines.emplace_back("closed");
        closed = true;
        keep(problem);
        if (at_the_end) at_the_end();
    }
};

class ChannelUser : public testing::Test {
protected:
    Result<Flow> send(ExchangeId exchange, std::string body = "{}", const char* method = "") {
        OutgoingMessage message;
        message.exchange = exchange;
        message.body = core::Buffer::from(std::move(body));
        message.method = method;
        return channel_->send(std::move(message));
    }
    bool until(const std::function<bool()>& done) {
        return loop_.run_until(done, core::Clock::now() + std::chrono::seconds(20));
    }
    // Until `count` events were told, and a turn more.
    void hear(std::size_t count) {
        ASSERT_TRUE(until([&] { return events_.lines.size() >= count; }))
            << events_.lines.size() << " of " << count;
        turn();
    }
    void turn() {
        bool turned = false;
        loop_.post([&] { turned = true; });
        ASSERT_TRUE(until([&] { return turned; }));
    }

    core::Loop loop_;
    Recorder events_;
    std::unique_ptr<Channel> channel_;
};

}  // namespace patchbay::plugin
