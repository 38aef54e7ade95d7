// What is wrong with a server's entry that is about to be written.
//
// Threads: the calling one; blocks for the disk.
#pragma once

#include "app/host.hpp"
#include "app/verbs.hpp"

#include <boost/json.hpp>

#include <string>

namespace patchbay::app {

// Invalid, with what is wrong with the server when `file` says `text`; of warnings only those that it brings are told.
Result<void> judge(const Host& host, const std::string& file, const std::string& text,
                   const std::string& id, const GlobalOptions& global);
// Of secrets in clear text, where `file` comes with a checkout or others of this machine may read it.
void warn_of_secrets(const std::string& id, const boost::json::object& entry, config::Scope scope,
                     const std::string& file, const GlobalOptions& global);

}  // namespace patchbay::app
