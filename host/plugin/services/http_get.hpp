// What the host itself fetches, by the same service that its plugins use: a text at a URL.
//
// Threads: [loop].
// Errors:  of the service, and Unavailable for an answer that is none of 200.
#pragma once

#include "core/loop.hpp"
#include "core/result.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace patchbay::plugin {

class HttpService;

struct HttpGet {
    std::string url;
    // On whose behalf: then only https (http to this machine), and addresses no closer to us than that
    // one's.
    std::string beside;
    std::chrono::milliseconds timeout{10'000};
    std::size_t most_bytes = 1u << 20;
};
using Got = std::function<void(Result<std::string>)>;

// `then` is called once, in a later turn.
void http_get(HttpService& service, core::Loop& loop, const HttpGet& wanted, Got then);

}  // namespace patchbay::plugin
