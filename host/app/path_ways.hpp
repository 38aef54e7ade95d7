// The folders and links by which paths lead to what they mean now: what has to be watched to hear of a change at one of
// them.
//
// Threads: [any]; looks at links and folders, which may wait for a disk.
// Errors:  none; a way that is lost ends at the first name that is not there.
// Limits:  kMostParts are walked; of a path that no system call takes (PATH_MAX) nothing is. A folder that several
//          paths lead through is looked at once: candidates of the configuration are many files in each folder above.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace patchbay::app {

struct PathWays {
    static constexpr std::size_t kMostParts = 16'384;

    // By folder the names in it that matter: those of folders and links on the way, up to a path's own or the first
    // that is not there.
    std::map<std::string, std::set<std::string>> names;
    bool all = true;  // false: there are more than kMostParts
};

// Folders that are everybody's, as /tmp is (the sticky bit): to watch one the kernel visits each name that it knows there,
// which takes milliseconds where those are many. LeftOut: of one on the way to a folder that is there nothing is wanted;
// that folder itself tells that it leaves, though not that it is removed while it is somebody's working directory.
enum class OfAll { Watched, LeftOut };

PathWays ways_of(const std::vector<std::string>& paths, OfAll of_all = OfAll::Watched);

}  // namespace patchbay::app
