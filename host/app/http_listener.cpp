#include "app/http_listener.hpp"

#include "app/gateway_key.hpp"
#include "app/output.hpp"
#include "app/session_folder.hpp"
#include "gateway/access/bearer_admission.hpp"
#include "gateway/access/known_tokens.hpp"
#include "gateway/access/listening.hpp"
#include "gateway/http/http_gateway.hpp"
#include "http/server.hpp"
#include "http/tls_watch.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sys/resource.h>

namespace patchbay::app {

namespace {

constexpr std::chrono::seconds kLastWords{1};  // then nobody reads them
constexpr rlim_t kDescriptors = 16'384;        // a client may hold several connections

// As many as we may have: the usual 1,024 are fewer than there may be clients.
void allow_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptors) return;
    limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// What the options come to.
struct Plan {
    http::Address address;
    bool tokens = false, tls = false;
    std::vector<std::string> names;
};

Result<Plan> plan_of(const HttpTerms& terms) {
    Plan plan;
    const auto address = http::parse_address(terms.address);
    if (!address) return within("--http", address.error());
    plan.address = *address;
    if (!terms.public_url.empty()) {
        const auto url = gateway::parse_web_url(terms.public_url);
        if (!url) return within("--public-url", url.error());
        plan.names.push_back(url->host);
    }
    for (const auto& each : terms.hosts) {
        auto host = gateway::parse_host(each);
        if (!host) return within("--allow-host", host.error());
        plan.names.push_back(std::move(*host));
    }
    plan.tokens = terms.auth == "token" || (terms.auth.empty() && !address->loopback());
    using gateway::Asks;
    using gateway::Carried;
    plan.tls = !terms.tls.certificate.empty();
    if (plan.tls && !address->path.empty())
        return Error{ErrorCode::Invalid, "--tls-cert: a Unix socket has no TLS"};
    const auto carried = plan.tls            ? Carried::Tls
                         : terms.allow_plain ? Carried::PlainAnyway
                                             : Carried::Plain;
    const auto may = gateway::may_listen(plan.address, plan.tokens ? Asks::Everybody : Asks::Nobody,
                                         carried, plan.names);
    if (!may) return within("--http", may.error());
    return plan;
}

// Who comes in: whoever comes, or those with a token.
class Entrance {
public:
    Entrance(core::Loop& loop, gateway::Admission& everybody,
             std::function<void(const std::string&)> gone)
        : loop_(loop), everybody_(everybody), gone_(std::move(gone)) {}

    Result<void> take_tokens(const std::string& state_directory) {
        const gateway::TokenFile file(state_directory);
        auto read = file.read_unless({});
        if (!read) return read.error();
        if ((*read)->tokens.all().empty())
            say("nobody has a token yet, so nobody can come in; patchbay token add NAME");
        tokens_.emplace(loop_, file, std::move(**read), gateway::Challenge(), gone_);
        asked_.emplace(loop_.time(), everybody_, std::vector<gateway::TokenJudge*>{&*tokens_},
                       gateway::Challenge());
        return {};
    }
    gateway::Admission& admission() {
        return asked_ ? static_cast<gateway::Admission&>(*asked_) : everybody_;
    }

private:
    core::Loop& loop_;
    gateway::Admission& everybody_;
    const std::function<void(const std::string&)> gone_;
    std::optional<gateway::KnownTokens> tokens_;
    std::optional<gateway::BearerAdmission> asked_;
};

std::string url_of(const http::Address& address, bool tls, const char* path) {
    auto url = address.url();
    if (!address.path.empty()) return url;
    if (tls) url.insert(std::string_view("http").size(), "s");
    return url + path;
}

}  // namespace

int serve_http(Session& session, const gateway::View& view, const HttpTerms& terms,
               MetricsListener* metrics) {
    const auto plan = plan_of(terms);
    if (!plan) return session.report(plan.error());
    auto& host = session.host();
    const auto state = default_state_directory(environment_of(session.global()));
    auto key = gateway_key(state);
    if (!key) return session.report(within("the key of session ids", key.error()));
    const auto records = session_records(host.loop(), state);
    gateway::Everybody everybody(view);
    std::optional<gateway::HttpGateway> gateway;
    Entrance entrance(host.loop(), everybody, [&](const auto& id) { gateway->dismiss(id); });
    if (plan->tokens)
        if (const auto taken = entrance.take_tokens(state); !taken)
            return session.report(within("--auth token", taken.error()));
    std::unique_ptr<http::TlsWatch> tls;
    if (plan->tls) {
        auto opened = http::TlsWatch::open(host.loop(), terms.tls);
        if (!opened) return session.report(within("TLS", opened.error()));
        tls = std::move(*opened);
    }
    auto listener = http::Listener::open(plan->address);
    if (!listener) return session.report(within("--http", listener.error()));
    allow_descriptors();
    gateway.emplace(
        gateway::HttpClient::Parts{host.callers(), session.servers(), host.catalogue(),
                                   PATCHBAY_VERSION, *records},
        std::move(*key), gateway::Door(listener->address(), plan->names), entrance.admission(),
        terms.sse ? gateway::HttpGateway::Sse::With : gateway::HttpGateway::Sse::Without);
    http::Server server(host.loop(), std::move(*listener), *gateway, {}, tls.get(),
                        metrics ? &metrics->observer() : nullptr);
    if (metrics)
        metrics->use_load([&gateway] {
            return MetricsListener::Load{gateway->sessions(), gateway->streams()};
        });
    print_line(url_of(server.address(), plan->tls, gateway::Everybody::kPath));
    if (terms.sse && plan->address.path.empty())
        print_line(url_of(server.address(), plan->tls, gateway::SseClients::kStream));
    std::fflush(stdout);  // somebody waits for it
    bool ending = false;
    session.wait([&] { return ending; }, [&] { ending = true; });
    gateway->close();
    server.stop();
    host.run_until([&] { return server.written(); }, core::Clock::now() + kLastWords);
    session.close();
    if (metrics) metrics->use_load([] { return MetricsListener::Load(); });
    return kInterrupted;
}

}  // namespace patchbay::app
