// Where configuration comes from: finds every source of config/README.md in order, reads the files
// and notes what was looked at.
//
// Threads: [any]. Errors: an unreadable or broken file is a Fragment with a diagnostic.
#pragma once

#include "config/fragment.hpp"
#include "config/load.hpp"

#include <vector>

namespace patchbay::config {

struct Sources {
    std::vector<Fragment> fragments;
    std::vector<Candidate> candidates;    // strongest last
    std::vector<Diagnostic> diagnostics;  // about sources that were passed over
    std::string stop;                     // Config::stop
    std::string closed_by;                // Config::closed_by
};

Sources discover(const Environment& environment, const std::vector<PluginFragment>& plugins);

// Who may write a file besides its reader: see core/ownership.hpp.
enum class Writable { ByAnybody, ByUserAlone, ByAdministrators };

// At most kFileBytes + 1 bytes of a regular file. NotFound: there is none; Io: why not readable.
// Denied: others may write it.
Result<std::string> read_file(const std::string& path, std::size_t most_bytes = kFileBytes,
                              Writable writable = Writable::ByAnybody);

// Reads by the suffix of the name; `candidate` learns what was found. A project or local file that
// others may write is Ignored, an enterprise file of that kind Unreadable.
Fragment read_source(const std::string& path, Source source, Candidate& candidate,
                     ParsedTexts* parsed = nullptr);

}  // namespace patchbay::config
