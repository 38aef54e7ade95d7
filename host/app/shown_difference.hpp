// What a change of a person's file is, as a terminal may show it: text_difference.hpp without the secrets that stand there.
//
// Threads: [any], pure.
#pragma once

#include "config/sources.hpp"

#include <string>

namespace patchbay::app {

// Of a text that cannot be read in that format nobody knows which words are secrets by their names.
std::string shown_difference(const std::string& before, const std::string& after,
                             const std::string& name, config::Format format);

}  // namespace patchbay::app
