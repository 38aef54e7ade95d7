// The JSON Schema of configuration files, as config/schema has it.
//
// Threads: [any], constant.
#pragma once

namespace patchbay::app {

extern const char kConfigSchema[];

}  // namespace patchbay::app
