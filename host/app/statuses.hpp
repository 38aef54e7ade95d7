// The statuses of all servers that a user knows of: what connections say of theirs, and what
// configuration says of those that it keeps from having one.
//
// Threads: [any], pure.
#pragma once

#include "config/config.hpp"
#include "connection/connection.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace patchbay::app {

// `connected`: of the servers that have a connection. `listed`: how many tools of each are shown.
// Sorted by id; disabled, unapproved and broken servers among them.
std::vector<connection::Status> statuses_of_all(std::vector<connection::Status> connected,
                                                const std::map<std::string, std::size_t>& listed,
                                                const config::Config& config);

// What a plugin says of a channel, as JSON: a process id is a number.
boost::json::value fact_value(const std::string& name, const std::string& text);

}  // namespace patchbay::app
