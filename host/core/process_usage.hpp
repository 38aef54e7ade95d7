// What a program that runs and all that it has started have used so far, as the kernel's tables say:
// without what has left them, and of at most kMostProcesses.
//
// Threads: [any]; reads /proc, which waits for no disk. Errors: nothing of who is gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace patchbay::core {

inline constexpr std::size_t kMostProcesses = 256;  // looked at

struct ProcessUsage {
    std::chrono::milliseconds cpu{0};
    std::uint64_t peak_memory_bytes = 0;  // the largest of them
    std::size_t processes = 0;
};

ProcessUsage usage_of_tree(std::int64_t pid);

}  // namespace patchbay::core
