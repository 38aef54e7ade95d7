// The clients of the older transport, HTTP with SSE of 2024-11-05: GET /sse is the stream on which a
// client hears all that its session says, and POST /messages?sessionId=ID what it says to it. What is
// behind /sse in a path is what is behind /mcp.
//
// Owns:    the sessions; each ends with its stream. Borrows what is in `parts`.
// Threads: [loop].
// Errors:  an HTTP status, and a JSON-RPC error that says why.
// Limits:  kMost sessions, kMostOfOne of a guest that is known by name. kWaitingBytes wait for one that does not read: then it is told nothing that
//          may be dropped, and may say nothing (429). One that takes nothing is cut off by http::Limits.
// Source:  MCP 2024-11-05 basic/transports "HTTP with SSE".
#pragma once

#include "gateway/http/admission.hpp"
#include "gateway/http/http_client.hpp"
#include "http/exchange.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class SseClients {
public:
    static constexpr const char* kStream = "/sse";
    static constexpr std::size_t kMost = 2'000, kMostOfOne = 500, kWaitingBytes = 2u << 20;
    static constexpr std::chrono::seconds kKeepAlive{15};

    enum class Place { Elsewhere, Stream, Messages };
    // What that path is to us; with the endpoint's path in its place, by which it is admitted.
    static Place take_place(std::string& target);

    explicit SseClients(const HttpClient::Parts& parts);
    ~SseClients();

    // `target`: as take_place() left it. Nothing: it is, or will be, answered.
    std::optional<HttpRefusal> open(const http::Request& request,
                                    const std::shared_ptr<http::Exchange>& exchange,
                                    const Guest& guest);
    std::optional<HttpRefusal> post(const http::Request& request,
                                    const std::shared_ptr<http::Exchange>& exchange,
                                    const Guest& guest);
    std::size_t size() const { return clients_.size(); }
    // A second has passed.
    void tick(core::Clock::time_point now);
    void end(const std::function<bool(const Guest&)>& whose);

private:
    class Client;
    // A guest that has many does not take the places of all others.
    bool has_room(const Guest& guest) const;

    const HttpClient::Parts parts_;
    core::Loop& loop_;
    std::map<std::string, std::unique_ptr<Client>, std::less<>> clients_;  // by session id
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
