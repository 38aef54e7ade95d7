#include "app/http_listener.hpp"
#include "app/session.hpp"
#include "app/stdio_listener.hpp"
#include "app/verb.hpp"

#include <memory>

namespace patchbay::app {

namespace {

struct Wanted {
    std::string only, http;
};

int serve_verb(const GlobalOptions& global, const Wanted& wanted) {
    const auto session = Session::open(global, Session::Life::Long);
    if (!session) return kConfigError;
    session->tell_troubles();
    const auto& only = wanted.only;
    if (!only.empty() && !session->servers().has(only)) return session->report_no_server(only);
    if (!wanted.http.empty()) return serve_http(*session, {only}, wanted.http);
    return StdioListener(*session, {only}).run();
}

}  // namespace

void add_serve_verb(CLI::App& app, Choice& choice) {
    const auto wanted = std::make_shared<Wanted>();
    auto& serve = add_verb(
        app, "serve", "Be one MCP server, over stdio or HTTP, in front of all that are configured",
        "  In the configuration of an agent, in place of all its servers:\n"
        "  {\"mcpServers\": {\"patchbay\": {\"command\": \"patchbay\", \"args\": [\"serve\"]}}}\n"
        "  For several clients at once: patchbay serve --http 127.0.0.1:8808, and in each of them\n"
        "  {\"mcpServers\": {\"patchbay\": {\"type\": \"http\", \"url\": "
        "\"http://127.0.0.1:8808/mcp\"}}}");
    serve.add_option(
        "--http", wanted->http,
        "Serve the programs of this machine over HTTP, at 127.0.0.1:PORT, [::1]:PORT or "
        "unix:PATH (port 0: any; the URL is printed), until a signal comes");
    serve.add_option("--only", wanted->only,
                     "This server alone (its ID), with the names that it has itself: a bridge "
                     "between transports and protocol eras");
    choice.on(serve, [wanted](const auto& global) { return serve_verb(global, *wanted); });
}

}  // namespace patchbay::app
