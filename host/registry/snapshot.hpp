// What a host runs by, as one value that nobody changes: the configuration, with the rules that its
// policy is made of, and the servers that follow from it. Another configuration is another one.
//
// Threads: [value].
#pragma once

#include "registry/server_spec.hpp"

#include <memory>
#include <vector>

namespace patchbay::registry {

struct Snapshot {
    config::Config config;
    std::vector<ServerSpec> specs;  // specs_of(config)
};

std::shared_ptr<const Snapshot> snapshot_of(config::Config config);

}  // namespace patchbay::registry
