// How many exchanges of an engine may be under way, and when too many wait. Decides on numbers alone.
//
// Threads: inside a turn. Errors: none.
// Limits:  kConnections under way; kQueued that wait, or kQueuedBytes of their bodies, are a crowd.
#pragma once

#include <cstddef>

namespace patchbay::net {

class Admission {
public:
    static constexpr std::size_t kConnections = 64;
    static constexpr std::size_t kQueued = 1000, kQueuedBytes = 16u << 20;

    // One with a body of so many bytes waits, and waits no more.
    void arrive(std::size_t bytes);
    void depart(std::size_t bytes);
    // There is a place for one more; it is taken, and given back.
    bool has_place() const { return under_way_ < kConnections; }
    void enter() { ++under_way_; }
    void leave() { --under_way_; }

    // Too many wait, or did: until half of them are gone.
    bool crowded();
    // Once after crowded() was true: half of them are gone.
    bool has_room_again();

private:
    std::size_t waiting_ = 0, waiting_bytes_ = 0, under_way_ = 0;
    bool crowded_ = false;
};

}  // namespace patchbay::net
