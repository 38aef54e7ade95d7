// Is what a plugin's entry returned what this host may call, and what its manifest promised?
//
// Threads: [value]. Reads the plugin's tables, calls nothing.
#pragma once

#include "plugin/abi.hpp"
#include "plugin/catalogue.hpp"

#include <string>
#include <vector>

namespace patchbay::plugin {

// The size each struct had in 0.0, spelled by its last member then. A table below its floor was
// built against a header older than the generation's first: every later slot would be another one.
inline constexpr std::size_t kPluginFloor = offsetof(patchbay_plugin, shutdown) + sizeof(void*);
inline constexpr std::size_t kTransportFloor =
    offsetof(patchbay_transport, destroy) + sizeof(void*);
inline constexpr std::size_t kAuthFloor = offsetof(patchbay_auth, destroy) + sizeof(void*);
inline constexpr std::size_t kGrantFloor =
    offsetof(patchbay_grant, expires_unix_ms) + sizeof(std::uint64_t);
inline constexpr std::size_t kProblemFloor =
    offsetof(patchbay_problem, header_count) + sizeof(std::size_t);

// Empty: all is well. Else the refusal.
std::string why_tables_are_wrong(const patchbay_plugin* plugin, const PluginInfo& manifest);

}  // namespace patchbay::plugin
