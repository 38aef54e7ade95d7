// What a child is made of: its program, found as exec would find it, and its environment.
//
// Threads: [any]; reads the environment of this process, which nobody may change meanwhile.
// Errors:  a program that is missing or not executable, or a working directory that is none, is
//          refused with what was tried.
#pragma once

#include "core/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugin {

struct Program {
    std::vector<std::string> argv;
    std::string cwd;                                               // empty: ours
    std::vector<std::pair<std::string, std::string>> environment;  // added to the short list
    bool own_pids = true;  // a PID namespace of its own, where permitted
};

// The environment of a child: HOME, LOGNAME, PATH, ... of this process, then `added`, as "K=V".
std::vector<std::string> child_environment(
    const std::vector<std::pair<std::string, std::string>>& added);

// The path to execute, from inside `program.cwd`.
Result<std::string> find_program(const Program& program,
                                 const std::vector<std::string>& environment);

}  // namespace patchbay::plugin
