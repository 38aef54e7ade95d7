// One server that ought to exist: its configuration, and a key that tells definitions apart.
// The registry turns a Config into these; the connection pool makes the world match them.
//
// Threads: [value].
#pragma once

#include "config/config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::registry {

struct ServerSpec {
    config::Server config;
    // SHA-256 over all that reaches the transport, unexpanded, and how it is signed in to: with
    // equal keys what was learnt of the server still holds.
    std::string definition_key;
    // The [auth.*] table that it names, and the program that was approved with that.
    std::optional<boost::json::object> auth_table = {};
    std::optional<std::string> auth_program = {};

    const std::string& id() const { return config.id; }
    bool local() const { return config.local; }  // competes for local start-ups
};

// Enabled servers only, sorted by id.
std::vector<ServerSpec> specs_of(const config::Config& config);
ServerSpec spec_of(const config::Server& server, const config::Config& config);

// What a running connection was made of: the transport's settings, credentials, and what decides
// what these mean. `key` is the one in the configuration; "auth.NAME" is that table, "folder" where
// a relative path or a `${...}` was written. A key that says nothing is left out.
struct Part {
    std::string key;
    boost::json::value value;
    bool operator==(const Part&) const = default;
};
std::vector<Part> parts_of_connection(const ServerSpec& spec);  // sorted by key

// What a running connection is told without being made anew: time-outs and the like. A time-out has no
// unit in its key, as it may be written in two.
std::vector<Part> parts_of_conduct(const config::Server& server);  // sorted by key

// A running connection may stay. Rules, filters and conduct make no difference.
bool operator==(const ServerSpec& a, const ServerSpec& b);

// What apply() has to do: by id.
struct Difference {
    std::vector<std::string> gone, changed;
    std::vector<ServerSpec> added;  // the new definition of changed ones included
};
Difference difference(const std::vector<ServerSpec>& before, const std::vector<ServerSpec>& after);

}  // namespace patchbay::registry
