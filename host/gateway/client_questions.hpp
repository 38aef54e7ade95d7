// What servers, and we ourselves, ask of a legacy client: requests of ours to it, until it answers or nobody
// waits any more.
//
// Owns:    who waits. Borrows where messages go.
// Threads: [loop].
// Errors:  handed to the answer. Unavailable: the client does not read. Timeout: it has not answered.
// Limits:  kLifetime of a question. A client that shows nobody what it was asked would keep the request that is
//          asked about, and its server, for as long as a call may take, which is 27 hours.
// Source:  MCP 2025-11-25 client/*, basic/utilities/cancellation.
#pragma once

#include "connection/caller.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "gateway/outward.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class ClientQuestions {
public:
    // As long as a client of the modern era has for what it is asked (InputRounds).
    static constexpr std::chrono::minutes kLifetime{10};

    ClientQuestions(core::Loop& loop, Outward& out) : loop_(loop), out_(out), limit_(loop) {}

    // Withdrawn, the client is told that its answer is wanted no more. `params`: raw; empty: none.
    // `from`: the server that asks.
    connection::Question ask(const std::string& from, const std::string& method,
                             std::string_view params, connection::Caller::Answer answer, Route to);
    // What came for one of these; of another number it is nobody's.
    void answered(std::int64_t number, Result<connection::Given> given);

private:
    struct Waiting {
        connection::Caller::Answer answer;
        Route route;
        std::string method;
        core::Clock::time_point until;
    };

    // The client is told that its answer is wanted no more.
    void call_off(std::int64_t number, Route route, const std::string& reason);
    void withdraw(std::int64_t number);
    void watch_oldest();
    void expire();

    core::Loop& loop_;
    Outward& out_;
    std::map<std::int64_t, Waiting> waiting_;  // by number, and so by the time that each has
    std::int64_t last_ = 0;
    core::Timer limit_;  // of the oldest
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
