#include "app/status_tables.hpp"

#include "app/output.hpp"
#include "core/text.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

namespace patchbay::app {
using connection::State;
using connection::Status;

namespace {

constexpr std::size_t kInstructionsShown = 300;

const char* colour_of(State state) {
    switch (state) {
        case State::Ready:
            return "green";
        case State::Connecting:
        case State::Reconnecting:
        case State::AuthRequired:
        case State::Untrusted:
            return "yellow";
        case State::Error:
        case State::Failed:
        case State::Stopped:
            return "red";
        default:
            return "gray";
    }
}

// `12 (2 blocked)`: how many of its things are not what somebody approved.
std::string tools_of(const Status& status) {
    const auto blocked = std::count_if(status.departures.begin(), status.departures.end(),
                                       [](const auto& each) { return each.blocked; });
    const auto all = status.departures.size() + status.more_departures;
    if (all == 0) return tool_count(status);
    return tool_count(status) + " (" +
           (blocked > 0 ? std::to_string(blocked) + " blocked" : std::to_string(all) + " changed") +
           ")";
}

// "7 bytes", "1.5 KiB", "1 GiB"
std::string byte_count(std::uint64_t bytes) {
    constexpr const char* kUnits[] = {" KiB", " MiB", " GiB", " TiB"};
    if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    auto tenths = (bytes * 10 + 512) / 1024;
    std::size_t unit = 0;
    for (; tenths >= 10'240 && unit + 1 < std::size(kUnits); ++unit) tenths = (tenths + 512) / 1024;
    const auto rest = tenths % 10;
    return std::to_string(tenths / 10) + (rest ? "." + std::to_string(rest) : "") + kUnits[unit];
}

std::string text_of(const connection::Cost& cost) {
    return std::to_string(cost.calls) + (cost.calls == 1 ? " call, " : " calls, ") +
           byte_count(cost.sent_bytes) + " sent, " + byte_count(cost.received_bytes) +
           " received, " + core::duration(cost.cpu) + " CPU, " +
           byte_count(cost.peak_memory_bytes) + " memory at most";
}

}  // namespace

std::string transport_of(const Status& status) {
    if (status.fallback_from.empty()) return status.transport;
    return status.fallback_from + " -> " + status.transport;
}

std::string tool_count(const Status& status) {
    return status.tools ? std::to_string(*status.tools) : "-";
}

void print_statuses(const Session& session, const std::vector<Status>& statuses) {
    std::vector<std::vector<Cell>> rows{
        {{"ID"}, {"TRANSPORT"}, {"SCOPE"}, {"ENABLED"}, {"STATE"}, {"TOOLS"}}};
    for (const auto& status : statuses) {
        rows.push_back({{status.id},
                        {transport_of(status)},
                        {config::name_of(status.place.scope)},
                        {status.enabled ? "yes" : "no"},
                        {service::state_of(status, session.waited()), colour_of(status.state)},
                        {tools_of(status)}});
    }
    print_table(rows);
}

void print_detail(const Session& session, const Status& status) {
    std::vector<std::vector<Cell>> rows;
    const auto row = [&](const char* name, const std::string& value, const char* colour = "") {
        if (!value.empty()) rows.push_back({{name}, {value, colour}});
    };
    row("id", status.id);
    row("state", service::state_of(status, session.waited()), colour_of(status.state));
    row("enabled", status.enabled ? "yes" : "no");
    row("transport", transport_of(status));
    row("source", config::to_string(status.place));
    row("protocol", status.protocol);
    row("server",
        status.server_name + (status.server_version.empty() ? "" : " " + status.server_version));
    row("capabilities", core::join(status.capabilities, ", "));
    row("tools", tool_count(status));
    row("instructions", core::printable(status.instructions, kInstructionsShown));
    for (const auto& [name, value] : status.facts) row(name.c_str(), value);
    if (status.starting) row("start", connection::to_string(*status.starting));
    row("restarts", std::to_string(status.restarts));
    if (status.last_exit)
        row("last exit", connection::to_string(*status.last_exit) + " at " +
                             service::time_of(status.last_exit->at));
    if (const auto cost = connection::cost_by_now(status.cost); cost != connection::Cost())
        row("cost", text_of(cost));
    if (status.last_connected) row("last connected", service::time_of(*status.last_connected));
    if (status.state == State::Ready)
        row("error before", status.last_error);
    else
        row("last error", status.last_error, "red");
    if (status.stray_lines) row("stray stdout lines", std::to_string(status.stray_lines));
    for (const auto& drift : status.drifts)
        row("changed",
            std::string(catalogue::name_of(drift.list)) + " since " +
                service::time_of(drift.before) + ": " + catalogue::summary(drift),
            "yellow");
    for (const auto& each : status.departures)
        row(each.blocked ? "blocked" : "pinned",
            (each.name.empty() ? each.list : core::printable(each.name, 80)) + ": " +
                core::printable(each.why, 500),
            each.blocked ? "red" : "yellow");
    if (status.more_departures > 0)
        row("pinned", "and " + std::to_string(status.more_departures) +
                          " more; patchbay mcp diff " + status.id + " shows all");
    for (const auto& note : status.notes) row("note", note);
    for (const auto& one : status.connections) {
        const auto pid = one.facts.find("pid");
        row("connection", one.use + ", " + connection::name_of(one.state) +
                              (pid == one.facts.end() ? "" : ", pid " + pid->second));
    }
    print_table(rows);
}

}  // namespace patchbay::app
