// The statuses of all servers that a user knows of: what connections say of theirs, and what
// configuration says of those that it keeps from having one. And the one JSON form of a status.
//
// Source:  config/schema/api/results.schema.json. Threads: [any], pure.
#pragma once

#include "catalogue/drift.hpp"
#include "config/config.hpp"
#include "connection/status.hpp"
#include "core/result.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace patchbay::service {

// `connected`: of the servers that have a connection. `listed`: how many tools of each are shown.
// Sorted by id; disabled, unapproved and broken servers among them.
std::vector<connection::Status> statuses_of_all(std::vector<connection::Status> connected,
                                                const std::map<std::string, std::size_t>& listed,
                                                const config::Config& config);

// Whether it was waited for until it was known what becomes of a server.
enum class Wait { ToTheEnd, CutShort };
// Of a server that is on its way, and of one that nobody has begun to connect.
bool undecided(const connection::Status& status);
// The word of its state; "interrupted" where the wait for it was cut short before there was one.
const char* state_of(const connection::Status& status, Wait wait);

// `2026-07-28T09:00:00Z`
std::string time_of(std::chrono::system_clock::time_point when);

// Also as an event: what a server lists otherwise than it did.
boost::json::object to_json(const catalogue::Drift& drift);
boost::json::object to_json(const connection::Status& status, Wait wait = Wait::ToTheEnd);

}  // namespace patchbay::service
