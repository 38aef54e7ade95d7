// A host that goes on behind the command that started it: in a session of its own, its stderr in a file.
//
//   <state directory>/run/<key>.log    0600, begun anew by each host
//
// Owns:    the descriptors. Threads: of a process with one thread only, up to the fork; then the calling one.
// Errors:  Io: the system's reason. The command tells what the host says until it is ready, and ends as
//          it does where it never is.
// Limits:  kLogBytes: a longer log is begun anew.
#pragma once

#include "core/descriptor.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace patchbay::app {

class Detached {
public:
    static constexpr std::size_t kLogBytes = 16u << 20;

    // What the command that started it learns of it.
    struct Started {
        int pid = 0;
        int exit_code = 0;  // 0: it is ready
    };
    static std::string log_path(const std::string& state_directory, const std::string& key) {
        return state_directory + "/run/" + key + ".log";
    }
    // In the host itself. In the command that started it there is none, and `started` is set.
    static Result<std::optional<Detached>> fork(const std::string& state_directory,
                                                const std::string& key, Started& started);
    // From now on stderr is the log, and nobody waits for the host. False: nobody did any longer, and there
    // is to be no host.
    bool ready();
    void keep_log_short() const;

private:
    Detached(core::Descriptor log, core::Descriptor news)
        : log_(std::move(log)), news_(std::move(news)) {}

    core::Descriptor log_;
    core::Descriptor news_;  // to the command; a byte says that the host is ready
};

}  // namespace patchbay::app
