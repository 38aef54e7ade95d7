// Why there is no tool of a name, in words that lead to one.
//
// Threads: [loop].
#pragma once

#include "core/result.hpp"

#include <string>

namespace patchbay::app {

class Session;

// `error`: what the router said of `name`. What is no NotFound, or names the nearest already, stays.
Error unknown_tool(const Session& session, const std::string& name, Error error);

}  // namespace patchbay::app
