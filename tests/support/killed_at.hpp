// Runs something in a child process and kills it just before its n-th system call that would change
// the disk below a directory, counted over all of its threads.
//
// Threads: one. Other children may be there, but none may be waited for meanwhile. Errors: what
// ptrace refuses is reported by gtest.
#pragma once

#include "support/run_program.hpp"

#include <functional>
#include <string>

namespace patchbay::test {

struct Killed {
    bool killed = false;    // false: it came to its end before the n-th
    int exit_code = -1;     // then
    std::string last_call;  // the one it did not live to make
};

// `child` runs in the forked process; what it returns is its exit code (unless it calls exec).
Killed killed_at(int nth, const std::string& directory, const std::function<int()>& child);

// For such a child: it becomes the program of `command`, and reads and writes nowhere. Returns where it cannot.
int become(const Command& command);

}  // namespace patchbay::test
