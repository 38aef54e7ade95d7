#include "app/http_listener.hpp"

#include "app/descriptor_limit.hpp"
#include "app/entrance.hpp"
#include "app/gateway_key.hpp"
#include "app/output.hpp"
#include "app/path_watch.hpp"
#include "app/reading_pace.hpp"
#include "app/session_folder.hpp"
#include "core/text.hpp"
#include "gateway/http/cross_origin.hpp"
#include "gateway/http/http_gateway.hpp"
#include "http/server.hpp"
#include "http/tls_watch.hpp"
#include "registry/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::app {

namespace {

// By the file that is named alone in it.
TermFault fault_of_tls(const HttpTerms& terms, const Error& error) {
    const auto names = [&](const std::string& file) {
        return error.message.find("\"" + file + "\"") != std::string::npos;
    };
    const bool of_key = names(terms.said.tls_key) && !names(terms.said.tls_cert);
    return {of_key ? "--tls-key" : "--tls-cert", within("TLS", error)};
}

std::vector<std::string> files_of(const Host& host) {
    std::vector<std::string> files;
    for (const auto& each : host.candidates())
        if (each.path.starts_with('/')) files.push_back(each.path);
    return files;
}

// Who edits a file may wait for it to count, so they are told once that it does later. Of a client's file that is followed
// most changes are about something else: only what comes of them is compared.
class Edits {
public:
    Edits(Host& host, bool quiet)
        : host_(host),
          quiet_(quiet),
          begun_(host.snapshot()),
          pace_(host.loop().time()),
          pause_(host.loop()),
          watch_(host.loop(), [this] { look(); }) {
        watch_.watch(files_of(host));
    }

private:
    void look() {
        if (told_ || quiet_ || pause_.running() || watch_.is_open()) return;  // it tells of its end
        if (const auto rest = pace_.rest(); rest != rest.zero())
            return pause_.start(rest, [this] { look(); });
        const auto begun = host_.loop().now();
        const auto lines = registry::lines_of(registry::plan(*begun_, *host_.read_snapshot()));
        pace_.spend_since(begun);
        told_ = !lines.empty();
        if (!told_) return;
        const auto more =
            lines.size() > 1 ? " and " + std::to_string(lines.size() - 1) + " more" : std::string();
        say("warning: a file of the configuration has changed (" + lines.front().what + " " +
            core::printable(lines.front().whom, 200) + more +
            "); it counts when this is started anew (tokens and the files of TLS count at once)");
    }

    Host& host_;
    const bool quiet_;
    const std::shared_ptr<const registry::Snapshot> begun_;  // what this runs by
    bool told_ = false;
    ReadingPace pace_;
    core::Timer pause_;
    PathWatch watch_;
};

}  // namespace

int report_term(const Session& session, const HttpTerms& terms, const TermFault& fault) {
    const int code = session.report(terms.told(fault));
    // An address that somebody else has is no fault of the file that names it.
    const bool wrong = fault.error.code != ErrorCode::Io && terms.is_of_a_file(fault.option);
    return wrong ? int(kConfigError) : code;
}

int serve_http(Session& session, const gateway::View& view, const HttpTerms& terms,
               MetricsListener* metrics) {
    const auto plan = plan_of(terms);
    if (!plan) return report_term(session, terms, plan.error());
    auto& host = session.host();
    const auto state = default_state_directory(environment_of(session.global()));
    auto key = gateway_key(state);
    if (!key) return session.report(within("the key of session ids", key.error()));
    const auto records = session_records(host.loop(), key->kept ? state : std::string());
    std::unique_ptr<http::TlsWatch> tls;
    if (plan->tls) {
        auto opened = http::TlsWatch::open(host.loop(), terms.tls());
        if (!opened) return report_term(session, terms, fault_of_tls(terms, opened.error()));
        tls = std::move(*opened);
    }
    auto listener = http::Listener::open(plan->address);
    if (!listener) return report_term(session, terms, {"--http", listener.error()});
    const auto url = plan->url(listener->address(), gateway::Endpoints::kPath);
    using Guests = gateway::Endpoints::Guests;
    const bool asked = plan->tokens || !terms.said.oauth_issuer.empty();
    gateway::Everybody everybody(gateway::Endpoints(
        view,
        [&host](const auto& name) {
            constexpr std::string_view kBundles = "bundles/";
            return name.starts_with(kBundles)
                       ? gateway::view_of_bundle(host.config(), name.substr(kBundles.size()))
                       : gateway::view_of_agent(host.config(), name);
        },
        asked ? Guests::Strangers : Guests::Own));
    std::optional<gateway::HttpGateway> gateway;
    const auto entrance = Entrance::open(host, terms, *plan, url, state, everybody,
                                         [&](const auto& id) { gateway->dismiss(id); });
    if (!entrance) return session.report(entrance.error());
    allow_descriptors();
    const gateway::Door door(listener->address(), plan->names, plan->origins);
    gateway.emplace(
        gateway::HttpClient::Parts{host.callers(), session.servers(), host.catalogue(),
                                   PATCHBAY_VERSION, *records},
        std::move(key->text), door, (*entrance)->admission(),
        terms.said.sse ? gateway::HttpGateway::Sse::With : gateway::HttpGateway::Sse::Without);
    // In front of everything else: a page that may not come is told so before it is asked who it is.
    gateway::CrossOrigin handler(door, (*entrance)->before(*gateway, door));
    http::Server server(host.loop(), std::move(*listener), handler, {}, tls.get(),
                        metrics ? &metrics->observer() : nullptr);
    if (metrics)
        metrics->use_load([&gateway] {
            return MetricsListener::Load{gateway->sessions(), gateway->streams()};
        });
    print_line(url);
    if (terms.said.sse) print_line(plan->url(server.address(), gateway::SseClients::kStream));
    std::fflush(stdout);  // somebody waits for it
    const bool quiet = session.global().quiet;
    if (!quiet && !terms.said.public_url.empty())
        say("clients outside know it as " + terms.said.public_url);
    Edits edits(host, quiet);
    bool ending = false;
    session.wait([&] { return ending; }, [&] { ending = true; });
    // Sessions end their streams first, so that the connections have something to end with.
    gateway->close();
    server.stop();
    host.run_until([&] { return server.written(); }, core::Clock::now() + kLastWords);
    session.close();
    if (metrics) metrics->use_load([] { return MetricsListener::Load(); });
    return session.code_of_end();
}

}  // namespace patchbay::app
