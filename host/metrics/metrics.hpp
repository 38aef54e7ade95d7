// What a host has counted since it started, and the text in which Prometheus reads it.
//
// Names of tools and methods are foreign data and become labels: each is made printable and cut to
// kLabelBytes, and what is beyond kMostOfServer of one server or kMostSeries of all is counted
// together, as "other"; so is a server beyond kMostServers.
//
// Owns:    the counts. Threads: [loop]. Errors: none.
// Source:  Prometheus "Exposition formats", text format 0.0.4;
//          decisions/0033-metrics-without-a-library.md.
#pragma once

#include "core/observer.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::metrics {

// What is so at the moment, and nobody has to count.
struct Now {
    struct Server {
        std::string id, state;
        std::size_t in_flight = 0;
        std::optional<std::size_t> tools;  // none: it has not listed them yet
    };
    std::string version;                    // of this program
    std::size_t sessions = 0, streams = 0;  // of clients
    std::size_t in_flight = 0;              // requests, those that no server has yet included
    std::vector<Server> servers;            // by id
    std::map<std::string, std::size_t>
        states;  // how many servers are in each, of those that may be
};

class Metrics final : public core::Observer {
public:
    static constexpr std::size_t kMostServers = 1'000, kMostOfServer = 200, kMostSeries = 5'000;
    static constexpr std::size_t kLabelBytes = 128;
    static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

    void on_request_ended(const core::EndedRequest& request) override;
    void on_server_state(const core::ServerState& state) override;
    void on_server_restart(std::string_view server) override;
    void on_http_answer(unsigned status) override;

    std::string text(const Now& now) const;

private:
    struct Bucket {
        std::chrono::milliseconds most;
        const char* label;  // the same in seconds
    };
    static constexpr std::array<Bucket, 16> kBuckets{{{std::chrono::milliseconds(1), "0.001"},
                                                      {std::chrono::milliseconds(2), "0.002"},
                                                      {std::chrono::milliseconds(5), "0.005"},
                                                      {std::chrono::milliseconds(10), "0.01"},
                                                      {std::chrono::milliseconds(25), "0.025"},
                                                      {std::chrono::milliseconds(50), "0.05"},
                                                      {std::chrono::milliseconds(100), "0.1"},
                                                      {std::chrono::milliseconds(250), "0.25"},
                                                      {std::chrono::milliseconds(500), "0.5"},
                                                      {std::chrono::milliseconds(1'000), "1"},
                                                      {std::chrono::milliseconds(2'500), "2.5"},
                                                      {std::chrono::milliseconds(5'000), "5"},
                                                      {std::chrono::milliseconds(10'000), "10"},
                                                      {std::chrono::milliseconds(30'000), "30"},
                                                      {std::chrono::milliseconds(60'000), "60"},
                                                      {std::chrono::milliseconds(300'000), "300"}}};
    // Of one tool, or one other method, of one server.
    struct Series {
        std::map<std::string, std::uint64_t, std::less<>> outcomes;
        std::array<std::uint64_t, kBuckets.size()> within{};  // each of its own bucket alone
        std::uint64_t count = 0, sent = 0, received = 0;
        std::chrono::nanoseconds duration{0};
    };
    using SeriesByName = std::map<std::string, Series, std::less<>>;
    struct Server {
        SeriesByName tools, methods;
        std::map<std::string, std::uint64_t, std::less<>> states;  // how often it came to each
        std::uint64_t restarts = 0;
    };
    // Of tool calls, and of all other requests.
    struct Kind;
    static const Kind kToolCalls, kRequests;

    Server& server(std::string_view id);
    Series& series(Server& server, SeriesByName& all, std::string_view name);
    void append_requests(std::string& out, const Kind& kind) const;
    void append_servers(std::string& out, const Now& now) const;

    std::map<std::string, Server, std::less<>> servers_;
    std::map<unsigned, std::uint64_t> http_;
    std::size_t series_ = 0;  // in all
};

}  // namespace patchbay::metrics
