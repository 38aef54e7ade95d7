// What is wrong with a server's entry that is about to be written.
//
// Threads: the calling one; blocks for the disk.
#pragma once

#include "app/host.hpp"
#include "app/verbs.hpp"

#include <map>
#include <string>
#include <vector>

namespace patchbay::app {

// Invalid, with what is wrong with the server when `file` says `text`; of warnings only those that it brings are told.
Result<void> judge(const Host& host, const std::string& file, const std::string& text,
                   const std::string& id, const GlobalOptions& global);
// What stands in clear text in entries that were written, by server: "env.TOKEN".
using ClearSecrets = std::map<std::string, std::vector<std::string>>;
// One warning of them all, where the file comes with a checkout or others may read it.
void warn_of_secrets(const ClearSecrets& secrets, const std::string& file, config::Scope scope,
                     const GlobalOptions& global);

}  // namespace patchbay::app
