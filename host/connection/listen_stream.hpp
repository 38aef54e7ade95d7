// The one stream of a modern session on which the server says what has changed: subscriptions/listen
// for what is wanted. Exists while the connection is ready; its request ends with the session.
//
//   closed --open--> open --open, for something else--> open
//   open --the server ends it--> paused --after a pause that doubles--> open
//   open --an error of the server--> closed: it does not want to be listened to
//
// Threads: [loop]. Borrows all it is given.
// Limits:  Terms listen_first and listen_most between two openings that the server ends.
// Source:  MCP 2026-07-28 basic/patterns/subscriptions.
#pragma once

#include "connection/context.hpp"
#include "connection/own_requests.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"

#include <set>
#include <string>

namespace patchbay::connection {

class ListenStream {
public:
    ListenStream(core::Loop& loop, const Terms& terms, OwnRequests& requests);

    // For what that session can say of changes, and of these resources; instead of before.
    void open(const protocol::Session& session, const std::set<std::string>& resources);
    // Tells the server.
    void close(const std::string& reason);
    bool is_open() const { return request_ != 0; }

private:
    void send();
    void on_end(const Result<Reply>& reply);

    const core::TimeSource& time_;
    const Terms& terms_;
    OwnRequests& requests_;
    std::string wanted_;  // its notifications
    RequestId request_ = 0;
    core::Clock::time_point opened_at_{};
    unsigned short_ones_ = 0;  // in a row
    core::Timer pause_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
