// Who hears of what a host does, to count it: told by the rooms in which it happens, joined by app. Where
// nobody listens the pointer to it is null, and a call costs one comparison.
//
// Threads: [loop]. What is handed over is good within the call. Errors: none; nobody who is told may
//          throw, or call back into who tells.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace patchbay::core {

// What was asked of a server, by whatever face, once it has its outcome.
struct EndedRequest {
    std::string_view method;
    std::string_view server;  // id; empty: it ended before it was known whose it is
    std::string_view tool;    // of tools/call, as its server calls it; empty likewise
    // "ok"; "is_error": the tool says that it failed; "server_error": the server answered with a
    // JSON-RPC error; else the name of our own ErrorCode.
    std::string_view outcome;
    std::chrono::nanoseconds duration{0};
    std::size_t bytes_to_server = 0, bytes_from_server = 0;  // params and answer; 0: there was none
};

class Observer {
public:
    virtual void on_request_ended(const EndedRequest& request) = 0;
    // `state`: its word, of one of the server's connections.
    virtual void on_server_state(std::string_view server, std::string_view state) = 0;
    // It was ready, was lost and is brought up again.
    virtual void on_server_restart(std::string_view server) = 0;
    virtual void on_http_answer(unsigned status) = 0;

protected:
    ~Observer() = default;
};

}  // namespace patchbay::core
