// What a change of a person's file is, as a terminal may show it: text_difference.hpp without the secrets that stand there.
//
// Threads: [any], pure.
#pragma once

#include "config/sources.hpp"

#include <string>

namespace patchbay::app {

// Values of `env` and `headers`: those that are secrets by name or shape, or all that are no reference alone, as `config
// show` has it. An entry of ours that is shown before it is written has paths there, for its reader to see.
enum class PassedOn { SecretsHidden, AllHidden };

// Of a text that cannot be read in that format nobody knows which words are secrets by their names.
std::string shown_difference(const std::string& before, const std::string& after,
                             const std::string& name, config::Format format,
                             PassedOn passed_on = PassedOn::SecretsHidden);

}  // namespace patchbay::app
