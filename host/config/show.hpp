// A Config for people and scripts: `config show`. Values that may be secrets are shown as "***",
// their names are kept.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"

#include <boost/json.hpp>

#include <string_view>

namespace patchbay::config {

// {"servers": {ID: {...}}, "auth": ..., "client": ..., "permissions": ..., ...} in the words of the
// config file; with_origins adds "origins": {"servers.ID.url": {"scope", "file", "line",
// "column"[, "over": [...]]}}: whom it overrules, the weakest first.
boost::json::value to_json(const Config& config, bool with_origins);

// Settings of a server as they stand in a file, for people: secrets are "***".
boost::json::object masked(const boost::json::object& settings);

// `${NAME}`, `${secret:NAME}`, and nothing else: it says where a secret is, and is none.
bool is_a_reference_alone(std::string_view text);

// One server as above, without the id.
boost::json::object to_json(const Server& server);

// The same with its secrets: what its definition is, to be written into a file of ours.
boost::json::object definition_of(const Server& server);

// {"scope", "file", "line", "column"}
boost::json::object to_json(const Place& place);

// {"rule", "severity", "scope", "file", "line", "column", "message"[, "server"]}
boost::json::object to_json(const Diagnostic& diagnostic);

}  // namespace patchbay::config
