// `patchbay serve --metrics`: what is counted and how the host fares, for who watches it, on an address
// of its own: /metrics for Prometheus, /healthz for whoever restarts what is not well.
//
// Borrows the session, the metrics and what `load` refers to, which must outlive it.
// Threads: [loop].
// Errors:  an HTTP status; who is not of this machine is kept out as the gateway does.
// Limits:  kConnections, kBodyBytes; else those of http::Limits.
#pragma once

#include "app/session.hpp"
#include "gateway/http/door.hpp"
#include "http/server.hpp"
#include "metrics/metrics.hpp"

#include <functional>
#include <memory>
#include <string>

namespace patchbay::app {

class MetricsListener final : http::Handler {
public:
    // How many sessions and streams clients have.
    struct Load {
        std::size_t sessions = 0, streams = 0;
    };

    static constexpr std::size_t kConnections = 64, kBodyBytes = 64u << 10;

    // Not opened: `address` can be reached from elsewhere, or is taken.
    static Result<http::Listener> open(const std::string& address);
    MetricsListener(Session& session, metrics::Metrics& metrics, http::Listener listener);

    const http::Address& address() const { return server_.address(); }
    core::Observer& observer() { return metrics_; }
    // Where nobody tells it there is one session, as over stdio.
    void use_load(std::function<Load()> load) { load_ = std::move(load); }

private:
    void on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) override;
    metrics::Now now() const;
    std::string health() const;

    Session& session_;
    metrics::Metrics& metrics_;
    const gateway::Door door_;
    std::function<Load()> load_ = [] { return Load{1, 0}; };
    http::Server server_;
};

}  // namespace patchbay::app
