// `patchbay batch`: JSON Lines in, JSON Lines out, many requests in flight over one set of
// connections. The format is told in BATCH.md.
//
// Lines come in by LineInput, BatchOperations carries each out, BatchOutput writes what came of it;
// here is the order of all that: how many at once, barriers, interruptions, the end.
//
// Borrows the session and the descriptor.
// Threads: [loop].
// Errors:  a line that makes no sense is answered with an error that names the line; the rest
//          goes on.
// Limits:  kInFlight requests at once, and what BatchOutput holds for who reads it; then reading
//          pauses.
#pragma once

#include "app/batch_in_flight.hpp"
#include "app/batch_operations.hpp"
#include "app/batch_output.hpp"
#include "app/batch_waits.hpp"
#include "app/line_input.hpp"
#include "app/session.hpp"
#include "core/timer.hpp"

#include <string>
#include <string_view>

namespace patchbay::app {

class Batch {
public:
    static constexpr std::size_t kInFlight = 256;

    Batch(Session& session, int input);
    ~Batch();
    int run();

private:
    void interrupt();
    void take_lines();
    void take_line(std::string_view text);
    // The request that owns the id, if there is one, goes on.
    void refuse_line(const std::string& id, const Error& error);
    void advance();  // what became possible: more lines, the barrier, the end

    Session& session_;
    LineInput input_;
    BatchOutput output_;
    BatchInFlight in_flight_;
    BatchWaits waits_;
    core::Timer look_again_;  // at waits, while nothing else is in flight
    BatchOperations operations_;
    bool done_ = false;
    std::string barrier_;  // raw id of a barrier that waits; empty: none
};

}  // namespace patchbay::app
