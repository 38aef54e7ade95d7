// Where the code of each plugin's library lies, for a crash on a thread of the plugin's own, where no
// mark of a call (current_call) is. Written when a library is mapped, since asking the loader is not
// for a signal handler. Libraries are never unmapped, so an entry stays true.
//
// Threads: note_code() is [any]; write_library() is safe in a signal handler.
// Limits:  kMostMappedLibraries, kMappedPathBytes of a path; what is beyond is not known.
#pragma once

#include <cstddef>
#include <string>

namespace patchbay::plugin {

inline constexpr std::size_t kMostMappedLibraries = 256, kMappedPathBytes = 512;

// `inside`: an address of the library's code.
void note_code(const void* inside, const std::string& path);

// `the library PATH` to `fd`; false: `address` is in none of them, and nothing was written.
bool write_library(int fd, const void* address) noexcept;

}  // namespace patchbay::plugin
