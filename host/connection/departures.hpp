// Connections that nobody finds any more: each closes with the last call that it has begun, and is
// gone once its channel is.
//
// Owns:    them. Threads: [loop]. Errors: none.
#pragma once

#include "connection/connection.hpp"
#include "core/lifetime.hpp"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace patchbay::connection {

class Departures {
public:
    void take(std::unique_ptr<Connection> connection);
    // It closes at once, and its calls end with it.
    void take_closing(std::unique_ptr<Connection> connection);
    std::size_t count(std::string_view server) const;
    std::vector<Connection*> all() const;

private:
    void forget(const Connection* gone);

    std::vector<std::unique_ptr<Connection>> leaving_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
