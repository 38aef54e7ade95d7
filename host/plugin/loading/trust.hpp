// Who may have put a file there: plugin code runs with all our rights, so what others can write to
// is refused. Linux and POSIX.
//
// Threads: [any].
#pragma once

#include <string>
#include <sys/stat.h>

namespace patchbay::plugin {

// Empty: trusted. Else why not: owned by a stranger, or writable by others. A group that carries
// its owner's number is the owner's own (Debian's user private groups).
std::string why_untrusted(const struct stat& status, const std::string& path);

// Raised privileges (set-user-id, file capabilities): the environment is the caller's, not ours.
bool raised_privileges();

}  // namespace patchbay::plugin
