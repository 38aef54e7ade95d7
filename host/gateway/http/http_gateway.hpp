// Patchbay as an MCP server over HTTP: whose each request is. A legacy client has a session by the id
// that initialize gave it; modern ones have none, and one principal.
//
// Owns:    the clients. Borrows all it is given.
// Threads: [loop].
// Errors:  an HTTP status, and a JSON-RPC error that says why.
// Limits:  kMostSessions; one that nobody has used for kIdle is put away, and comes back by its id.
//          Of modern requests kMostModern at once.
// Source:  MCP basic/transports of each revision; decisions/0028-sessions-of-http-clients.md.
#pragma once

#include "core/timer.hpp"
#include "gateway/http/http_client.hpp"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace patchbay::gateway {

class HttpGateway final : public http::Handler {
public:
    static constexpr std::size_t kMostSessions = 2'000, kMostModern = 10'500, kMostEnded = 10'000;
    static constexpr std::chrono::minutes kIdle{30};
    static constexpr const char* kPath = "/mcp";

    // `key`: of session ids, a secret. `address`: where it is reached.
    HttpGateway(HttpClient::Parts parts, std::string key, const http::Address& address);
    ~HttpGateway();

    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) override;
    // Every stream ends, each with a word.
    void close();

private:
    void post(const std::shared_ptr<http::Exchange>& exchange, const http::Request& request);
    void listen(const std::shared_ptr<http::Exchange>& exchange, const http::Request& request);
    void remove(const std::shared_ptr<http::Exchange>& exchange, const http::Request& request);
    std::unique_ptr<HttpClient> made(HttpClient::Era era);
    // Null: refused.
    HttpClient* client_of(const std::shared_ptr<http::Exchange>& exchange,
                          const http::Request& request);
    bool make_room();
    void tick();

    core::Loop& loop_;
    const HttpClient::Parts parts_;
    const Door door_;
    const SessionIds ids_;
    std::map<std::string, std::unique_ptr<HttpClient>, std::less<>> sessions_;
    std::unique_ptr<HttpClient> modern_;  // from the first of them on
    std::set<std::string, std::less<>> ended_;
    std::deque<std::string> ended_first_;  // in that order
    Route last_route_ = 0;
    std::uint64_t last_client_ = 0;
    core::Timer tick_;
    bool closing_ = false;
};

}  // namespace patchbay::gateway
