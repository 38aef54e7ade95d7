// Connections that nobody finds any more: each closes with the last call that it has begun, and is
// gone once its channel is. What they have cost their servers is known for as long as the host lives.
//
// Owns:    them. Threads: [loop]. Errors: none.
// Limits:  of kServers that have had one the counts are kept, those of whoever had its last one first go.
#pragma once

#include "connection/connection.hpp"
#include "core/lifetime.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::connection {

class Departures {
public:
    static constexpr std::size_t kServers = 4'096;

    explicit Departures(core::Loop& loop) : loop_(loop) {}

    void take(std::unique_ptr<Connection> connection);
    // It closes at once, and its calls end with it.
    void take_closing(std::unique_ptr<Connection> connection);
    std::size_t count(std::string_view server) const;
    // Puts to the counts of that server's status those of all that leave or have gone.
    void count_in(Status& status) const;
    std::vector<Connection*> all() const;

private:
    struct Past {
        Status counts;  // and nothing else of it
        core::Clock::time_point last;
    };
    void forget(const Connection* gone);
    void keep_counts(const Status& status);

    core::Loop& loop_;
    std::map<std::string, Past, std::less<>> past_;
    std::vector<std::unique_ptr<Connection>> leaving_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
