// What leaves for the server, in order: a transport that is full is not given more, and what waits
// here may still be taken back.
//
// Threads: [loop]. Borrows all it is given.
// Limits:  core::Limits queue_messages and server_requests bound what may wait; over that the server
//          is given up.
#pragma once

#include "connection/link.hpp"
#include "connection/reply.hpp"
#include "core/lifetime.hpp"
#include "core/limits.hpp"
#include "core/loop.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace patchbay::connection {

struct Outgoing {
    plugin::MessageKind kind;
    RequestId exchange;
    std::string body, method;
    std::vector<plugin::Header> headers = {};
};

class OutboxOwner {
public:
    // A request waits, and may be taken back by its place.
    virtual void on_queued(RequestId exchange, std::uint64_t place) = 0;
    // A request is about to be given to the transport.
    virtual void on_leaving(RequestId exchange) = 0;
    // The transport has not taken it.
    virtual void on_not_taken(plugin::MessageKind kind, RequestId exchange, Error error) = 0;
    virtual void on_overflow(Error error) = 0;

protected:
    ~OutboxOwner() = default;
};

class Outbox {
public:
    Outbox(core::Loop& loop, const core::Limits& limits, Link& link, OutboxOwner& owner);

    void send(Outgoing&& message);
    void take_back(std::uint64_t place) { waiting_.erase(place); }
    void writable();
    void clear();  // the channel is gone

private:
    void overflow();
    void hand_over(Outgoing& outgoing);

    core::Loop& loop_;
    const core::Limits& limits_;
    Link& link_;
    OutboxOwner& owner_;
    std::map<std::uint64_t, Outgoing> waiting_;  // since PAUSE, in order
    std::uint64_t last_place_ = 0;
    plugin::Flow flow_ = plugin::Flow::Ready;  // as the transport said last
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
