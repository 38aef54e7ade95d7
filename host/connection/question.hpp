// What a person is being asked on behalf of a server.
//
// Threads: [loop].
#pragma once

#include <memory>

namespace patchbay::connection {

// Kept by who waits for the answer: when the last copy goes, the question is withdrawn, and an
// answer to it never comes. Null: nobody is asked, or the answer was there at once.
using Question = std::shared_ptr<void>;

}  // namespace patchbay::connection
