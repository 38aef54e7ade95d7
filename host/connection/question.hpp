// What a person is being asked on behalf of a server.
//
// Threads: [loop].
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::connection {

// What a caller calls a request of its own, and is told of it by; 0: nothing, or not known.
using Reference = std::uint64_t;

// What a server's question is about, as far as it has said.
struct About {
    Reference request = 0;
    std::string key = {};  // by which it wants the answer; empty: it has named none
    // What it asks, raw, as it was written; empty: there are no params. Good within the call.
    std::string_view params = {};
};

// Kept by who waits for the answer: when the last copy goes, the question is withdrawn, and an
// answer to it never comes. Null: nobody is asked, or the answer was there at once.
using Question = std::shared_ptr<void>;

}  // namespace patchbay::connection
