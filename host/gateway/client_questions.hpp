// What servers ask of a legacy client: requests of ours to it, until it answers or nobody waits any
// more.
//
// Owns:    who waits. Borrows where messages go.
// Threads: [loop].
// Source:  MCP 2025-11-25 client/*, basic/utilities/cancellation.
#pragma once

#include "connection/caller.hpp"
#include "core/lifetime.hpp"
#include "gateway/outward.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class ClientQuestions {
public:
    explicit ClientQuestions(Outward& out) : out_(out) {}

    // Withdrawn, the client is told that its answer is wanted no more. `params`: raw; empty: none.
    // `from`: the server that asks. Unavailable, at once: the client does not read.
    connection::Question ask(const std::string& from, const std::string& method,
                             std::string_view params, connection::Caller::Answer answer, Route to);
    // What came for one of these; of another number it is nobody's.
    void answered(std::int64_t number, Result<connection::Given> given);

private:
    struct Waiting {
        connection::Caller::Answer answer;
        Route route;
    };

    void withdraw(std::int64_t number);

    Outward& out_;
    std::map<std::int64_t, Waiting> waiting_;
    std::int64_t last_ = 0;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
