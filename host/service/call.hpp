// Calls of tools by their public names, and why one cannot be made, in words that lead to a tool.
//
// Threads: [loop].
// Errors:  the router's; of a name that nobody has also which server is off, and what was meant.
#pragma once

#include "service/servers.hpp"

#include <functional>
#include <string>

namespace patchbay::service {

// As Router::call, to be cancelled there.
router::CallId call(const Servers& known, connection::Caller& caller, router::Call call,
                    connection::ReplyHandler handler);

// The tool itself, for whoever has to know its schema first; as Router::find_tool.
void find_tool(const Servers& known, const connection::Caller& caller, const std::string& name,
               std::chrono::milliseconds timeout,
               std::function<void(Result<router::ListedTool>)> found);

// `error`: what the router said of `name`. What is no NotFound, or names the nearest already, stays.
Error unknown_tool(const Servers& known, const std::string& name, Error error);

}  // namespace patchbay::service
