// Work that may take its process down, done in a child process.
//
// Threads: of a process with one thread only: a child has none of the others.
#pragma once

#include "core/result.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace patchbay::app {

constexpr std::size_t kMostReturned = 1u << 20;  // bytes

struct Ended {
    std::optional<std::string> returned;  // what `work` did; none: the process ended before
    int signal = 0;                       // that ended it; SIGALRM: it took longer than the limit
    int exit_code = 0;
    bool told_too_much = false;  // ended for it: over kMostReturned; nothing else is known then
};

// What it prints to stdout goes to stderr. It does not outlive us, nor the limit by more than a
// second, whatever it does; what it starts and does not set apart goes with it, unless we are killed.
// Io: there can be no child.
Result<Ended> in_a_child(const std::function<std::string()>& work, std::chrono::milliseconds limit);

std::string name_of_signal(int number);  // "SIGABRT"

}  // namespace patchbay::app
