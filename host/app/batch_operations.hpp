// What each op of a batch does: a face of host/service, told in JSON.
//
// Borrows what it is given. Threads: [loop].
// Errors:  told as answers.
// Limits:  kFollows, as each event is told to each who follows.
#pragma once

#include "app/batch_in_flight.hpp"
#include "app/batch_waits.hpp"
#include "events/event_log.hpp"
#include "service/servers.hpp"
#include "service/things.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace patchbay::app {

// Others than those of BATCH.md, where there are any.
class MoreOperations {
public:
    virtual ~MoreOperations() = default;
    // False: it is none of them. It is in flight, and is answered there.
    virtual bool start(const BatchLine& line, BatchInFlight& in_flight) = 0;
};

class BatchOperations {
public:
    using Recall = std::function<void(const std::string& server)>;
    static constexpr std::size_t kFollows = 4;  // of events, at a time

    BatchOperations(
        const service::Servers& servers, connection::Caller& caller, BatchInFlight& in_flight,
        BatchWaits& waits, events::EventLog* event_log, connection::Reference reference = 0,
        Recall recall = [](const std::string&) {})
        : servers_(servers),
          caller_(caller),
          in_flight_(in_flight),
          waits_(waits),
          event_log_(event_log),
          reference_(reference),
          recall_(std::move(recall)) {}

    // False: it cannot be started, and was answered with the reason.
    bool accepts(const BatchLine& line);
    // Anything but `barrier`, which is of the order of lines and not of their operations.
    void start(const BatchLine& line);
    // Nothing else is in flight, and nothing is started any more, that could bring what they wait for.
    void end_hopeless_waits();

private:
    void call_tool(const BatchLine& line);
    void ask_server(const BatchLine& line, const std::string& method);
    void list_tools(const BatchLine& line);
    void list_things(const BatchLine& line, service::Kind kind);
    void cancel(const BatchLine& line);
    void wait_for(const BatchLine& line);
    void show_status(const BatchLine& line);
    void tell_events(const BatchLine& line);

    const service::Servers& servers_;
    connection::Caller& caller_;
    BatchInFlight& in_flight_;
    BatchWaits& waits_;
    events::EventLog* const event_log_;  // null: nobody keeps them
    const connection::Reference reference_;
    const Recall recall_;                       // what this server (empty: each) listed before
    std::vector<std::weak_ptr<void>> follows_;  // those in flight, and some that have ended
};

}  // namespace patchbay::app
