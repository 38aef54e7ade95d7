// The `wait` requests of a batch: each ends with the first notification that no other one took.
//
// Borrows the loop and the requests in flight. Threads: [loop].
// Limits:  kUsualWait, where the request names no other.
#pragma once

#include "app/batch_in_flight.hpp"
#include "app/unseen_notifications.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::app {

class BatchWaits {
public:
    BatchWaits(core::Loop& loop, BatchInFlight& in_flight) : loop_(loop), in_flight_(in_flight) {}
    ~BatchWaits();  // they end without an answer
    BatchWaits(const BatchWaits&) = delete;

    static constexpr std::chrono::seconds kUsualWait{60};

    // `server` empty: of any; `limit` 0: kUsualWait.
    void begin(const std::string& id, const std::string& server, const std::string& method,
               std::chrono::milliseconds limit);
    // Whether there was one of that id; it ends without an answer of ours.
    bool give_up(const std::string& id);
    void on_notification(const std::string& server, const std::string& method);
    // Those that nobody can end any more: `why_silent` says of a server, or of all when it is empty, why
    // nothing can come; empty: something can.
    void end_hopeless(const std::function<std::string(const std::string& server)>& why_silent);
    std::size_t size() const { return waiting_.size(); }

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
