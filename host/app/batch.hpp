// The `batch` protocol for one who asks: JSON Lines in, JSON Lines out, many requests in flight over one set
// of connections. The format is told in BATCH.md.
//
// Lines come in by LineInput, BatchOperations carries each out, BatchOutput writes what came of it;
// here is the order of all that: how many at once, barriers, interruptions, the end.
//
// Borrows what Parts names; the caller may be several batches'.
// Threads: [loop].
// Errors:  a line that makes no sense is answered with an error that names the line; the rest
//          goes on.
// Limits:  kInFlight requests at once, and what BatchOutput holds for who reads it; then reading
//          pauses. What an interruption has cancelled may take kLastAnswers.
#pragma once

#include "app/batch_in_flight.hpp"
#include "app/batch_operations.hpp"
#include "app/batch_output.hpp"
#include "app/batch_waits.hpp"
#include "app/line_input.hpp"
#include "core/timer.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace patchbay::app {

class Batch {
public:
    static constexpr std::size_t kInFlight = 256;
    static constexpr std::chrono::seconds kLastAnswers{2};

    struct Parts {
        const service::Servers& servers;
        connection::Caller& caller;
        LineInput& input;
        LineOutput::To output;
        // Something may have changed that its owner looks at; also from inside begin() and interrupt().
        std::function<void()> changed = [] {};
        MoreOperations* more = nullptr;         // null: none
        events::EventLog* event_log = nullptr;  // null: nobody keeps them
        // What this server (empty: each) listed for earlier hosts is known from now on.
        BatchOperations::Recall recall = [](const std::string&) {};
        connection::Reference reference = 0;  // by which the caller knows what this batch asks
    };
    explicit Batch(Parts parts);
    ~Batch();  // what is in flight is cancelled, without an answer

    void begin();
    // Nothing more is started, the servers are told to stop, and every request is answered.
    void interrupt(const std::string& why);
    // Nothing more is read; what was read is answered.
    void end_input();
    // Requests that are left are answered as interrupted, as nothing comes for them any more.
    void fail_the_rest();

    // All that was asked is answered, and the answers have gone where they were to go.
    bool over() const { return (done_ && output_.written()) || output_.lost(); }
    // All is answered; it may not be written yet.
    bool answered() const { return done_ || output_.lost(); }
    bool interrupted() const { return !interruption_.empty(); }
    bool idle() const { return in_flight_.size() == 0 && barrier_.empty(); }
    // Something was not answered as was hoped, or could not be read or told.
    bool failed() const;
    BatchOutput& output() { return output_; }
    std::size_t waiting() const { return output_.waiting(); }  // bytes for who reads the answers
    void notify(const std::string& server, const std::string& method, std::string_view params);

private:
    void take_lines();
    void take_line(std::string_view text);
    // The request that owns the id, if there is one, goes on.
    void refuse_line(const std::string& id, const Error& error);
    void advance();  // what became possible: more lines, the barrier, the end
    void look();

    const service::Servers& servers_;
    core::Loop& loop_;
    LineInput& input_;
    const std::function<void()> changed_;
    MoreOperations* const more_;
    BatchOutput output_;
    BatchInFlight in_flight_;
    BatchWaits waits_;
    core::Timer look_again_;  // at waits, while nothing else is in flight; or what was interrupted
    BatchOperations operations_;
    bool done_ = false;
    std::string barrier_;       // raw id of a barrier that waits; empty: none
    std::string interruption_;  // why; empty: there was none
};

}  // namespace patchbay::app
