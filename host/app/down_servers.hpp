// Which servers of a host that stays are down, for who has started it: each time that one goes down once at warn, once more when
// nobody tries to bring it back any more, and at info that it is back.
//
// Borrows the source of time. Threads: [loop]. Errors: none. What a server says of itself is masked and printable in the log.
// Limits:  of one that goes down and comes back on end one such time within kPause; of the others it is told how many there
//          were, and one that lasts is told of when kPause is over.
#pragma once

#include "connection/status.hpp"
#include "core/log.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace patchbay::app {

class DownServers {
public:
    static constexpr std::chrono::minutes kPause{1};

    struct Ways {
        std::function<void(core::log::Level level, const std::string& text)> tell;
        // note() is to be called again of that server, as it is then.
        std::function<void(const std::string& server, core::Clock::duration delay)> look_again;
    };
    DownServers(const core::TimeSource& time, Ways ways) : time_(time), ways_(std::move(ways)) {}

    static bool is_down(connection::State state);
    // `why`: asked of one that is told of.
    using Why = std::function<std::string()>;
    void note(const std::string& server, connection::State state, const Why& why);
    // It is defined otherwise, or not at all, from now on.
    void forget(const std::string& server) { known_.erase(server); }

private:
    struct Known {
        bool down = false;
        std::set<connection::State> told{};   // of this time
        core::Clock::time_point last_told{};  // of any time
        std::size_t untold = 0;               // times, since then
    };

    const core::TimeSource& time_;
    const Ways ways_;
    std::map<std::string, Known> known_;  // of those that were down
};

}  // namespace patchbay::app
