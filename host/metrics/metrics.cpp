#include "metrics/metrics.hpp"

#include "core/log.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdio>

namespace patchbay::metrics {

namespace {

constexpr const char* kOther = "other";

// Prometheus reads nothing at all of a text that is not UTF-8, and a name may hold a secret.
std::string label_of(std::string_view name) {
    return core::log::masked(core::printable(name, Metrics::kLabelBytes));
}

std::string escaped(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (c == '\\' || c == '"') text += '\\';
        text += c;
    }
    return text;
}

std::string pair(std::string_view label, std::string_view value) {
    return std::string(label) + "=\"" + escaped(value) + "\"";
}

void begin(std::string& out, const std::string& name, const char* type, const char* help) {
    out.append("# HELP ").append(name).append(" ").append(help);
    out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append(std::string& out, std::string_view name, std::string_view labels,
            std::string_view value) {
    out.append(name);
    if (!labels.empty()) out.append("{").append(labels).append("}");
    out.append(" ").append(value).append("\n");
}

void append(std::string& out, std::string_view name, std::string_view labels, std::uint64_t value) {
    append(out, name, labels, std::to_string(value));
}

void append_gauge(std::string& out, const std::string& name, const char* help, std::size_t value) {
    begin(out, name, "gauge", help);
    append(out, name, {}, value);
}

std::string seconds(std::chrono::nanoseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%lld.%09lld",
                  static_cast<long long>(time.count() / 1'000'000'000),
                  static_cast<long long>(time.count() % 1'000'000'000));
    return text;
}

}  // namespace

struct Metrics::Kind {
    const char* prefix;
    const char* label;
    SeriesByName Server::*series;
    const char* of;  // in the help
};
const Metrics::Kind Metrics::kToolCalls{"patchbay_tool_call", "tool", &Server::tools, "tool calls"};
const Metrics::Kind Metrics::kRequests{"patchbay_request", "method", &Server::methods,
                                       "requests to servers that call no tool"};

Metrics::Server& Metrics::server(std::string_view id) {
    if (const auto found = servers_.find(id); found != servers_.end()) return found->second;
    return servers_[servers_.size() < kMostServers ? std::string(id) : kOther];
}

Metrics::Series& Metrics::series(Server& of, SeriesByName& all, std::string_view name) {
    // Nearly all are as they were written.
    if (const auto found = all.find(name); found != all.end()) return found->second;
    const auto label = label_of(name);
    if (const auto found = all.find(label); found != all.end()) return found->second;
    const bool room = of.tools.size() + of.methods.size() < kMostOfServer && series_ < kMostSeries;
    if (room) ++series_;
    return all[room ? label : kOther];
}

void Metrics::on_request_ended(const core::EndedRequest& request) {
    auto& of = server(request.asked.server);
    const bool call = request.asked.method == "tools/call";
    auto& counted = call ? series(of, of.tools, request.asked.tool)
                         : series(of, of.methods, request.asked.method);
    auto outcome = counted.outcomes.find(request.outcome);
    if (outcome == counted.outcomes.end())
        outcome = counted.outcomes.emplace(request.outcome, 0).first;
    ++outcome->second;
    ++counted.count;
    counted.sent += request.bytes_to_server;
    counted.received += request.bytes_from_server;
    counted.duration += request.duration;
    const auto bucket = std::find_if(kBuckets.begin(), kBuckets.end(), [&](const auto& each) {
        return request.duration <= each.most;
    });
    if (bucket != kBuckets.end())
        ++counted.within[static_cast<std::size_t>(bucket - kBuckets.begin())];
}

void Metrics::on_server_state(const core::ServerState& state) {
    ++server(state.server).states[std::string(state.state)];
}

void Metrics::on_server_restart(std::string_view id) {
    ++server(id).restarts;
}

void Metrics::on_http_answer(unsigned status) {
    ++http_[status];
}

void Metrics::append_requests(std::string& out, const Kind& kind) const {
    const auto each = [&](const auto& tell) {
        for (const auto& [id, of] : servers_)
            for (const auto& [name, counted] : of.*kind.series)
                tell(pair("server", id) + "," + pair(kind.label, name), counted);
    };
    const auto family = [&](const std::string& suffix, const char* type, const std::string& help) {
        const auto name = kind.prefix + suffix;
        begin(out, name, type, (help + kind.of).c_str());
        return name;
    };
    const auto total = family("s_total", "counter", "Ended ");
    each([&](const auto& labels, const Series& counted) {
        for (const auto& [outcome, count] : counted.outcomes)
            append(out, total, labels + "," + pair("outcome", outcome), count);
    });
    const auto duration =
        family("_duration_seconds", "histogram", "From the request to its outcome, of ");
    each([&](const auto& labels, const Series& counted) {
        std::uint64_t so_far = 0;
        for (std::size_t i = 0; i < kBuckets.size(); ++i)
            append(out, duration + "_bucket", labels + "," + pair("le", kBuckets[i].label),
                   so_far += counted.within[i]);
        append(out, duration + "_bucket", labels + "," + pair("le", "+Inf"), counted.count);
        append(out, duration + "_sum", labels, seconds(counted.duration));
        append(out, duration + "_count", labels, counted.count);
    });
    const auto sent = family("_sent_bytes_total", "counter", "Params that went to servers, of ");
    each([&](const auto& labels, const Series& counted) {
        append(out, sent, labels, counted.sent);
    });
    const auto received =
        family("_received_bytes_total", "counter", "Results and errors that servers gave, of ");
    each([&](const auto& labels, const Series& counted) {
        append(out, received, labels, counted.received);
    });
}

void Metrics::append_servers(std::string& out, const Now& now) const {
    begin(out, "patchbay_servers", "gauge", "Servers in each state");
    for (const auto& [state, count] : now.states)
        append(out, "patchbay_servers", pair("state", state), count);
    const auto family = [&](const std::string& name, const char* type, const char* help,
                            const auto& tell) {
        begin(out, name, type, help);
        tell(name);
    };
    const auto each_now = [&](const auto& value) {
        return [&, value](const std::string& name) {
            for (const auto& each : now.servers) value(name, pair("server", each.id), each);
        };
    };
    family("patchbay_server_state", "gauge", "1 for the state that a server is in",
           each_now([&](const auto& name, const auto& labels, const auto& each) {
               append(out, name, labels + "," + pair("state", each.state), 1);
           }));
    family("patchbay_server_requests_in_flight", "gauge", "Requests that a server has not answered",
           each_now([&](const auto& name, const auto& labels, const auto& each) {
               append(out, name, labels, each.in_flight);
           }));
    family("patchbay_server_tools", "gauge", "Tools that a server offers",
           each_now([&](const auto& name, const auto& labels, const auto& each) {
               if (each.tools) append(out, name, labels, *each.tools);
           }));
    family("patchbay_server_state_changes_total", "counter",
           "How often a connection of a server came to a state", [&](const std::string& name) {
               for (const auto& [id, of] : servers_)
                   for (const auto& [state, count] : of.states)
                       append(out, name, pair("server", id) + "," + pair("state", state), count);
           });
    family("patchbay_server_restarts_total", "counter",
           "How often a connection that was ready was lost and is brought up again",
           [&](const std::string& name) {
               for (const auto& [id, of] : servers_)
                   if (!of.states.empty()) append(out, name, pair("server", id), of.restarts);
           });
}

std::string Metrics::text(const Now& now) const {
    std::string out;
    begin(out, "patchbay_build_info", "gauge", "1; which version this is");
    append(out, "patchbay_build_info", pair("version", now.version), 1);
    append_gauge(out, "patchbay_sessions", "Sessions of clients", now.sessions);
    append_gauge(out, "patchbay_streams", "Streams of events that are open to clients",
                 now.streams);
    append_gauge(out, "patchbay_requests_in_flight",
                 "Requests of clients that a server has not answered, or has not got yet",
                 now.in_flight);
    begin(out, "patchbay_http_requests_total", "counter",
          "HTTP requests, by how they are answered");
    for (const auto& [status, count] : http_)
        append(out, "patchbay_http_requests_total", pair("status", std::to_string(status)), count);
    append_servers(out, now);
    append_requests(out, kToolCalls);
    append_requests(out, kRequests);
    return out;
}

}  // namespace patchbay::metrics
