#include "app/client_relay.hpp"
#include "app/http_listener.hpp"
#include "app/local_caller.hpp"
#include "app/look_for_host.hpp"
#include "app/metrics_listener.hpp"
#include "app/output.hpp"
#include "app/required_servers.hpp"
#include "app/rule_teller.hpp"
#include "app/session.hpp"
#include "app/shown_view.hpp"
#include "app/stdio_listener.hpp"
#include "app/verb.hpp"
#include "config/agents.hpp"
#include "config/approval.hpp"
#include "config/bundles.hpp"
#include "core/text.hpp"
#include "policy/unmatched_rules.hpp"
#include "service/servers.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace patchbay::app {

namespace {

struct Wanted : Shown {
    bool stdio = false;
    config::ListenerSettings typed;
    std::set<std::string> given;  // options that `typed` has the values of

    boost::system::result<HttpTerms, TermFault> terms(const config::Config& config) const {
        return terms_of(config, typed, given, stdio ? Over::Stdio : Over::Whichever);
    }
};

// Also where it does not count, as in a file of a project. `approvals` and the like are of stdio too.
bool says_how_to_listen(const config::Config& config, const HttpTerms& terms) {
    const auto options = listener_options();
    const auto is_of_it = [&](const config::Diagnostic& each) {
        return std::any_of(options.begin(), options.end(), [&](const auto& option) {
            return each.message.starts_with(gateway_key_of(option) + ":");
        });
    };
    const std::size_t of_metrics = terms.is_of_a_file("--metrics");
    return terms.places.size() > of_metrics ||
           std::any_of(config.diagnostics.begin(), config.diagnostics.end(), is_of_it);
}

// Each client starts one of us over stdio: they would be in each other's way at the address of a file.
void say_where_metrics_are(const config::Config& config, const HttpTerms& terms) {
    const auto place = terms.places.find("--metrics");
    if (place == terms.places.end() || config.gateway.listener.metrics.empty()) return;
    const auto address = metrics_address(config.gateway.listener.metrics);
    say("warning: " + config::to_string(place->second) + ": gateway.metrics" +
        (address ? " counts over HTTP alone; over stdio say --metrics ADDRESS"
                 : ": " + address.error().message));
}

// What a client could not tell the person who wonders why it shows nothing, or why nothing happens.
void say_what_is_odd(const Session& session, const HttpTerms& terms, bool asked_for_stdio) {
    using connection::State;
    const auto statuses = session.servers().statuses();
    if (std::none_of(statuses.begin(), statuses.end(), [](const auto& each) {
            return each.state != State::Disabled && each.state != State::Untrusted;
        }))
        say("warning: " + session.servers().nobody_to_ask().message);
    if (terms.said.http.empty()) {
        // Whoever writes how to listen means to, and a service would look as if it did.
        if (!asked_for_stdio && says_how_to_listen(session.host().config(), terms))
            say("warning: this serves over stdio, since [gateway] names no address that can be "
                "used; it takes http = \"127.0.0.1:8808\", or say --http, or --stdio where this "
                "is meant");
        if (!asked_for_stdio) say_where_metrics_are(session.host().config(), terms);
        if (::isatty(STDIN_FILENO))
            say("this waits for an MCP client on stdin; `patchbay connect` has an agent start it");
        return;
    }
    // A client that started us would wait for ever.
    if (const auto place = terms.places.find("--http"); place != terms.places.end())
        say("over HTTP, as " + config::to_string(place->second) +
            " says; a client that starts patchbay itself needs `patchbay serve --stdio`");
}

// Of `http` that cannot be read, or of a key by nearly that name.
bool is_of_the_address(const config::Diagnostic& each) {
    if (config::from_project(each.place.scope) || each.severity != config::Severity::Error)
        return false;
    const auto& told = each.message;
    const auto hint = told.find(" in [gateway]; did you mean ");
    return told.starts_with(gateway_key_of("--http") + ":") ||
           (hint != told.npos && told.find("\"http\"", hint) != told.npos);
}

// Nobody comes in by a table that may have been meant to keep them out; and whoever wrote where to listen
// would take what serves over stdio for what does.
Result<void> check_readable(const config::Config& config, const HttpTerms& terms,
                            bool asked_for_stdio) {
    const auto& all = config.diagnostics;
    const auto& fault = config.gateway.fault;
    const bool listens = !terms.said.http.empty();
    const bool meant_to =
        !asked_for_stdio && std::any_of(all.begin(), all.end(), is_of_the_address);
    if (fault.empty() || (!listens && !meant_to)) return {};
    const bool told = std::any_of(all.begin(), all.end(), [&](const auto& each) {
        return config::sentence_of(each) == fault;
    });
    const std::string what = told ? "[gateway] cannot be read" : fault;
    if (listens)
        return Error{ErrorCode::Invalid, what + "; nobody is let in by HTTP until that is mended"};
    return Error{ErrorCode::Invalid,
                 what +
                     ", where it would say where to listen: http = \"127.0.0.1:8808\"; mend "
                     "that, or say --http or --stdio"};
}

// What is required starts as its client comes.
int serve_one(Session& session, gateway::View view) {
    session.host().end_without_required();
    return StdioListener(session, std::move(view)).run();
}

// Before there is a client it is found out whether what is required starts. It is nobody's, so a server
// that each client has for itself is ended again.
bool try_required(Session& session) {
    const LocalCaller nobody(session.host().callers(),
                             {core::Principal::Kind::Person, {}, {}, core::Trust::NeedsApproval},
                             connection::Responder(session.host().config().client, {}));
    return connect_required(session, nobody);
}

// Nobody but this command is told of its options. What the host's servers have listed is kept for who comes later.
void say_what_is_shown_of_nothing(Session& session, const Wanted& wanted) {
    if (session.global().quiet) return;
    session.host().recall_lists();
    const auto& config = session.host().config();
    const auto known =
        service::known_tools(session.host().connections(), session.host().catalogue());
    if (!wanted.tools.empty())
        print_diagnostics(policy::unmatched_patterns(config, known, "--tools", wanted.tools),
                          false);
    if (const auto bundle = config::bundle_named(config.bundles, wanted.bundle))
        print_diagnostics(policy::unmatched_in_bundle(config, known, **bundle), false);
}

// A client that is shown nothing looks as one whose servers have no tools.
void say_what_is_not_there(const Session& session, const Wanted& wanted,
                           const gateway::View& view) {
    const auto& config = session.host().config();
    if (const auto agent = config::agent_named(config, wanted.agent))
        print_diagnostics(config::missing_servers(config, **agent), false);
    if (const auto bundle = config::bundle_named(config.bundles, wanted.bundle))
        print_diagnostics(config::missing_servers(config, **bundle), false);
    const auto& connections = session.host().connections();
    if (!view.all() && !connections.ids().empty() && view.servers(connections).empty())
        say("warning: a client is shown nothing: no server that is in force is in what --agent, "
            "--bundle, --servers and --tools leave; patchbay mcp list shows which there are");
}

// The configuration decides whether anybody counts, and who counts is told to the host as it is made: so
// that is asked in between. Sockets are opened after it is read, but before a client can come.
int serve_verb(const GlobalOptions& global, const Wanted& wanted) {
    metrics::Metrics counted;
    const auto observe = [&](const config::Config& config) -> core::Observer* {
        const auto terms = wanted.terms(config);
        return terms && !terms->said.metrics.empty() ? &counted : nullptr;
    };
    const auto session =
        Session::open(global, Session::Life::Long, auth::Person::Presence::Nobody, observe);
    if (!session) return kConfigError;
    session->troubles().tell_all();
    const auto& config = session->host().config();
    const auto terms = wanted.terms(config);
    if (!terms) return report_term(*session, {}, terms.error());
    if (const auto readable = check_readable(config, *terms, wanted.stdio); !readable) {
        session->report(readable.error());
        return kConfigError;
    }
    std::optional<MetricsListener> metrics;
    if (!terms->said.metrics.empty()) {
        auto opened = MetricsListener::open(terms->said.metrics);
        if (!opened) return report_term(*session, *terms, {"--metrics", opened.error()});
        metrics.emplace(*session, counted, std::move(*opened));
        say("metrics: " + metrics->address().url() +
            (metrics->address().path.empty() ? "/metrics" : ""));
    }
    auto view = view_of(session->servers(), wanted);
    if (!view) return session->report_missing(view.error());
    if (!global.quiet) say_what_is_odd(*session, *terms, wanted.stdio);
    if (!global.quiet) say_what_is_not_there(*session, wanted, *view);
    if (terms->said.http.empty() && !metrics) {
        const auto line = host_for_client(*session, wanted);
        if (!line) return session->report(line.error());
        if (*line) {
            say_what_is_shown_of_nothing(*session, wanted);
            return ClientRelay(*session, **line).run();
        }
    } else if (global.verbose) {
        say("no running host is asked: serve --http and --metrics have a host of their own");
    }
    // The first client is offered what servers listed for an earlier host, before they are there.
    session->host().recall_lists();
    session->host().tell_of_servers();
    std::optional<RuleTeller> rules;
    if (!global.quiet) rules.emplace(*session, wanted.tools);
    std::optional<int> code;
    if (terms->said.http.empty())
        code = serve_one(*session, std::move(*view));
    else if (try_required(*session))
        code = serve_http(*session, *view, *terms, metrics ? &*metrics : nullptr);
    const auto& why = session->host().why_ended();
    return why ? session->report(*why) : code ? *code : session->code_of_end();
}

// Who may come in; over stdio that is who started us.
void add_door_options(CLI::App& serve, config::ListenerSettings& typed) {
    const char* const kDoor = "Who may come in by --http";
    const auto one = [&](const char* option, std::string& value, const char* type,
                         const char* what) {
        return serve.add_option(option, value, what)->type_name(type)->group(kDoor);
    };
    const auto each = [&](const char* option, std::vector<std::string>& values, const char* type,
                          const char* what) {
        take_each(serve, option, values, type, what);
        return serve.get_option(option)->group(kDoor);
    };
    one("--auth", typed.auth, "none|token",
        "Ask each that comes who it is: token (`patchbay token add NAME`), or none, "
        "as it is on loopback and Unix sockets by default (auto)")
        ->check(CLI::IsMember({"none", "token", "auto"}));
    one("--public-url", typed.public_url, "URL",
        "What clients outside know the endpoint as: https://HOST[:PORT]/mcp");
    each("--allow-host", typed.allow_host, "HOST",
         "Another name that clients may call it by (their Host header)");
    each("--allow-origin", typed.allow_origin, "ORIGIN",
         "Whose pages of the web may use it from a browser "
         "(https://app.example.org); those "
         "of its own names may anyway. Where nobody is asked for a token, such a page may do all "
         "that you may");
    one("--tls-cert", typed.tls_cert, "FILE",
        "Serve https with this certificate, in PEM, those up to its authority "
        "behind it; a renewed one counts from the next connection on");
    one("--tls-key", typed.tls_key, "FILE", "Its private key, in PEM without a password");
    serve
        .add_flag("--allow-plain", typed.allow_plain,
                  "Beyond this machine without TLS, which something in front of it does")
        ->group(kDoor);
    const char* const kOauth = "Who may come in, as an authorization server says";
    each("--oauth-issuer", typed.oauth_issuer, "URL",
         "Ask each that comes for an access token (JWT) of this authorization server")
        ->group(kOauth);
    each("--oauth-scope", typed.oauth_scope, "SCOPE", "That a token needs")->group(kOauth);
    one("--oauth-audience", typed.oauth_audience, "TEXT",
        "That a token names, in place of the URL of the endpoint (--public-url)")
        ->group(kOauth);
    one("--oauth-keys", typed.oauth_keys, "URL|FILE",
        "Where the issuer's keys are (JWK set), in place of what its metadata says")
        ->group(kOauth);
}

}  // namespace

void add_serve_verb(CLI::App& app, Choice& choice) {
    const auto wanted = std::make_shared<Wanted>();
    auto& serve = add_verb(
        app, "serve", "Be one MCP server, over stdio or HTTP, in front of all that are configured",
        "  In the configuration of an agent, in place of all its servers:\n"
        "  {\"mcpServers\": {\"patchbay\": {\"command\": \"patchbay\", \"args\": [\"serve\", "
        "\"--stdio\"]}}}\n"
        "  For several clients at once: patchbay serve --http 127.0.0.1:8808, and in each of them\n"
        "  {\"mcpServers\": {\"patchbay\": {\"type\": \"http\", \"url\": "
        "\"http://127.0.0.1:8808/mcp\"}}}\n"
        "  patchbay serve             over HTTP, where http in [gateway] of the configuration says "
        "so\n"
        "Each option of the listener, and of who may come in, is a key of [gateway] too: "
        "--tls-cert is\n"
        "tls_cert. Options count before files. SIGTERM ends it with exit code 0, SIGINT and "
        "SIGHUP\n"
        "with 130.");
    auto* http = serve.add_option(
        "--http", wanted->typed.http,
        "Serve over HTTP, at 127.0.0.1:PORT, [::1]:PORT or unix:PATH (port 0: any; the URL is "
        "printed), until a signal comes; at any other address of this machine (0.0.0.0:PORT is all "
        "of them) with tokens and TLS alone");
    serve
        .add_flag("--stdio", wanted->stdio,
                  "Over stdin and stdout, as it is where no http in [gateway] says otherwise")
        ->excludes(http);
    serve.add_flag("--sse", wanted->typed.sse,
                   "Also the older transport, HTTP with SSE of 2024-11-05, at /sse (its URL is "
                   "printed below the other)");
    add_door_options(serve, wanted->typed);
    serve.add_option(
        "--metrics", wanted->typed.metrics,
        "Beside it, at another address of this machine: /metrics, what Prometheus reads, and "
        "/healthz, 200 while it serves");
    serve
        .add_option("--servers", wanted->servers,
                    "These servers alone (their IDs, with commas between them); the others are not "
                    "started")
        ->type_name("ID,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    take_each(
        serve, "--tools", wanted->tools, "PATTERN",
        "These tools alone: a public name, or the beginning of some with * at its end. Prompts "
        "and resources of a server are there where mcp__ID__ fits");
    serve
        .add_option("--agent", wanted->agent,
                    "What the agent of that name is shown, as [agents.NAME] says; over HTTP each "
                    "has its own endpoint, /mcp/NAME")
        ->type_name("AGENT");
    serve
        .add_option(
            "--bundle", wanted->bundle,
            "What the bundle of that name holds, as [bundles.NAME] says; over HTTP each has "
            "its own endpoint, /mcp/bundles/NAME")
        ->type_name("BUNDLE");
    // Its names are not public ones, which the others go by.
    auto* only =
        serve
            .add_option("--only", wanted->only,
                        "This server alone (its ID), with the names that it has itself: a bridge "
                        "between transports and protocol eras")
            ->type_name("ID");
    for (const auto* other : {"--servers", "--tools", "--agent", "--bundle"})
        only->excludes(serve.get_option(other));
    choice.on(serve, [wanted, &serve](const auto& global) {
        for (const auto& option : listener_options())
            if (serve.count(option) > 0) wanted->given.insert(option);
        return serve_verb(global, *wanted);
    });
}

}  // namespace patchbay::app
