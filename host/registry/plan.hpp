// What applying one snapshot after another would do: which servers it starts, stops and starts anew,
// and by which keys; which tools come and go; which rules allow more, which less.
//
// A change of a rule or a filter starts no server anew, one of anything that reaches the transport
// or its credentials does (parts_of_connection). What `${...}` becomes is not looked at.
//
// Threads: [value]. Errors: none.
#pragma once

#include "registry/imprint.hpp"

#include <boost/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace patchbay::registry {

struct ChangedServer {
    std::string server;
    std::vector<std::string> keys;  // sorted
    bool operator==(const ChangedServer&) const = default;
};

struct ChangedRule {
    std::string rule;  // "servers.git.tools.push", "permissions.deny"
    std::string how;   // "deny -> allow-always", "+ mcp__x__*"
    bool operator==(const ChangedRule&) const = default;
};

// Everything sorted.
struct Plan {
    std::vector<std::string> start, stop;
    std::vector<ChangedServer> restart;
    std::vector<ChangedServer> adjust;           // told to the connection as it runs
    std::vector<std::string> gained, lost;       // tools, by public name
    std::vector<ChangedRule> widened, narrowed;  // of servers that run before and after
    std::vector<std::string>
        shown;  // agents, and bundles.NAME, whose clients are shown something else, at once
    std::vector<std::string> closed;      // such that are gone: who comes as one is shown nothing
    std::vector<std::string> next_start;  // keys that a host reads once: they wait for the next one

    bool empty() const { return *this == Plan(); }
    bool operator==(const Plan&) const = default;
};

// Raw names of the tools that servers have listed. Of a server that is not in it, those that its
// rules name are looked at.
using KnownTools = std::map<std::string, std::vector<std::string>>;

// Pure. Both by the same salt.
Plan plan(const Imprint& running, const Imprint& wanted, const KnownTools& known = {});
Plan plan(const Snapshot& running, const Snapshot& wanted, const KnownTools& known = {});

boost::json::object to_json(const Plan& plan);

// The same for people, a line each: {"restart", "git", "command, env"}.
struct PlanLine {
    std::string what, whom, how;
};
std::vector<PlanLine> lines_of(const Plan& plan);

}  // namespace patchbay::registry
