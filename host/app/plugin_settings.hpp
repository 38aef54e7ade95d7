// What the configuration and the command line say about plugins, judged by those that there are.
//
// Threads: [loop].
#pragma once

#include "config/config.hpp"
#include "plugin/loading/catalogue.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

// A warning for each id in [plugins] disabled that no plugin has: it turns off nothing.
void check_disabled(config::Config& config, const plugin::Catalogue& plugins);

// A --plugin-dir that is not there stops every verb, as a --config file does.
void check_directories(config::Config& config, const std::vector<std::string>& of_flags);

}  // namespace patchbay::app
