// `patchbay serve --http`: an MCP server over HTTP for the programs of this machine.
//
// Threads: [loop]. Prints the URL of its endpoint on stdout, once it listens.
// Errors:  reported; the exit code says which.
// Limits:  http::Limits, gateway::HttpGateway.
#pragma once

#include "app/session.hpp"
#include "gateway/view.hpp"

#include <string>

namespace patchbay::app {

// Until a signal comes; returns the exit code.
int serve_http(Session& session, const gateway::View& view, const std::string& address);

}  // namespace patchbay::app
