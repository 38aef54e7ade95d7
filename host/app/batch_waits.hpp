// The `wait` requests of a batch: each ends with the first notification that no other one took.
//
// Borrows the loop and the requests in flight. Threads: [loop].
#pragma once

#include "app/batch_in_flight.hpp"
#include "app/unseen_notifications.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace patchbay::app {

class BatchWaits {
public:
    BatchWaits(core::Loop& loop, BatchInFlight& in_flight) : loop_(loop), in_flight_(in_flight) {}

    // `server` empty: of any; `limit` 0: none.
    void begin(const std::string& id, const std::string& server, const std::string& method,
               std::chrono::milliseconds limit);
    // Whether there was one of that id; it ends without an answer of ours.
    bool give_up(const std::string& id);
    void on_notification(const std::string& server, const std::string& method);

private:
    struct Waiting {
        std::string id, server, method;
        core::Loop::TimerId timer = 0;
    };

    core::Loop& loop_;
    BatchInFlight& in_flight_;
    std::vector<Waiting> waiting_;
    UnseenNotifications unseen_;
};

}  // namespace patchbay::app
