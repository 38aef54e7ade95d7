// How the lists of [permissions] of several sources become one: `deny` and `ask` add up, `allow` is replaced by the
// user's own sources and narrowed by those of a checkout and of an enterprise.
//
// Threads: [any], pure. Errors: diagnostics. Source: config/README.md, "How sources are merged".
#pragma once

#include "config/fragment.hpp"

#include <string>
#include <vector>

namespace patchbay::config {

// What `source`, stronger than all before, says by its `table`: `said`, which makes sense by itself.
void join_permissions(Permissions& now, const Permissions& said, const Member& table,
                      const Source& source, std::vector<Diagnostic>& told);

// Lists add up: an empty one that was named for this run looks as if it lifted the others.
void tell_empty_deny(const Place& empty, const Permissions& permissions,
                     std::vector<Diagnostic>& told);

// The names that both lists of patterns allow.
std::vector<std::string> intersection(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);

}  // namespace patchbay::config
