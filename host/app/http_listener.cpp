#include "app/http_listener.hpp"

#include "app/gateway_key.hpp"
#include "app/output.hpp"
#include "gateway/http/http_gateway.hpp"
#include "http/server.hpp"

#include <algorithm>
#include <cstdio>
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

}  // namespace

int serve_http(Session& session, const gateway::View& view, const std::string& address) {
    const auto where = http::parse_address(address);
    if (!where) return session.report(within("--http", where.error()));
    if (!where->loopback())
        return session.report(
            {ErrorCode::Invalid, "--http: " + where->host +
                                     " can be reached from other machines, and nobody who comes is "
                                     "asked who it is; listen on 127.0.0.1, [::1] or unix:PATH"});
    auto listener = http::Listener::open(*where);
    if (!listener) return session.report(within("--http", listener.error()));
    allow_descriptors();
    auto& host = session.host();
    auto key = gateway_key(default_state_directory(environment_of(session.global())));
    if (!key) return session.report(within("the key of session ids", key.error()));
    gateway::Everybody everybody(view);
    gateway::HttpGateway gateway(
        {host.callers(), session.servers(), host.catalogue(), PATCHBAY_VERSION}, std::move(*key),
        listener->address(), everybody);
    http::Server server(host.loop(), std::move(*listener), gateway);
    const auto url = server.address().url();
    print_line(where->path.empty() ? url + gateway::Everybody::kPath : url);
    std::fflush(stdout);  // somebody waits for it
    bool ending = false;
    session.wait([&] { return ending; }, [&] { ending = true; });
    gateway.close();
    server.stop();
    host.run_until([&] { return server.written(); }, core::Clock::now() + kLastWords);
    session.close();
    return kInterrupted;
}

}  // namespace patchbay::app
