// What was remembered of a configuration, to be compared with what the files say later: one file for
// each project folder, `snapshots/<digest of the folder>.json` in the state directory.
//
//   {"version":1,"folder":"/srv/app","snapshot":{...}}      registry/imprint.hpp has the rest
//
// It names servers, tools and keys, and no value of a setting. A file is replaced as a whole, so two
// that write at once leave the one or the other.
//
// Owns:    nothing but names. Threads: the calling one; blocks for the disk.
// Errors:  a file that others can write, that makes no sense or is of a newer patchbay is not
//          believed, and not written over.
#pragma once

#include "core/result.hpp"
#include "registry/imprint.hpp"

#include <optional>
#include <string>

namespace patchbay::app {

class SnapshotFile {
public:
    static constexpr std::size_t kFileBytes = 8u << 20;

    // `folder`: the project's; empty: none.
    SnapshotFile(const std::string& state_directory, std::string folder);

    // Nothing: nothing was remembered.
    Result<std::optional<registry::Imprint>> read() const;
    // On disk when it returns, for this user alone.
    Result<void> remember(const registry::Snapshot& snapshot) const;

    const std::string& path() const { return path_; }

private:
    std::string directory_, folder_, name_, path_;
};

}  // namespace patchbay::app
