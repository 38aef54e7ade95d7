// The protocol revisions spoken, and which era each belongs to.
//
// Threads: [any], constant.
// Source:  MCP 2026-07-28 basic/versioning ("Terminology").
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace patchbay::protocol {

enum class Era { Legacy, Modern };

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLegacyVersion = "2025-11-25";  // newest with a handshake
inline constexpr std::array<std::string_view, 5> kVersions = {
    "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};  // newest first

inline bool speaks(std::string_view version) {
    for (const auto known : kVersions) {
        if (known == version) return true;
    }
    return false;
}
inline Era era_of(std::string_view version) {
    return version == kModernVersion ? Era::Modern : Era::Legacy;
}
inline const char* name_of(Era era) {
    return era == Era::Modern ? "modern" : "legacy";
}
std::string spoken_versions();  // "2026-07-28, 2025-11-25, ..."

}  // namespace patchbay::protocol
