// Why there is no tool of a name, in words that lead to one.
//
// Threads: [loop].
#pragma once

#include "core/result.hpp"

#include <string>

namespace patchbay::app {

class Session;

struct UnknownTool {
    Error error;
    std::string server;  // whose tool it would be, out of order or not approved; empty: nobody's
};

// `error`: what the router said of `name`. What is no NotFound, or names the nearest already, stays.
UnknownTool unknown_tool(const Session& session, const std::string& name, Error error);

}  // namespace patchbay::app
