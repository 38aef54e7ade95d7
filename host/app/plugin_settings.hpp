// What the configuration and the command line say about plugins, judged by those that there are.
//
// Threads: [loop].
#pragma once

#include "config/config.hpp"
#include "config/sources.hpp"
#include "plugin/loading/catalogue.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

// A warning for each id in [plugins] disabled that no plugin has: it turns off nothing.
void check_disabled(config::Config& config, const plugin::Catalogue& plugins);

// A --plugin-dir that is not there stops every verb, as a --config file does. A warning for each other
// folder of plugins that somebody named and that is not looked at.
void check_directories(config::Config& config, const std::vector<std::string>& of_flags,
                       const config::Environment& environment);

// A warning for each plugin that is refused by its manifest in a folder that somebody named: the next
// one of its name serves instead.
void check_refused(config::Config& config, const plugin::Catalogue& plugins);

}  // namespace patchbay::app
