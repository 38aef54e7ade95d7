#include "app/session.hpp"
#include "app/stdio_listener.hpp"
#include "app/verb.hpp"

#include <memory>

namespace patchbay::app {

namespace {

int serve_verb(const GlobalOptions& global, const std::string& only) {
    const auto session = Session::open(global, Session::Life::Long);
    if (!session) return kConfigError;
    session->tell_troubles();
    if (!session->servers().has(only)) return session->report_no_server(only);
    return StdioListener(*session, {only}).run();
}

}  // namespace

void add_serve_verb(CLI::App& app, Choice& choice) {
    const auto only = std::make_shared<std::string>();
    auto& serve = add_verb(
        app, "serve", "Be one MCP server over stdio, in front of all that are configured",
        "  In the configuration of an agent, in place of all its servers:\n"
        "  {\"mcpServers\": {\"patchbay\": {\"command\": \"patchbay\", \"args\": [\"serve\"]}}}");
    serve.add_option("--only", *only,
                     "This server alone (its ID), with the names that it has itself: a bridge "
                     "between transports and protocol eras");
    choice.on(serve, [only](const auto& global) { return serve_verb(global, *only); });
}

}  // namespace patchbay::app
