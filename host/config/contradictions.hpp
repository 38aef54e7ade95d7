// How it is told that a rule which allows never counts, as another one forbids the same.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"

#include <string>

namespace patchbay::config {

// `server`: its id; empty: of [permissions]. `what`: the rule that never counts, which stands at `place`. `by`: the one
// that forbids, with its place.
Diagnostic never_counts(const std::string& server, const Place& place, const std::string& what,
                        const std::string& by);

// A key of a server's `tools` with its level: `tools "push" = deny`.
std::string words_of_level(const std::string& key, Level level);

}  // namespace patchbay::config
