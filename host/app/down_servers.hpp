// Which servers of a host that stays are down, for who has started it: each trouble once at warn, and at info that a server is
// back. One that is started again and again is told of when that begins, and when nobody tries any more.
//
// Borrows the source of time. Threads: [loop]. Errors: none.
// Limits:  of one that dies and comes back one line of each state within kPause; how often it did in between is told with
//          the next.
#pragma once

#include "connection/status.hpp"
#include "core/log.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace patchbay::app {

class DownServers {
public:
    static constexpr std::chrono::minutes kPause{1};

    using Tell = std::function<void(core::log::Level level, const std::string& text)>;
    DownServers(const core::TimeSource& time, Tell tell) : time_(time), tell_(std::move(tell)) {}

    static bool is_down(connection::State state);
    // `why`: asked of one that is told of.
    using Why = std::function<std::string()>;
    void note(const std::string& server, connection::State state, const Why& why);
    // It is defined otherwise, or not at all, from now on.
    void forget(const std::string& server) { known_.erase(server); }

private:
    struct Known {
        connection::State state = connection::State::Ready;  // the last that counts
        std::map<connection::State, core::Clock::time_point> told{};
        std::size_t untold = 0;
    };

    const core::TimeSource& time_;
    Tell tell_;
    std::map<std::string, Known> known_;  // of those that were down
};

}  // namespace patchbay::app
