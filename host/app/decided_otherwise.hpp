// What of a level that was written just now counts for less than it says: rules that decide otherwise for all that its
// key names, or for some of it. A `deny` beside which a more specific key stays open denies less than who typed it thinks.
//
// Threads: [loop]; reads the files anew. Errors: none; of a record of answers that cannot be read no tools are looked at.
// Limits:  kMostExceptions.
#pragma once

#include "app/policy_targets.hpp"
#include "app/verb.hpp"
#include "config/config.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

inline constexpr std::size_t kMostExceptions = 20;

struct DecidedOtherwise {
    std::string rule;  // `tools "echo"`, "enabled_tools"
    config::Level level;
    std::optional<config::Place> place;  // none: nobody knows it
    std::string key;                     // of the server's `tools`; empty: another rule
};
// `tools "echo" = allow-always (user config config.toml:5:1)`, with what takes it out where that is a level.
std::string to_string(const DecidedOtherwise& rule, const std::string& server);
boost::json::object to_json(const DecidedOtherwise& rule);

struct Standing {
    bool in_force = true;  // the server; what is said of another counts for nothing yet
    // For all of it, and nothing of what was written counts; empty: it does.
    std::string overruled_by;
    std::vector<DecidedOtherwise> exceptions;  // for some of it
    std::size_t more = 0;                      // of these, beside kMostExceptions
};
Standing standing_of(const GlobalOptions& global, const PolicyTarget& target, config::Level level);

}  // namespace patchbay::app
