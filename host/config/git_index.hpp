// Whether git tracks a file, as the index of its checkout says: no program is run, for a checkout may say which.
//
// Threads: [any]. git_tracks() blocks for the disk. Errors: what cannot be read or makes no sense tracks nothing.
// Limits:  kMostIndexBytes.
// Source:  gitformat-index(5), versions 2 to 4.
#pragma once

#include <string>
#include <string_view>

namespace patchbay::config {

inline constexpr std::size_t kMostIndexBytes = 64u << 20;

bool git_tracks(const std::string& file);

// `path`: from the top of the checkout. Of an index whose hashes have 20 or 32 bytes. [pure]
bool index_has(std::string_view index, std::string_view path);

}  // namespace patchbay::config
