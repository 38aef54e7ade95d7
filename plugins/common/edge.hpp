// The edge of a bundled plugin: where the host, its reactor or a thread of ours calls in. A function
// that C calls lets no exception pass; one that got so far would end the process, and with it every
// other server's channel.
//
// Threads: [any].
#pragma once

#include <patchbay/cpp/plugin.hpp>

#include <string>
#include <utility>

namespace patchbay::transport {

// Tells the host what escaped to an edge, in the log and as fatal: a bug of ours, which it counts
// and tests fail for. Out of memory is no bug and told as an error. Call it inside a catch. Returns
// what was told; empty when there is no memory for that either. `host` null: nobody is told.
[[gnu::cold]] std::string note_escape(const patchbay_host* host, const char* what) noexcept;

// Runs `body`; false: it threw, and that was told. What then ends with an internal error is for
// whoever asks; ChannelCore has it for channels.
template <class Body>
bool edge(const patchbay_host* host, const char* what, Body&& body) noexcept {
    try {
        std::forward<Body>(body)();
        return true;
    } catch (...) {
        note_escape(host, what);
        return false;
    }
}

}  // namespace patchbay::transport
