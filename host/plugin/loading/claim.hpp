// A mapped library that is one catalogue's to enter. Unused it goes back for the next one.
//
// Threads: [any]: it is made on a worker's thread and travels to the loop.
#pragma once

#include <memory>

namespace patchbay::plugin {

struct Resident;

struct GiveBack {
    void operator()(Resident* resident) const;
};
using Claim = std::unique_ptr<Resident, GiveBack>;

}  // namespace patchbay::plugin
