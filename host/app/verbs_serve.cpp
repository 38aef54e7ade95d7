#include "app/session.hpp"
#include "app/stdio_listener.hpp"
#include "app/verb.hpp"

namespace patchbay::app {

namespace {

int serve_verb(const GlobalOptions& global) {
    const auto session = Session::open(global, Session::Life::Long);
    if (!session) return kConfigError;
    session->tell_troubles();
    return StdioListener(*session).run();
}

}  // namespace

void add_serve_verb(CLI::App& app, Choice& choice) {
    auto& serve = add_verb(
        app, "serve", "Be one MCP server over stdio, in front of all that are configured",
        "  In the configuration of an agent, in place of all its servers:\n"
        "  {\"mcpServers\": {\"patchbay\": {\"command\": \"patchbay\", \"args\": [\"serve\"]}}}");
    choice.on(serve, serve_verb);
}

}  // namespace patchbay::app
