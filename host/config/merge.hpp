// Fragments to a Config, by the rules of config/README.md.
//
// Servers: by id. The strongest definition replaces weaker ones whole; an entry that names no way
// to connect is an overlay on what is below it. Among sources of equal strength the first wins.
// Tables:  by key, the strongest wins; [auth.*] by id. Project and local files may not set what
//          would loosen the host (keys.hpp, May::NotProject).
// Permissions: `deny` adds up over all scopes. `allow` of a stronger scope replaces a weaker one,
//          but project and local files only narrow it, and enterprise narrows the result.
// Enterprise: a broken file denies all, and so does an overlay on a server that is not there, if the
//          name only looks different from that of one that is; without `exclusive = false` only enterprise files count.
//
// Threads: [any], pure: reads no file, clock or environment.
// Errors:  none as a whole: what makes no sense is left out and named in `diagnostics`.
#pragma once

#include "config/fragment.hpp"

#include <vector>

namespace patchbay::config {

struct MergeDefaults {
    Server times;  // the time limits of servers that say none; nothing else of it counts
};

Config merge(std::vector<Fragment> fragments, const MergeDefaults& defaults = {});

// What of this ends a run: the first error about what was named for it, or nothing. A faulty server
// entry of a file takes out only itself, there as everywhere.
std::string wrong_source(const std::vector<Diagnostic>& diagnostics);

// Whether these fragments, of enterprise files alone, leave no room for other sources.
bool exclusive(const std::vector<Fragment>& enterprise);

}  // namespace patchbay::config
