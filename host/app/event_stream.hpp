// The events of a host for one who asks: those that are kept, then each as it happens.
//
// Threads: [loop]. Errors: none; what is not kept any more is counted.
#pragma once

#include "app/batch_in_flight.hpp"
#include "events/event_log.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace patchbay::app {

struct EventStream {
    std::string server;  // of which alone; empty: of all, and of none
    BatchInFlight::EventHandler handler;

    // `after`: those behind that number, of which the first may be gone. One that is not told yet is of another host,
    // and all are told.
    void tell_kept(const events::EventLog& log, std::optional<std::int64_t> after) const;
    void tell(const events::Event& event) const;

private:
    bool is_meant(const events::Event& event) const {
        return server.empty() || event.server == server;
    }
};

// What such a request is answered: {"last":17}.
std::string last_event_text(const events::EventLog& log);

}  // namespace patchbay::app
