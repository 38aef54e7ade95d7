// Exceptions that came to an edge of the host, where none may pass: the loop's callbacks, a worker,
// what plugins call, and the edges of plugins, which say so. Each is a bug; it ends one callback, one
// server or one call, and the host goes on.
//
// Threads: [any].
#pragma once

#include <cstdint>
#include <string_view>

namespace patchbay::core {

// One was told elsewhere.
void count_escape() noexcept;
// Counts what is being thrown and logs "internal error: WHERE threw: WHY". Inside a catch.
[[gnu::cold]] void note_escape(std::string_view where) noexcept;

// How many in this process since the last time of asking. Tests fail for them.
std::uint64_t take_escapes() noexcept;

}  // namespace patchbay::core
