// What a client brings back with its answers to what it was asked: by that the request is known that waits for
// them. A state says itself for which request it is, until when, and of which client; sealed, so that one which
// was made up, changed or taken from another client is refused before anything is looked up by it.
//
// Owns:    the key. Threads: [value].
// Errors:  Invalid: this gateway, or one with its key, has given out no such state to that client for that
//          request, or it counts no more.
// Limits:  kLifetime; that a state counts once is a matter of who keeps them (InputRounds).
// Source:  MCP 2026-07-28 basic/patterns/mrtr, "Server Requirements"; decisions/0046-sealed-request-states.md.
#pragma once

#include "core/result.hpp"
#include "core/time_source.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::gateway {

class RequestStates {
public:
    static constexpr std::chrono::minutes kLifetime{10};

    // `key`: a secret; empty: one that ends with this. `whose`: of the client, and of what it is shown.
    explicit RequestStates(std::string key = {}, std::string whose = {});

    // Another one each time.
    std::string make(const std::string& request, core::Calendar::time_point now) const;
    // None: it is such a state, and counts for that request now.
    std::optional<Error> refuses(std::string_view state, const std::string& request,
                                 core::Calendar::time_point now) const;

    // What is the same of a request and of the one that asks again: `members` of its params, raw, but for those of
    // a round. In which order members stand, and how they are written, means nothing.
    static std::string request(std::string_view method, std::string_view members);

private:
    std::string seal_of(std::string_view payload) const;

    const std::string key_, whose_;
};

}  // namespace patchbay::gateway
