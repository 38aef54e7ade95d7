#include "app/http_listener.hpp"
#include "app/metrics_listener.hpp"
#include "app/output.hpp"
#include "app/session.hpp"
#include "app/stdio_listener.hpp"
#include "app/verb.hpp"
#include "config/keys.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace patchbay::app {

namespace {

struct Wanted {
    std::string only, metrics, agent;
    std::vector<std::string> servers, tools;
    HttpTerms http;
};

// What the command line says that clients are shown; the error is for the person who wrote it.
Result<gateway::View> view_of(const Session& session, const Wanted& wanted) {
    gateway::View view;
    for (const auto& id : wanted.servers) {
        if (id.empty() || !session.servers().has(id))
            return within("--servers", session.servers().no_such_server(id));
        if (!view.picked) view.picked.emplace();
        view.picked->insert(id);
    }
    std::vector<std::string> patterns;
    for (const auto& written : wanted.tools) {
        if (const auto wrong = config::wrong_pattern(written); !wrong.empty())
            return Error{ErrorCode::Invalid, "--tools: " + wrong};
        patterns.emplace_back(core::trimmed(written));
    }
    if (!patterns.empty()) view.tools.push_back(std::move(patterns));
    if (wanted.agent.empty()) return view;
    const auto agent = gateway::view_of_agent(session.host().config(), wanted.agent);
    if (!agent) return within("--agent", agent.error());
    return view.within(*agent);
}

// What a client could not tell the person who wonders why it shows nothing, or why nothing happens.
void say_what_is_odd(const Session& session, const Wanted& wanted) {
    using connection::State;
    const auto statuses = session.servers().statuses();
    if (std::none_of(statuses.begin(), statuses.end(), [](const auto& each) {
            return each.state != State::Disabled && each.state != State::Untrusted;
        }))
        say("warning: " + session.servers().nobody_to_ask().message);
    if (wanted.http.address.empty() && ::isatty(STDIN_FILENO))
        say("this waits for an MCP client on stdin; `patchbay connect` has an agent start it");
}

int serve_verb(const GlobalOptions& global, const Wanted& wanted) {
    metrics::Metrics counted;
    std::optional<http::Listener> watched_at;
    if (!wanted.metrics.empty()) {
        auto opened = MetricsListener::open(wanted.metrics);
        if (!opened) return report(opened.error(), global);
        watched_at.emplace(std::move(*opened));
    }
    const auto session = Session::open(global, Session::Life::Long, auth::Person::Presence::Nobody,
                                       watched_at ? &counted : nullptr);
    if (!session) return kConfigError;
    session->tell_troubles();
    std::optional<MetricsListener> metrics;
    if (watched_at) {
        metrics.emplace(*session, counted, std::move(*watched_at));
        say("metrics: " + metrics->address().url() +
            (metrics->address().path.empty() ? "/metrics" : ""));
    }
    const auto& only = wanted.only;
    if (!only.empty() && !session->servers().has(only)) return session->report_no_server(only);
    auto view = view_of(*session, wanted);
    if (!view) return session->report_missing(view.error());
    view->only = only;
    if (!global.quiet) say_what_is_odd(*session, wanted);
    session->host().recall_lists();
    if (!wanted.http.address.empty())
        return serve_http(*session, *view, wanted.http, metrics ? &*metrics : nullptr);
    return StdioListener(*session, std::move(*view)).run();
}

// Who may come in; over stdio that is who started us.
void add_door_options(CLI::App& serve, HttpTerms& terms, CLI::Option* http) {
    const char* const kDoor = "Who may come in by --http";
    serve
        .add_option("--auth", terms.auth,
                    "Ask each that comes who it is: token (`patchbay token add NAME`), or none, "
                    "as it is on loopback and Unix sockets by default")
        ->type_name("none|token")
        ->check(CLI::IsMember({"none", "token"}))
        ->group(kDoor);
    serve
        .add_option("--public-url", terms.public_url,
                    "What clients outside know the endpoint as: https://HOST[:PORT]/mcp")
        ->type_name("URL")
        ->group(kDoor);
    take_each(serve, "--allow-host", terms.hosts, "HOST",
              "Another name that clients may call it by (their Host header)");
    serve.get_option("--allow-host")->group(kDoor);
    auto* certificate =
        serve
            .add_option("--tls-cert", terms.tls.certificate,
                        "Serve https with this certificate, in PEM, those up to its authority "
                        "behind it; a renewed one counts from the next connection on")
            ->type_name("FILE")
            ->group(kDoor);
    auto* key =
        serve.add_option("--tls-key", terms.tls.key, "Its private key, in PEM without a password")
            ->type_name("FILE")
            ->group(kDoor);
    certificate->needs(key);
    key->needs(certificate);
    const char* const kOauth = "Who may come in, as an authorization server says";
    const auto each = [&](const char* option, std::vector<std::string>& values, const char* type,
                          const char* what) {
        take_each(serve, option, values, type, what);
        serve.get_option(option)->group(kOauth);
    };
    each("--oauth-issuer", terms.issuers, "URL",
         "Ask each that comes for an access token (JWT) of this authorization server");
    each("--oauth-scope", terms.scopes, "SCOPE", "That a token needs");
    serve
        .add_option("--oauth-audience", terms.audience,
                    "That a token names, in place of the URL of the endpoint (--public-url)")
        ->type_name("TEXT")
        ->group(kOauth);
    serve
        .add_option("--oauth-keys", terms.keys,
                    "Where the issuer's keys are (JWK set), in place of what its metadata says")
        ->type_name("URL|FILE")
        ->group(kOauth);
    serve
        .add_flag("--allow-plain", terms.allow_plain,
                  "Beyond this machine without TLS, which something in front of it does")
        ->group(kDoor);
    for (const char* option :
         {"--auth", "--public-url", "--allow-host", "--allow-plain", "--tls-cert", "--tls-key",
          "--oauth-issuer", "--oauth-scope", "--oauth-audience", "--oauth-keys"})
        serve.get_option(option)->needs(http);
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
    auto* http = serve.add_option(
        "--http", wanted->http.address,
        "Serve over HTTP, at 127.0.0.1:PORT, [::1]:PORT or unix:PATH (port 0: any; the URL is "
        "printed), until a signal comes; at any other address with tokens and TLS alone");
    serve
        .add_flag("--sse", wanted->http.sse,
                  "Also the older transport, HTTP with SSE of 2024-11-05, at /sse (its URL is "
                  "printed below the other)")
        ->needs(http);
    add_door_options(serve, wanted->http, http);
    serve.add_option(
        "--metrics", wanted->metrics,
        "Beside it, at another address of this machine: /metrics, what Prometheus reads, and "
        "/healthz, 200 while it serves");
    serve
        .add_option("--servers", wanted->servers,
                    "These servers alone (their IDs, with commas between them); the others are not "
                    "started")
        ->delimiter(',')
        ->allow_extra_args(false);
    take_each(
        serve, "--tools", wanted->tools, "PATTERN",
        "These tools alone: a public name, or the beginning of some with * at its end. Prompts "
        "and resources of a server are there where mcp__ID__ fits");
    serve.add_option("--agent", wanted->agent,
                     "What the agent of that name is shown, as [agents.NAME] says; over HTTP each "
                     "has its own endpoint, /mcp/NAME");
    auto* only =
        serve.add_option("--only", wanted->only,
                         "This server alone (its ID), with the names that it has itself: a bridge "
                         "between transports and protocol eras");
    for (const auto* other : {"--servers", "--tools", "--agent"})
        only->excludes(serve.get_option(other));
    choice.on(serve, [wanted](const auto& global) { return serve_verb(global, *wanted); });
}

}  // namespace patchbay::app
