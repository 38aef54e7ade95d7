#include "registry/snapshot.hpp"

#include <utility>

namespace patchbay::registry {

std::shared_ptr<const Snapshot> snapshot_of(config::Config config) {
    auto specs = specs_of(config);
    return std::make_shared<const Snapshot>(Snapshot{std::move(config), std::move(specs)});
}

}  // namespace patchbay::registry
