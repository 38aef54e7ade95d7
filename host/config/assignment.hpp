// `--set health.misses=3`: the key as TOML writes it, the value as TOML if it is that, else as text.
//
// Threads: [any], pure. Errors: Invalid, what was expected, never with the value.
#pragma once

#include "config/node.hpp"
#include "core/result.hpp"

#include <string>

namespace patchbay::config {

// A Map that holds nothing else, without marks.
Result<Node> parse_assignment(const std::string& set);

// Whether what it sets may be a secret, of which nobody can tell in what programs and servers are given (env,
// headers, arguments, addresses); elsewhere as `config show` masks it. True of what is no assignment.
bool may_hold_a_secret(const std::string& set);

}  // namespace patchbay::config
