// Files of this source tree that the program has in itself: config/presets and config/starters.
//
// Threads: [any], constant.
#pragma once

#include <span>
#include <string_view>

namespace patchbay::app {

struct CompiledIn {
    std::string_view name, text;  // "config.toml"
};

std::span<const CompiledIn> preset_files();   // by name
std::span<const CompiledIn> starter_files();  // by name

}  // namespace patchbay::app
