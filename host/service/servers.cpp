#include "service/servers.hpp"

#include "core/json.hpp"
#include "core/text.hpp"
#include "service/statuses.hpp"

#include <algorithm>
#include <map>

namespace patchbay::service {
using connection::State;

namespace {

constexpr std::size_t kNamedServers = 20;
constexpr std::size_t kNamedDepartures = 100;

void tell_departures(connection::Status& status, const std::vector<router::Departed>& all) {
    for (const auto& [name, mismatch, blocked] : all) {
        if (status.departures.size() == kNamedDepartures) break;
        status.departures.push_back({pins::name_of(name.first), name.second,
                                     policy::name_of(mismatch.kind), mismatch.why, blocked});
    }
    status.more_departures = all.size() - status.departures.size();
}

}  // namespace

policy::KnownTools listed_tools(connection::ConnectionPool& pool) {
    policy::KnownTools known;
    for (const auto& id : pool.ids()) {
        const auto* listed = pool.find(id).value().get().listed();
        if (!listed) continue;
        auto& names = known[id];
        for (const auto& tool : listed->tools()) names.push_back(tool.name);
    }
    return known;
}

policy::KnownTools known_tools(connection::ConnectionPool& pool,
                               const catalogue::Catalogue& catalogue) {
    auto known = listed_tools(pool);
    for (const auto& [id, listing] : catalogue.listings()) {
        if (!listing->whole || !pool.find(id)) continue;
        const auto [place, unknown] = known.try_emplace(id);
        if (!unknown) continue;
        for (const auto& tool : listing->tools) place->second.push_back(tool.name);
    }
    return known;
}

std::string passed_over(const config::Config& config) {
    std::string told =
        config.closed_by.empty() ? "" : "; " + config.closed_by + ", so no other file counts";
    for (const auto& file : config.passed_over) told += "; " + core::printable(file, 1000);
    return told;
}

std::optional<Error> called_otherwise(const config::Config& config, const std::string& name) {
    const auto found = config.names.find(name);
    if (found == config.names.end()) return std::nullopt;
    return Error{ErrorCode::NotFound, "server \"" + core::printable(name, 64) + "\" (" +
                                          config::to_string(found->second.place) + ") is called " +
                                          found->second.id + " here; use that name"};
}

// What a program has that is run where the command is may be what is there.
catalogue::Origin Servers::origin_of(const registry::ServerSpec& spec) const {
    const auto cwd = core::text_in(&spec.config.settings, "cwd");
    const bool depends = spec.local() && !(cwd && cwd->starts_with('/'));
    return {spec.definition_key, depends ? folder_ : ""};
}

std::vector<connection::Status> Servers::statuses() const {
    auto connected = connections_.statuses();
    const auto& catalogue = router_.catalogue();
    for (auto& status : connected) {
        status.drifts = catalogue.drifts(status.id);
        tell_departures(status, router_.departed(status.id));
        const auto listed = catalogue.listings().find(status.id);
        if (status.instructions.empty() && listed != catalogue.listings().end())
            status.instructions = core::printable(listed->second->instructions,
                                                  config_.limits.description_bytes, true);
    }
    auto all = statuses_of_all(std::move(connected), router_.tool_counts(), config_);
    // One that somebody has stopped has cost what it has.
    for (auto& status : all)
        if (status.state == State::Disabled) connections_.count_past(status);
    return all;
}

std::vector<config::Diagnostic> Servers::rule_warnings() const {
    return policy::unmatched_rules(config_, known_tools(connections_, router_.catalogue()),
                                   policy::OfAgents::No);
}

bool Servers::has(std::string_view server) const {
    return server.empty() || connections_.find(server).has_value();
}

Error Servers::no_such_server(const std::string& server) const {
    const std::string name = "server \"" + core::printable(server, 64) + "\"";
    std::vector<std::string> known;
    for (const auto& status : statuses()) {
        known.push_back(status.id);
        if (status.id != server) continue;
        if (status.state == State::Disabled) {
            const auto found =
                std::find_if(config_.servers.begin(), config_.servers.end(),
                             [&](const config::Server& each) { return each.id == server; });
            return {ErrorCode::NotFound,
                    name + " is " +
                        (found == config_.servers.end() ? std::string("disabled")
                                                        : config::why_disabled(*found))};
        }
        if (status.state == State::Untrusted) return {ErrorCode::Denied, status.last_error};
        // The message of its entry names the server already.
        return missing(
            {ErrorCode::NotFound, config::to_string(status.place) + ": " + status.last_error},
            server);
    }
    if (auto otherwise = called_otherwise(config_, server)) return *otherwise;
    const std::string message = "no " + name + " is configured" + core::did_you_mean(server, known);
    if (known.empty())
        return missing(
            {ErrorCode::NotFound,
             message + "; patchbay config paths tells where one can be" + passed_over(config_)},
            server);
    const auto left = known.size() > kNamedServers ? known.size() - kNamedServers : 0;
    known.resize(known.size() - left);
    const std::string more = left > 0 ? " and " + std::to_string(left) + " more" : "";
    return missing(
        {ErrorCode::NotFound, core::behind_hint(message, "known: " + core::join(known, ", ")) +
                                  more + passed_over(config_)},
        server);
}

// With how many there are of each state: of three that are not approved "none is configured" is no help.
Error Servers::nobody_to_ask() const {
    std::map<State, std::size_t> counts;
    for (const auto& status : statuses()) ++counts[status.state];
    std::vector<std::string> told;
    for (const auto& [state, count] : counts)
        told.push_back(std::to_string(count) + " " + connection::name_of(state));
    const auto why = told.empty()
                         ? "is configured; patchbay config paths tells where one can be"
                         : "can be asked (" + core::join(told, ", ") + "); see patchbay mcp list";
    return {misconfigured() ? ErrorCode::Invalid : ErrorCode::NotFound,
            "no MCP server " + why + passed_over(config_)};
}

// Wrong configuration and not a wrong name: who looks at the exit code should mend the file.
Error Servers::missing(Error error, std::string_view server) const {
    // Of a file that could not be read nobody knows which servers it defines.
    const auto& diagnostics = config_.diagnostics;
    const bool unread = std::any_of(diagnostics.begin(), diagnostics.end(), [](const auto& each) {
        return each.severity == config::Severity::Error && each.server.empty();
    });
    const bool known = !server.empty() && misconfigured(server);
    if (error.code != ErrorCode::NotFound || (!known && !unread)) return error;
    if (!known) error.message += "; it may be in what the configuration has wrong";
    return {ErrorCode::Invalid, error.message};
}

bool Servers::misconfigured(std::string_view server) const {
    const auto& diagnostics = config_.diagnostics;
    return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const auto& diagnostic) {
        return server.empty() ? diagnostic.severity == config::Severity::Error
                              : diagnostic.server == server && config_.takes_out(diagnostic);
    });
}

}  // namespace patchbay::service
