// patchbay.host.process/1: children of one plugin, each beside a supervisor that ends its whole
// tree when the child is done, when the plugin says so, or when this process is gone.
//
// Owns:    control sockets and supervisors. The destructor lets go of the sockets, which ends every
//          tree. Borrows the loop.
// Threads: [any]; callbacks come on the loop.
// Errors:  a program that is missing, not executable, or has no such working directory is refused
//          with the path that was tried; what only exec can tell arrives on the child's stderr, exit
//          code 127.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/loop.hpp"
#include "plugin/abi.hpp"

namespace patchbay::plugin {

struct Program {
    std::vector<std::string> argv;
    std::string cwd;                                             // empty: ours
    std::vector<std::pair<std::string, std::string>> environment;  // added to the short list
};

// The environment of a child: HOME, LOGNAME, PATH, ... of this process, then `added`, as "K=V".
std::vector<std::string> child_environment(const std::vector<std::pair<std::string, std::string>>& added);

// Where exec would find `program`; the error says what was searched.
Result<std::string> find_program(const Program& program, const std::vector<std::string>& environment);

class ProcessService {
public:
    using Started = void(PATCHBAY_CALL*)(void*, std::int64_t);
    using Exited = void(PATCHBAY_CALL*)(void*, std::int32_t);

    ProcessService(core::Loop& loop, std::string plugin);
    ~ProcessService();
    ProcessService(const ProcessService&) = delete;

    static const patchbay_host_process* table();

    Result<patchbay_process> spawn(const Program& program, void* ctx, Started started, Exited exited);
    void stop(patchbay_op op, std::uint32_t grace_ms);

private:
    struct State;
    std::shared_ptr<State> state_;
};

// <dir of this executable>/../libexec/patchbay/patchbay-supervisor, or PATCHBAY_SUPERVISOR.
std::string supervisor_path();

}  // namespace patchbay::plugin
