// What of all that is configured a client is shown.
//
// Threads: [value].
#pragma once

#include "connection/connection_pool.hpp"

#include <string>
#include <vector>

namespace patchbay::gateway {

struct View {
    // Id of the one server that there is, everything of which has its own name; empty: all there are.
    std::string only;

    bool all() const { return only.empty(); }
    // Tells it from other views, in what outlives this process.
    std::string key() const { return only; }
    std::vector<std::string> servers(const connection::ConnectionPool& pool) const {
        return all() ? pool.ids() : std::vector<std::string>{only};
    }
};

}  // namespace patchbay::gateway
