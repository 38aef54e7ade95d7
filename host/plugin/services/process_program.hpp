// What a child is made of: its program, found as exec would find it, and its environment.
//
// Threads: [any]; reads the environment of this process, which nobody may change meanwhile.
// Errors:  a program that is missing or not executable, or a working directory that is none, is
//          refused with what was tried.
#pragma once

#include "core/result.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugin {

// What a program may use with all its descendants; 0: not bounded.
struct ProcessLimits {
    std::uint64_t memory_bytes = 0, cpu_seconds = 0, processes = 0;
    std::uint64_t files = 0;  // open in one of them
};

struct Program {
    std::vector<std::string> argv;
    std::string cwd;                                               // empty: ours
    std::vector<std::pair<std::string, std::string>> environment;  // added to the short list
    bool own_pids = true;  // a PID namespace of its own, where permitted
    ProcessLimits limits = {};
};

// The environment of a child, as "K=V": of this process what says who the user is (HOME, LANG, PATH,
// ...) and what reaches the network (proxies without passwords, certificate files, npm's settings
// but its credentials, XDG_*), then `added`.
std::vector<std::string> child_environment(
    const std::vector<std::pair<std::string, std::string>>& added);

// The path to execute, from inside `program.cwd`.
Result<std::string> find_program(const Program& program,
                                 const std::vector<std::string>& environment);

}  // namespace patchbay::plugin
