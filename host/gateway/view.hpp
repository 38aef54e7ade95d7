// What of all that is configured a client is shown. It narrows only: what is denied stays denied.
//
// Threads: [value].
#pragma once

#include "connection/connection_pool.hpp"
#include "core/result.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {
struct Config;
}

namespace patchbay::gateway {

struct View {
    using Ids = std::set<std::string, std::less<>>;

    // Id of the one server that there is, everything of which has its own name; empty: no such.
    std::string only{};
    std::string agent{};          // as which its client comes; empty: as none
    std::string about{};          // what that agent is told
    std::optional<Ids> picked{};  // servers; none: all
    // Servers that are one agent's own, with whose. Another, or who comes as none, is shown one only where it is picked.
    std::map<std::string, std::string, std::less<>> owned{};
    // Patterns of public names as those of a rule. A tool has to match one of each list, and what else
    // a server has is there where its bare name mcp__ID__ does.
    std::vector<std::vector<std::string>> tools{};
    std::vector<std::string> denied{};  // patterns as well: what one of them matches is not shown
    // Its tools are found and called by way of the host's own; none of them is listed.
    bool meta = false;

    bool public_names() const { return only.empty(); }
    bool all() const {
        return only.empty() && !picked && owned.empty() && tools.empty() && denied.empty();
    }
    bool holds(std::string_view server) const;  // anything of it
    bool holds(std::string_view server, std::string_view public_name) const;
    std::vector<std::string> servers(const connection::ConnectionPool& pool) const;
    // What both show; the agent is that of `other` if it has one.
    View within(const View& other) const;
    // Tells it from other views, in what outlives this process.
    std::string key() const;
    std::shared_ptr<const connection::Sight> sight() const;  // null: all

private:
    bool is_in_it(std::string_view server) const;  // but for what `tools` and `denied` say
    bool is_denied(std::string_view public_name) const;
};

// Those of that configuration.
void note_owned(View& view, const config::Config& config);

// What that bundle of the configuration holds. NotFound with the nearest, or why it is of no use.
Result<View> view_of_bundle(const config::Config& config, const std::string& name);

// What that agent of the configuration is shown, within its bundle. NotFound with the nearest, or why it is of no use.
Result<View> view_of_agent(const config::Config& config, const std::string& name);

}  // namespace patchbay::gateway
