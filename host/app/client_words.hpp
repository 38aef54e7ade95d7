// Entries in the words of clients whose files are in none of the dialects that ours may be in, in our words.
//
// Threads: [any], pure. Errors: why the entry cannot be taken; Unsupported: it is a part of the client.
// Sources: the pages that known_clients.cpp names.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

namespace patchbay::app {

Result<boost::json::object> from_cline(boost::json::object entry);
Result<boost::json::object> from_copilot(boost::json::object entry);
// Also of Qwen Code.
Result<boost::json::object> from_gemini(boost::json::object entry);
// What `env_keys` names is in goose's own keyring: a variable by that name has it here.
Result<boost::json::object> from_goose(boost::json::object entry);
Result<boost::json::object> from_mcporter(boost::json::object entry);
Result<boost::json::object> from_opencode(boost::json::object entry);
Result<boost::json::object> from_zed(boost::json::object entry);

}  // namespace patchbay::app
