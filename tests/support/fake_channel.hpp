// A server on the other end of a Channel, scripted by the test: what the host sends is recorded,
// and the test says what comes back. One FakeServer may be opened many times, one channel at once.
// With `request_scoped` it is one behind HTTP: answers name their exchange, each of which is done.
#pragma once

#include "core/loop.hpp"
#include "plugin/channel.hpp"

#include <boost/json.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace patchbay::test {

class FakeServer {
public:
    explicit FakeServer(core::Loop& loop) : loop_(loop) {}

    // Answers a request by method: gets its params, gives the result object. Others stay silent.
    using Result = std::function<boost::json::value(const boost::json::object& params)>;
    std::map<std::string, Result> results;
    std::map<std::string, std::pair<int, std::string>> errors;  // method -> code, message

    // Requests of that method end like this, one after the other, before any answer; nothing: their
    // stream just ends.
    using Ending = std::optional<plugin::Problem>;
    std::map<std::string, std::deque<Ending>> endings;
    std::string before_ending;  // a message that comes for such a request first
    // Requests of that method are not taken, one after the other: they never were here.
    std::map<std::string, std::deque<ErrorCode>> refusals;
    bool full = false;  // says so of every message that it takes, until writable()
    std::function<void(const std::string& method)> on_request =
        {};  // came, and is not answered yet
    bool request_scoped = false, takes_headers = false;
    bool holds_on = false;  // does not let go of a channel that is closed, until let_go()

    static plugin::Problem problem(ErrorCode code, const std::string& message,
                                   unsigned http_status = 0) {
        plugin::Problem made;
        made.error = {code, message};
        made.http_status = http_status;
        made.url = "https://example.com/mcp";
        return made;
    }
    void be_http() { request_scoped = takes_headers = true; }

    // How a message came, besides its body; same index as in `received`.
    struct Arrival {
        plugin::ExchangeId exchange = 0;
        std::string method, protocol;
        std::vector<plugin::Header> headers, credentials;
        std::string header(const std::string& name) const {
            for (const auto& each : headers)
                if (each.name == name) return each.value;
            return "(none)";
        }
    };
    std::vector<Arrival> arrivals;
    const Arrival& arrival(const std::string& method, std::size_t nth = 0) const {
        for (const auto& each : arrivals)
            if (each.method == method && nth-- == 0) return each;
        throw std::out_of_range("no such " + method);
    }
    std::vector<plugin::Header> credentials;  // what the channel has now
    std::vector<plugin::ExchangeId> cancelled, settled;

    std::vector<boost::json::object> received;
    std::vector<std::string> bodies;  // the same as they came
    int opened = 0;
    bool refuse_open = false;
    bool leave_on_discover = false;  // some legacy servers exit on an unknown first request
    ErrorCode open_code = ErrorCode::NotFound;  // of a channel that is refused
    std::string open_error = "no such program";

    // A modern server with these tools.
    void be_modern(boost::json::array tools);
    void be_legacy(boost::json::array tools, const char* version = "2025-11-25");

    patchbay::Result<std::unique_ptr<plugin::Channel>> open(plugin::ChannelEvents& events);

    // An inbound message of that exchange, and the end of one.
    void say_for(plugin::ExchangeId exchange, const std::string& message) {
        loop_.defer([this, exchange, message] {
            if (events_) events_->on_message(exchange, core::Buffer::from(message));
        });
    }
    void end(plugin::ExchangeId exchange, const Ending& ending) {
        loop_.defer([this, exchange, ending] {
            if (events_) events_->on_done(exchange, ending ? &*ending : nullptr);
        });
    }
    void challenge(const plugin::Problem& problem) {
        loop_.defer([this, problem] {
            if (events_) events_->on_challenge(problem);
        });
    }
    void say(const std::string& message) {  // one message from the server
        loop_.defer([this, message] {
            if (events_) events_->on_message(0, core::Buffer::from(message));
        });
    }
    void answer(std::int64_t id, const std::string& result) {
        say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + result + "}");
    }
    void writable() {
        full = false;
        loop_.defer([this] {
            if (events_) events_->on_writable();
        });
    }
    void fact(const std::string& name, const std::string& value) {
        if (events_) events_->on_fact(name, value);
    }
    void write_stderr(const std::string& line) {
        if (events_) events_->on_output(1, line);
    }
    void crash(const std::string& why) {  // the channel ends by itself
        crash_with(problem(ErrorCode::Unavailable, why));
    }
    void crash_with(const plugin::Problem& problem) {
        loop_.defer([this, problem] {
            if (auto* events = std::exchange(events_, nullptr)) events->on_closed(&problem);
        });
    }
    void let_go() {
        holds_on = false;
        for (auto& end : std::exchange(held_, {})) loop_.defer(std::move(end));
    }
    std::vector<boost::json::object> requests(const std::string& method) const {
        std::vector<boost::json::object> found;
        for (const auto& message : received) {
            const auto* value = message.if_contains("method");
            if (value && value->is_string() && value->get_string() == method)
                found.push_back(message);
        }
        return found;
    }

private:
    class FakeChannel final : public plugin::Channel {
    public:
        explicit FakeChannel(FakeServer& server)
            : server_(server), events_(server.events_), nth_(server.opened) {}
        // Says nothing more; a channel that was opened since goes on.
        ~FakeChannel() override {
            if (nth_ == server_.opened) server_.events_ = nullptr;
        }
        patchbay::Result<plugin::Flow> send(plugin::OutgoingMessage message) override {
            const std::string method(message.method);
            if (auto& planned = server_.refusals[method]; !planned.empty()) {
                const auto code = planned.front();
                planned.pop_front();
                return Error{code, "send refused"};
            }
            Arrival arrival{message.exchange,
                            std::string(message.method),
                            std::string(message.protocol),
                            {},
                            server_.credentials};
            if (message.headers) arrival.headers = *message.headers;
            server_.arrivals.push_back(std::move(arrival));
            server_.take(message.body.view(), message.exchange);
            return server_.full ? plugin::Flow::Paused : plugin::Flow::Ready;
        }
        void cancel(plugin::ExchangeId exchange) override {
            server_.cancelled.push_back(exchange);
            server_.end(exchange, problem(ErrorCode::Cancelled, "cancelled"));
        }
        void pause() override {}
        void resume() override {}
        // In order, but all at once: rounds are the true channel's.
        void unfold(std::vector<core::Buffer> messages) override {
            for (auto& server = server_; auto& message : messages)
                if (server.events_) server.events_->on_message(0, std::move(message));
        }
        void settle(plugin::ExchangeId exchange) override { server_.settled.push_back(exchange); }
        void set_credentials(const std::vector<plugin::Header>& given) override {
            server_.credentials = given;
        }
        bool request_scoped() const override { return server_.request_scoped; }
        bool takes_headers() const override { return server_.takes_headers; }
        void close() override {
            server_.held_.push_back([this, &server = server_, watch = std::weak_ptr<int>(alive_)] {
                if (watch.expired()) return;
                // Another one may have been opened meanwhile: that goes on.
                if (nth_ == server.opened && !std::exchange(server.events_, nullptr)) return;
                events_->on_closed(nullptr);
            });
            if (!server_.holds_on) server_.let_go();
        }

    private:
        FakeServer& server_;
        plugin::ChannelEvents* const events_;
        const int nth_;
        const std::shared_ptr<int> alive_ = std::make_shared<int>();
    };

    // What answers a request: on its exchange, which then is done, or on the channel.
    void reply(plugin::ExchangeId exchange, const boost::json::object& message) {
        if (!request_scoped) return say(boost::json::serialize(message));
        say_for(exchange, boost::json::serialize(message));
        end(exchange, std::nullopt);
    }

    void take(std::string_view text, plugin::ExchangeId exchange) {
        auto message = boost::json::parse({text.data(), text.size()}).as_object();
        received.push_back(message);
        bodies.emplace_back(text);
        const auto* id = message.if_contains("id");
        const auto* method = message.if_contains("method");
        if (!method) return;
        const std::string name(method->as_string());
        if (on_request) on_request(name);
        if (auto& planned = endings[name]; !planned.empty()) {
            if (!before_ending.empty()) say_for(exchange, before_ending);
            end(exchange, planned.front());
            planned.pop_front();
            return;
        }
        if (!id) {
            if (request_scoped) end(exchange, std::nullopt);
            return;
        }
        if (leave_on_discover && name == "server/discover") return crash("exited with code 1");
        if (const auto error = errors.find(name); error != errors.end()) {
            return reply(
                exchange,
                {{"jsonrpc", "2.0"},
                 {"id", *id},
                 {"error", {{"code", error->second.first}, {"message", error->second.second}}}});
        }
        const auto result = results.find(name);
        if (result == results.end()) return;
        const auto* params = message.if_contains("params");
        reply(exchange,
              {{"jsonrpc", "2.0"},
               {"id", *id},
               {"result", result->second(params ? params->as_object() : boost::json::object())}});
    }

    core::Loop& loop_;
    plugin::ChannelEvents* events_ = nullptr;
    std::vector<std::function<void()>> held_;  // ends of channels
};

inline void FakeServer::be_modern(boost::json::array tools) {
    results["server/discover"] = [](const auto&) -> boost::json::value {
        return {{"resultType", "complete"},
                {"supportedVersions", {"2026-07-28"}},
                {"capabilities",
                 {{"tools", boost::json::object()}, {"completions", boost::json::object()}}},
                {"ttlMs", 0},
                {"cacheScope", "public"}};
    };
    results["tools/list"] = [tools](const auto&) -> boost::json::value {
        return {{"resultType", "complete"},
                {"tools", tools},
                {"ttlMs", 60000},
                {"cacheScope", "public"}};
    };
}

inline void FakeServer::be_legacy(boost::json::array tools, const char* version) {
    errors["server/discover"] = {-32601, "Method not found"};
    results["initialize"] = [version](const auto&) -> boost::json::value {
        return {{"protocolVersion", version},
                {"capabilities", {{"tools", boost::json::object()}}},
                {"serverInfo", {{"name", "fake"}, {"version", "1"}}}};
    };
    results["tools/list"] = [tools](const auto&) -> boost::json::value {
        return {{"tools", tools}};
    };
}

inline patchbay::Result<std::unique_ptr<plugin::Channel>> FakeServer::open(
    plugin::ChannelEvents& events) {
    ++opened;
    if (refuse_open) return Error{open_code, open_error};
    events_ = &events;
    loop_.defer([this] {
        if (events_) events_->on_opened();
    });
    return std::unique_ptr<plugin::Channel>(std::make_unique<FakeChannel>(*this));
}

inline boost::json::object tool_named(const char* name) {
    return {{"name", name}, {"inputSchema", {{"type", "object"}}}};
}

}  // namespace patchbay::test
