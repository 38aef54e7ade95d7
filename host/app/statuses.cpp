#include "app/statuses.hpp"

#include "config/approval.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace patchbay::app {
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
        if (diagnostic.server.empty() || diagnostic.severity != config::Severity::Error ||
            !at.emplace(diagnostic.server, statuses.size()).second)
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

boost::json::value fact_value(const std::string& name, const std::string& text) {
    std::int64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto [read, failed] = std::from_chars(text.data(), end, number);
    if (name == "pid" && failed == std::errc() && read == end) return number;
    return boost::json::value(text);
}

}  // namespace patchbay::app
