// How much a server logs, as MCP names it.
//
// Threads: [value]. Source: MCP server/utilities/logging.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// From the one that tells most.
inline constexpr std::array<std::string_view, 8> kLogLevels = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

// Its place among them; nothing: there is no such level.
constexpr std::optional<std::size_t> log_severity(std::string_view level) {
    for (std::size_t place = 0; place < kLogLevels.size(); ++place)
        if (kLogLevels[place] == level) return place;
    return std::nullopt;
}

}  // namespace patchbay::protocol
