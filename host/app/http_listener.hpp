// `patchbay serve --http`: an MCP server over HTTP, for the programs of this machine or, with tokens,
// for others.
//
// Threads: [loop]. Prints the URL of its endpoint on stdout, once it listens, and
//          below it that of the older transport, where that is wanted.
// Errors:  reported; the exit code says which.
// Limits:  http::Limits, gateway::HttpGateway, gateway::FailedAttempts.
#pragma once

#include "app/metrics_listener.hpp"
#include "app/session.hpp"
#include "gateway/view.hpp"
#include "http/tls.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

struct HttpTerms {
    std::string address;
    std::string auth;                // "none", "token"; empty: none on loopback, token elsewhere
    std::string public_url;          // of the endpoint, as clients know it
    std::vector<std::string> hosts;  // other names that clients call it by
    http::TlsFiles tls;              // both empty: none
    bool allow_plain = false;        // beyond this machine without TLS
    bool sse = false;                // the older transport beside it
};

// Until a signal comes; returns the exit code. `metrics`: null where nobody counts.
int serve_http(Session& session, const gateway::View& view, const HttpTerms& terms,
               MetricsListener* metrics);

}  // namespace patchbay::app
