// Connections that have carried an exchange and may carry another.
//
// Owns:    the connections; their watches are the engine's, which ends what it gets back.
// Threads: inside a turn.
// Errors:  none.
// Limits:  kMost of them, each for Endpoint::keep_alive, or three quarters of what its server says: a request that
//          meets the end of a connection may have been carried out, or not.
// Source:  RFC 9112 section 9.3; the Keep-Alive header of RFC 2068 section 19.7.1.1.
#pragma once

#include "channel_core.hpp"
#include "net/connection.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace patchbay::net {

class Answers;
class Task;

using transport::Clock;

// A connection and its watch, which lasts as long as it.
struct Line {
    Line(Answers& its_answers, Dialed dialed, const Url& url)
        : answers(its_answers), connection(std::move(dialed), url) {}

    Answers& answers;  // which hear of what comes on it
    Connection connection;
    Task* task = nullptr;  // whose exchange is on it; null: idle
    patchbay_op watch = 0;
    std::uint32_t events = transport::ChannelCore::kReadable;  // that are watched
    Clock::time_point idle_since;
    Clock::duration idle_limit{};  // for which it may be used again
    std::uint64_t unproven = 0;    // of the task it carried last
    bool ended = false;            // idle and of no use: the reactor will drop it
};
using LinePtr = std::unique_ptr<Line>;

class KeptConnections {
public:
    static constexpr std::size_t kMost = 64;
    static constexpr std::chrono::seconds kUnprovenLimit{1};

    // Of a connection whose server says that it keeps it for so long; `most`: for which we do.
    static Clock::duration idle_limit(std::optional<std::chrono::seconds> said,
                                      std::chrono::seconds most);

    // In place of what it gives back, the one that was used longest ago; null: there is room for all.
    // `unproven`: as Task::unproven().
    LinePtr keep(LinePtr line, std::uint64_t unproven, Clock::time_point now);
    // The one that was used last, if it is of use; null: there is none.
    LinePtr take(const Url& url, Clock::time_point now);
    // The one that carried the task with this number, whatever has come there since; null: it is gone.
    LinePtr take(std::uint64_t unproven);
    // The answer of the task with this number was its own.
    void vouch(std::uint64_t unproven);
    LinePtr give_up(Line& line);  // which is kept
    std::vector<LinePtr> give_up_all();

private:
    std::vector<LinePtr> lines_;
};

}  // namespace patchbay::net
