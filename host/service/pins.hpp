// What a server lists otherwise than somebody approved it, as JSON.
//
// Threads: [value]. Errors: none.
// Source:  config/schema/api/results.schema.json, `pin_difference`.
#pragma once

#include "pins/difference.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::service {

boost::json::object to_json(const pins::Difference& difference);
// {"server": ..., "differences": [...]}
boost::json::object to_json(const std::string& server,
                            const std::vector<pins::Difference>& differences);
// `since it was approved (2026-07-28)`; empty: nobody had seen it.
std::string since(const pins::Difference& difference);

}  // namespace patchbay::service
