// Is what a plugin's entry returned what this host may call, and what its manifest promised?
//
// Threads: [value]. Reads the plugin's tables, calls nothing.
#pragma once

#include "plugin/abi.hpp"
#include "plugin/loading/catalogue.hpp"

#include <string>
#include <vector>

namespace patchbay::plugin {

// Empty: all is well. Else the refusal.
std::string why_tables_are_wrong(const patchbay_plugin* plugin, const PluginInfo& manifest);

}  // namespace patchbay::plugin
