// Secrets in clear text in files that others have: what git tracks is in every checkout, and what others may read is theirs
// too. Modes of files are told of and never changed: who shares a file may mean to.
//
// Threads: the calling one; blocks for the disk.
#pragma once

#include "config/config.hpp"

#include <string>

namespace patchbay::app {

// A warning for each, of servers that count and of those that wait for an approval.
void tell_exposed_secrets(config::Config& config);

// Of a file that others than its owner may read, behind what is in it: "FILE, which others may read (mode 0644); ..." and
// what to do. Empty: they may not, or it is not there.
std::string told_of_readers(const std::string& file);

}  // namespace patchbay::app
