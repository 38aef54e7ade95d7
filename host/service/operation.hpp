// What an operation that takes its time hands back.
//
// Threads: [loop].
#pragma once

#include <memory>

namespace patchbay::service {

// Held by whoever waits for the outcome. Dropped, nothing more is told: `done` is never called, and
// what still arrives is lost. `done` is called at most once, never from inside the call that began
// the operation.
using Operation = std::shared_ptr<void>;

}  // namespace patchbay::service
