// How a part of a connection asks the server something of its own accord, and how it says that the
// server is of no use any more.
//
// Threads: [loop].
#pragma once

#include "connection/reply.hpp"

#include <chrono>
#include <string>

namespace patchbay::connection {

class OwnRequests {
public:
    // Sent at once, whatever the state. A time-out of 0: the limits that a caller's request of this
    // method has. `handler` is called once, at the latest when the connection goes.
    virtual RequestId ask(Request request, std::chrono::milliseconds timeout,
                          ReplyHandler handler) = 0;
    // Tells the server, and ends it with ErrorCode::Cancelled.
    virtual void cancel(RequestId id, const std::string& reason) = 0;

protected:
    ~OwnRequests() = default;
};

class Loss {
public:
    // Closes the channel and tells everybody who waits; only the first one counts.
    virtual void lose(Error error) = 0;

protected:
    ~Loss() = default;
};

}  // namespace patchbay::connection
