// What a server, or a tool of it, was when a caller was asked to approve of it, and whether it is that still.
// Internal to this room.
//
// Borrows pool and finder. Threads: [loop]. Errors: Unavailable, for whoever approved of another one.
#pragma once

#include "connection/caller.hpp"
#include "connection/connection_pool.hpp"
#include "protocol/tool.hpp"
#include "router/tool_finder.hpp"

#include <optional>
#include <string>

namespace patchbay::router {

class Definitions {
public:
    Definitions(connection::ConnectionPool& pool, ToolFinder& finder)
        : pool_(pool), finder_(finder) {}

    // Equal as long as it is the same; empty: there is no such server.
    std::string of(const std::string& server) const;
    // The server, and what it says of the tool.
    std::string of(const std::string& server, const protocol::Tool& tool) const;

    // What was to be approved and is another one by now; nothing: it is the same, or gone.
    std::optional<Error> changed(const connection::Approvable& wanted) const;
    static Error another_one(const std::string& server, const std::string& approvable);

private:
    connection::ConnectionPool& pool_;
    ToolFinder& finder_;
};

}  // namespace patchbay::router
