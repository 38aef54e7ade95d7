// One server that ought to exist: its configuration, and a key that tells definitions apart.
// The registry turns a Config into these; the connection manager makes the world match them.
//
// Threads: [value].
#pragma once

#include "config/config.hpp"

#include <string>
#include <vector>

namespace patchbay::registry {

struct ServerSpec {
    config::Server config;
    // SHA-256 over all that reaches the transport, unexpanded, and how it is signed in to: with
    // equal keys what was learnt of the server still holds.
    std::string definition_key;

    const std::string& id() const { return config.id; }
    bool local() const { return config.local; }  // competes for local start-ups
};

// A running connection may stay. Rules for its tools make no difference.
bool operator==(const ServerSpec& a, const ServerSpec& b);

// Enabled servers only, sorted by id.
std::vector<ServerSpec> specs_of(const config::Config& config);

// What apply() has to do: by id.
struct Difference {
    std::vector<std::string> gone, changed;
    std::vector<ServerSpec> added;  // the new definition of changed ones included
};
Difference difference(const std::vector<ServerSpec>& before, const std::vector<ServerSpec>& after);

}  // namespace patchbay::registry
