// What a test's program has asked of the heap: how much work something is, on a machine of any speed.
// For programs that are linked with counted_memory.cpp, which replaces operator new.
//
// Threads: [any]; what other threads ask for counts too.
#pragma once

#include <cstddef>

namespace patchbay::test {

struct Memory {
    std::size_t pieces = 0, bytes = 0;  // asked for, whatever became of them
};
Memory memory_asked_for();

}  // namespace patchbay::test
