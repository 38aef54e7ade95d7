// What a server has asked of us and has not got yet: the requests that somebody still thinks about,
// and the answers that have not left. A server that asks without reading ends here.
//
// Threads: [loop]. Errors: Limit, with what the server did.
// Limits:  core::Limits server_requests and server_request_bytes.
#pragma once

#include "connection/reply.hpp"
#include "core/limits.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <unordered_map>

namespace patchbay::connection {

class ServerRequests {
public:
    explicit ServerRequests(const core::Limits& limits) : limits_(limits) {}

    // A request came; its answer will leave as `exchange`.
    Result<void> add(RequestId exchange, std::size_t bytes);
    // Its answer of that size is about to leave. False: the channel that asked is gone.
    Result<bool> answer(RequestId exchange, std::size_t bytes);
    // The answer has left, or never will.
    void done(RequestId exchange);
    void clear();

private:
    Result<void> judge() const;

    const core::Limits& limits_;
    std::unordered_map<RequestId, std::size_t> open_;
    std::size_t bytes_ = 0;
};

}  // namespace patchbay::connection
