// patchbay.host.process/1: children of one plugin, each beside a supervisor that ends its whole
// tree when the child is done, when the plugin says so, or when this process is gone.
//
// Owns:    control sockets and supervisors. Borrows the loop. The destructor ends every tree and
//          waits for that, with a bound.
// Threads: constructor and destructor are [loop], the rest [any]; callbacks come on the loop.
// Errors:  as process_program.hpp says; what only exec can tell (a missing interpreter) arrives on
//          the child's stderr, exit code 127.
#pragma once

#include "core/loop.hpp"
#include "plugin/abi.hpp"
#include "plugin/hurried.hpp"
#include "plugin/services/process_program.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::plugin {

class ProcessService {
public:
    using Started = void(PATCHBAY_CALL*)(void*, std::int64_t);
    using Exited = void(PATCHBAY_CALL*)(void*, std::int32_t);

    // `misbehaved` is told what a callback threw. Ignores SIGPIPE in this process unless somebody
    // handles it: a pipe to a child that has died would end us.
    ProcessService(core::Loop& loop, std::string plugin,
                   std::function<void(std::string)> misbehaved);
    ~ProcessService();
    ProcessService(const ProcessService&) = delete;

    // The same functions for plugins; they find the service through HostServices.
    static const patchbay_host_process* table();

    Result<patchbay_process> spawn(const Program& program, void* ctx, Started started,
                                   Exited exited);
    void stop(patchbay_op op, std::uint32_t grace_ms);
    // Of one whose end is just being told, nothing else.
    std::optional<patchbay_process_usage> usage(patchbay_op op) const;
    // No grace is longer than `most_ms` from now on; Leaving: only of those that are stopped already.
    void hurry(Hurried whom, std::uint32_t most_ms);

private:
    struct State;
    std::shared_ptr<State> state_;
};

// <dir of this executable>/../libexec/patchbay/patchbay-supervisor, or PATCHBAY_SUPERVISOR.
std::string supervisor_path();

}  // namespace patchbay::plugin
