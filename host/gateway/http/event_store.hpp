// What was said on the streams of a session, for a client that lost its connection and comes back.
//
// Threads: [loop].
// Limits:  MemoryEvents: kMostEvents and kMostBytes of a session; the oldest go first, but the newest
//          stays however long it is.
// Source:  MCP 2025-11-25 basic/transports "Resumability and Redelivery".
#pragma once

#include "core/time_source.hpp"
#include "gateway/outward.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace patchbay::gateway {

// Where numbers of streams and of events begin: a client that comes back to another gateway names
// those of the one before, which are smaller, and are taken for none of ours.
std::uint64_t first_number(const core::TimeSource& time);

class EventStore {
public:
    virtual ~EventStore() = default;
    // Its number on that stream, one after the other.
    virtual std::uint64_t append(Route stream, const std::string& message) = 0;
    // Those of that stream behind that number which are still there.
    virtual void each_behind(
        Route stream, std::uint64_t number,
        const std::function<void(std::uint64_t number, const std::string& message)>& each) = 0;
    virtual bool knows(Route stream) const = 0;
};

class MemoryEvents final : public EventStore {
public:
    static constexpr std::size_t kMostEvents = 1'000, kMostBytes = 4u << 20;

    // `before_first`: the number before the first of each stream.
    explicit MemoryEvents(std::uint64_t before_first = 0) : before_first_(before_first) {}
    std::uint64_t append(Route stream, const std::string& message) override;
    void each_behind(Route stream, std::uint64_t number,
                     const std::function<void(std::uint64_t, const std::string&)>& each) override;
    bool knows(Route stream) const override;

private:
    struct Event {
        Route stream;
        std::uint64_t number;
        std::string message;
    };
    const std::uint64_t before_first_;
    std::deque<Event> events_;                // from the oldest
    std::map<Route, std::uint64_t> numbers_;  // the last, of streams that have any
    std::size_t bytes_ = 0;
};

}  // namespace patchbay::gateway
