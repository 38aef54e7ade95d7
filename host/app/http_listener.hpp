// `patchbay serve --http`: an MCP server over HTTP, for the programs of this machine or, with tokens,
// for others.
//
// Threads: [loop]. Prints the URL of its endpoint on stdout, once it listens, and
//          below it that of the older transport, where that is wanted.
// Errors:  reported; the exit code says which.
// Limits:  http::Limits, gateway::HttpGateway, gateway::FailedAttempts.
#pragma once

#include "app/http_terms.hpp"
#include "app/metrics_listener.hpp"
#include "app/session.hpp"
#include "gateway/view.hpp"

namespace patchbay::app {

// Reports what is wrong with what was said; returns the exit code, which is that of a wrong configuration
// where a file said it.
int report_term(const Session& session, const HttpTerms& terms, const TermFault& fault);

// Until a signal comes; returns the exit code. `metrics`: null where nobody counts.
int serve_http(Session& session, const gateway::View& view, const HttpTerms& terms,
               MetricsListener* metrics);

}  // namespace patchbay::app
