// What one request to a server ended with, and how its asker hears of it.
//
// Threads: [loop]. Errors: Result's error is the host's own (time-out, server gone, denied); an
// error that the server answered is a Reply with `error`, passed on unchanged.
#pragma once

#include "connection/question.hpp"
#include "core/buffer.hpp"
#include "core/loop.hpp"
#include "core/result.hpp"
#include "protocol/envelope.hpp"
#include "protocol/http_headers.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

struct Reply {
    core::Buffer message;     // owns the bytes that the views below look into
    std::string_view result;  // raw JSON; empty when the server answered an error
    std::string_view error;   // raw JSON-RPC error object; empty when it answered a result
    bool is_error = false;    // result.isError is true
    bool is_task = false;     // the result tells of a task that was begun; its request takes them
};

using ReplyHandler = std::function<void(Result<Reply>)>;  // called exactly once, never from inside
                                                          // the call that was given it
struct Progress {
    double progress = 0;
    std::optional<double> total;
    std::string message;  // printable
    // All of its params, raw, as they were written; good within the call.
    std::string_view params = {};
};
using ProgressHandler = std::function<void(const Progress&)>;

// Headers that a client's HTTP request came with, by names in lower case, as far as the configuration of
// any server names them; null: none.
using ClientHeaders = std::shared_ptr<const std::vector<protocol::MessageHeader>>;

struct Request {
    std::string method;
    protocol::Params params;               // raw; the era's `_meta` is added on the way out
    std::chrono::milliseconds timeout{0};  // wall clock; 0: the server's own for the method
    ProgressHandler on_progress;           // empty: no progressToken is sent
    std::optional<core::Clock::time_point> begun = {};  // of the time-out; unset: now
    Reference reference = 0;
    // Raw: what a modern server is told of its client; empty: what it is told of all.
    std::string capabilities = {};
    ClientHeaders client_headers = {};
    // How much of what is logged for it is wanted, as protocol::kLogLevels; empty: what its caller wants
    // to hear of all (Connection::set_log_level).
    std::string log_level = {};
    std::uint64_t number =
        0;  // of whoever judges it again before another session gets it; 0: nobody does
};

using RequestId = std::uint64_t;  // of one connection; never 0, never reused

}  // namespace patchbay::connection
