// What plan() compares of a snapshot, and what may be kept of one: its rules as they are, and of
// everything else a digest. No value of a setting is in it, so no secret, not even a `${...}`.
//
//   {"salt": "...",
//    "servers": {"git": {"enabled": true, "connection": {"command": "<digest>", ...},
//                        "conduct": {"tool_timeout": "<digest>", ...}, "enabled_tools": [...],
//                        "disabled_tools": [...], "tools": {"push": "deny"}, "untrusted": true}},
//    "permissions": {"allow": [...], "deny": [...], "ask": [...], "closed": false},
//    "tables": {"client.name": "<digest>", ...}}
//
// The salt keeps a digest from being looked up among those of likely values.
//
// Threads: [value].
// Errors:  what was kept is foreign: Invalid names the member that makes no sense.
#pragma once

#include "core/result.hpp"
#include "registry/snapshot.hpp"

#include <boost/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::registry {

struct ServerRules {
    std::optional<std::vector<std::string>> enabled_tools;
    std::vector<std::string> disabled_tools;
    std::map<std::string, config::Level> tools;  // each as it counts for what its key names
    bool untrusted = false;
    std::string pins = {};  // as config::Server has it

    // What counts for a tool, or for all that begin so; nothing: no key does.
    std::optional<config::Level> level_of(const std::string& name) const;

    // Whether they leave the tool in lists. Whether it may be called is the policy's to say.
    bool show(const std::string& tool) const;
    bool operator==(const ServerRules&) const = default;
};

using Digests = std::map<std::string, std::string>;  // by key

struct ServerImprint {
    bool enabled = true;
    Digests connection;  // of parts_of_connection()
    Digests conduct;     // of parts_of_conduct()
    ServerRules rules;
    bool operator==(const ServerImprint&) const = default;
};

struct Imprint {
    std::string salt;
    std::map<std::string, ServerImprint> servers;
    std::optional<std::vector<std::string>> allow;  // [permissions]
    std::vector<std::string> deny, ask;             // the same
    bool closed = false;                            // nothing is allowed, whatever these say
    Digests tables;                                 // other ones, by dotted key
    bool operator==(const Imprint&) const = default;
};

// Two can be compared when their salts are equal.
Imprint imprint_of(const Snapshot& snapshot, const std::string& salt);
// With values in the place of digests, for what compares or hashes all of it at once: that takes a third of the time.
// Settings and their secrets are in it, so it is neither kept nor shown.
Imprint clear_imprint_of(const Snapshot& snapshot);

boost::json::object to_json(const Imprint& imprint);
Result<Imprint> imprint_from(const boost::json::object& kept);

}  // namespace patchbay::registry
