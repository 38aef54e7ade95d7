#include "app/metrics_listener.hpp"

#include "app/http_terms.hpp"

#include <array>

namespace patchbay::app {
namespace json = boost::json;
using connection::State;

namespace {

constexpr std::array kMeasuredStates{
    State::Disabled, State::Idle,         State::Connecting, State::AuthRequired, State::Ready,
    State::Error,    State::Reconnecting, State::Stopped,    State::Failed,       State::Untrusted};

void refuse(http::Exchange& exchange, unsigned status, const std::string& why) {
    http::Headers headers{{"Content-Type", "text/plain; charset=utf-8"}};
    if (status == 405) headers.emplace_back("Allow", "GET, HEAD");
    exchange.answer(status, headers, why + "\n");
}

std::map<std::string, std::size_t> count_states(const std::vector<connection::Status>& statuses) {
    std::map<std::string, std::size_t> counts;
    for (const auto& status : statuses) ++counts[connection::name_of(status.state)];
    return counts;
}

http::Limits limits() {
    http::Limits limits;
    limits.connections = MetricsListener::kConnections;
    limits.body_bytes = limits.all_body_bytes = MetricsListener::kBodyBytes;
    return limits;
}

}  // namespace

Result<http::Listener> MetricsListener::open(const std::string& address) {
    const auto where = metrics_address(address);
    if (!where) return where.error();
    return http::Listener::open(*where);
}

MetricsListener::MetricsListener(Session& session, metrics::Metrics& metrics,
                                 http::Listener listener)
    : session_(session),
      metrics_(metrics),
      door_(listener.address()),
      server_(session.host().loop(), std::move(listener), *this, limits()) {}

void MetricsListener::on_request(std::shared_ptr<http::Exchange> exchange, http::Request request) {
    if (const auto refused = door_.refuses(request))
        return refuse(*exchange, refused->status, refused->message);
    const auto path = request.target.substr(0, request.target.find('?'));
    if (path != "/metrics" && path != "/healthz")
        return refuse(*exchange, 404, "there is nothing here but /metrics and /healthz");
    if (request.method != "GET" && request.method != "HEAD")
        return refuse(*exchange, 405, "only GET and HEAD lead anywhere here");
    if (path == "/metrics")
        return exchange->answer(200, {{"Content-Type", metrics::Metrics::kContentType}},
                                metrics_.text(now()));
    exchange->answer(session_.is_closing() ? 503 : 200,
                     {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
                     health());
}

metrics::Now MetricsListener::now() const {
    metrics::Now now;
    now.version = PATCHBAY_VERSION;
    const auto load = load_();
    now.sessions = load.sessions;
    now.streams = load.streams;
    now.in_flight = session_.host().router().in_flight();
    const auto statuses = session_.servers().statuses();
    now.states = count_states(statuses);
    for (const auto state : kMeasuredStates) now.states.emplace(connection::name_of(state), 0);
    const auto in_flight = session_.host().router().in_flight_by_server();
    for (const auto& status : statuses) {
        const auto found = in_flight.find(status.id);
        now.servers.push_back({status.id, connection::name_of(status.state),
                               found == in_flight.end() ? 0 : found->second, status.tools});
    }
    return now;
}

std::string MetricsListener::health() const {
    json::object servers;
    for (const auto& [state, count] : count_states(session_.servers().statuses()))
        servers[state] = count;
    return json::serialize(json::object{{"status", session_.is_closing() ? "closing" : "serving"},
                                        {"servers", std::move(servers)}});
}

}  // namespace patchbay::app
