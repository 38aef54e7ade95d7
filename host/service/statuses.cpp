#include "service/statuses.hpp"

#include "config/approval.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <unordered_map>

namespace patchbay::service {
namespace json = boost::json;
using connection::State;
using connection::Status;

namespace {

Status kept_out(const std::string& id, const config::Place& place, State state) {
    Status status;
    status.id = id;
    status.place = place;
    status.state = state;
    return status;
}

// What a plugin says of a channel, as JSON: a process id is a number.
json::value fact_value(const std::string& name, const std::string& text) {
    std::int64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto [read, failed] = std::from_chars(text.data(), end, number);
    if (name == "pid" && failed == std::errc() && read == end) return number;
    return json::value(text);
}

json::object to_json(const connection::OneOfStatus& one) {
    json::object object{{"use", one.use}, {"state", connection::name_of(one.state)}};
    if (!one.last_error.empty()) object["last_error"] = one.last_error;
    for (const auto& [name, value] : one.facts) object[name] = fact_value(name, value);
    return object;
}

json::object to_json(const connection::Departure& departure) {
    json::object object{{"list", departure.list},
                        {"state", departure.state},
                        {"why", departure.why},
                        {"blocked", departure.blocked}};
    if (!departure.name.empty()) object["name"] = departure.name;
    return object;
}

json::object exit_json(const connection::Exit& exit) {
    json::object object;
    if (exit.code) object["code"] = *exit.code;
    if (exit.signal) {
        object["signal"] = *exit.signal;
        if (const auto name = connection::signal_name(*exit.signal); !name.empty())
            object["signal_name"] = name;
    }
    if (!exit.limit.empty()) object["limit"] = exit.limit;
    object["at"] = time_of(exit.at);
    return object;
}

json::object cost_json(const connection::Cost& cost) {
    return {{"calls", cost.calls},
            {"sent_bytes", cost.sent_bytes},
            {"received_bytes", cost.received_bytes},
            {"cpu_ms", cost.cpu.count()},
            {"peak_memory_bytes", cost.peak_memory_bytes}};
}

json::object starting_json(const connection::Starting& starting) {
    json::object object{{"taken_ms", starting.taken.count()}, {"limit_ms", starting.limit.count()}};
    if (!starting.last_said.empty()) object["last_said"] = starting.last_said;
    if (starting.queued) object["queued"] = true;
    return object;
}

}  // namespace

std::vector<Status> statuses_of_all(std::vector<Status> statuses,
                                    const std::map<std::string, std::size_t>& listed,
                                    const config::Config& config) {
    // What configuration hides is not counted: `tools` would not list it.
    for (auto& status : statuses) {
        if (!status.tools || status.state != State::Ready) continue;
        const auto found = listed.find(status.id);
        status.tools = found == listed.end() ? 0 : found->second;
    }
    for (const auto& server : config.servers) {
        if (server.enabled && !config.deny_all) continue;
        auto& status = statuses.emplace_back(kept_out(server.id, server.place, State::Disabled));
        status.transport = server.transport;
        status.enabled = false;
        if (!server.enabled) status.notes.push_back(config::why_disabled(server));
    }
    // A checkout decides how many there are.
    std::unordered_map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < statuses.size(); ++i) at.emplace(statuses[i].id, i);
    for (const auto& server : config.servers) {
        const auto found = server.written.empty() ? at.end() : at.find(server.id);
        if (found == at.end()) continue;
        statuses[found->second].notes.push_back("its name in the configuration is \"" +
                                                core::printable(server.written, 200) + "\"");
    }
    for (const auto& proposal : config.untrusted) {
        if (proposal.is_table() || !at.emplace(proposal.id, statuses.size()).second) continue;
        auto& status =
            statuses.emplace_back(kept_out(proposal.id, proposal.place, State::Untrusted));
        status.enabled = false;
        status.last_error = config::why_inert(proposal);
    }
    // A server that a diagnostic took out is still one that the user asked for.
    for (const auto& diagnostic : config.diagnostics) {
        if (!config.takes_out(diagnostic) || !at.emplace(diagnostic.server, statuses.size()).second)
            continue;
        auto& status =
            statuses.emplace_back(kept_out(diagnostic.server, diagnostic.place, State::Error));
        status.last_error = diagnostic.message;
    }
    for (auto& status : statuses) status = masked(std::move(status));
    std::sort(statuses.begin(), statuses.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    return statuses;
}

bool undecided(const Status& status) {
    return status.state == State::Connecting || status.state == State::Reconnecting ||
           status.state == State::Idle;
}

const char* state_of(const Status& status, Wait wait) {
    return wait == Wait::CutShort && undecided(status) ? "interrupted"
                                                       : connection::name_of(status.state);
}

std::string time_of(std::chrono::system_clock::time_point when) {
    const auto seconds = std::chrono::system_clock::to_time_t(when);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

json::object to_json(const catalogue::Drift& drift) {
    json::array changed;
    for (const auto& each : drift.changed)
        changed.push_back({{"name", each.name},
                           {"members", json::array(each.members.begin(), each.members.end())}});
    json::object object{{"server", drift.server},
                        {"list", catalogue::name_of(drift.list)},
                        {"before_at", time_of(drift.before)},
                        {"now_at", time_of(drift.now)},
                        {"of_earlier_host", drift.of_earlier_host},
                        {"added", json::array(drift.added.begin(), drift.added.end())},
                        {"removed", json::array(drift.removed.begin(), drift.removed.end())},
                        {"changed", std::move(changed)}};
    if (drift.instructions) object["instructions"] = true;
    if (const auto more = drift.more_added + drift.more_removed + drift.more_changed; more > 0)
        object["not_named"] = more;
    return object;
}

json::object to_json(const Status& status, Wait wait) {
    json::object object{{"id", status.id},
                        {"transport", status.transport},
                        {"scope", config::name_of(status.place.scope)},
                        {"source", config::to_string(status.place)},
                        {"enabled", status.enabled},
                        {"state", state_of(status, wait)},
                        {"tools", status.tools ? json::value(*status.tools) : json::value()},
                        {"restarts", status.restarts},
                        {"stray_lines", status.stray_lines},
                        {"malformed_messages", status.malformed},
                        {"late_answers", status.late_answers}};
    if (!status.fallback_from.empty()) object["fallback_from"] = status.fallback_from;
    if (!status.protocol.empty()) object["protocol"] = status.protocol;
    if (!status.last_error.empty()) object["last_error"] = status.last_error;
    if (status.last_connected) object["last_connected_at"] = time_of(*status.last_connected);
    if (!status.server_name.empty())
        object["server"] = {{"name", status.server_name}, {"version", status.server_version}};
    if (!status.capabilities.empty())
        object["capabilities"] =
            json::array(status.capabilities.begin(), status.capabilities.end());
    if (!status.instructions.empty()) object["instructions"] = status.instructions;
    if (!status.notes.empty())
        object["notes"] = json::array(status.notes.begin(), status.notes.end());
    if (status.starting) object["starting"] = starting_json(*status.starting);
    if (status.last_exit) object["last_exit"] = exit_json(*status.last_exit);
    if (const auto cost = connection::cost_by_now(status.cost); cost != connection::Cost())
        object["cost"] = cost_json(cost);
    for (const auto& [name, value] : status.facts) object[name] = fact_value(name, value);
    if (!status.drifts.empty()) {
        auto& drifts = object["drifts"].emplace_array();
        for (const auto& drift : status.drifts) drifts.push_back(to_json(drift));
    }
    if (!status.departures.empty()) {
        auto& pins = object["pins"].emplace_array();
        for (const auto& each : status.departures) pins.push_back(to_json(each));
        if (status.more_departures > 0) object["pins_not_named"] = status.more_departures;
    }
    if (!status.connections.empty()) {
        auto& connections = object["connections"].emplace_array();
        for (const auto& one : status.connections) connections.push_back(to_json(one));
    }
    return object;
}

}  // namespace patchbay::service
