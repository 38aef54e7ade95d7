// Questions about configuration itself: where it is looked for, and what is wrong with it.
//
// Threads: [any]. Errors: none of its own; a path that cannot be resolved is taken as it is.
#pragma once

#include "config/load.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::service {

const char* word_of(config::Candidate::Found found);  // "unreadable"
// {"scope", "found", "path", "note"}
boost::json::object to_json(const config::Candidate& candidate);

// The scope in which the file is read anyway, or else as whom its name makes it speak.
config::Scope scope_of(const std::string& file, const std::vector<config::Candidate>& candidates);

// All that is wrong with it, rules that can match no tool included.
std::vector<config::Diagnostic> diagnostics_of(const config::Config& config);

}  // namespace patchbay::service
