// Plugins in JSON: what each is, and what was found where plugins are looked for.
//
// Threads: [value].
#pragma once

#include "plugin/loading/catalogue.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace patchbay::service {

std::vector<std::string> provided(const plugin::PluginInfo& info);  // "transport stdio"
boost::json::object to_json(const plugin::PluginInfo& info);
// {"from", "path", "finding", "ok"}
boost::json::object to_json(const plugin::Looked& looked);

}  // namespace patchbay::service
