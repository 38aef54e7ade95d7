// What servers ask of a client of the modern era: its request is answered with input_required, and
// goes on when the client asks again with its answers. The server's own request stays open meanwhile.
//
// A state is sealed (RequestStates) and counts once; what comes with another one changes nothing here.
//
// Owns:    who waits. Threads: [loop].
// Errors:  Invalid: a state that is not, or no more, one of these.
// Limits:  kLifetime of what nobody comes back for.
// Source:  MCP 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "connection/caller.hpp"
#include "core/lifetime.hpp"
#include "core/timer.hpp"
#include "gateway/client_requests.hpp"
#include "gateway/request_states.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

class InputRounds {
public:
    static constexpr auto kLifetime = RequestStates::kLifetime;

    // `expired`: its client has not come back.
    InputRounds(core::Loop& loop, RequestStates states, std::function<void(RequestNumber)> expired)
        : loop_(loop), seals_(std::move(states)), expired_(std::move(expired)) {}

    // `params`: raw; empty: none. `key`: what its server calls it; empty, or another question of that
    // request has it: one of ours.
    connection::Question ask(RequestNumber request, const std::string& method,
                             std::string_view params, connection::Caller::Answer answer,
                             std::string key);
    bool any(RequestNumber request) const { return open_.contains(request); }
    // The raw result that asks for all that is open of it. `what`: as RequestStates::request says.
    std::string begin(RequestNumber request, const std::string& what);
    // Which request it is that `what` asks for again; the state counts no more.
    Result<RequestNumber> resume(const std::string& state, const std::string& what);
    // What the client answered, an object, raw, by key; what it left out stays open.
    void deliver(RequestNumber request, std::string_view responses);
    void end(RequestNumber request);

private:
    struct Open {
        std::string key;
        std::string request;  // raw
        connection::Caller::Answer answer;
    };
    struct Round {
        RequestNumber request;
        std::unique_ptr<core::Timer> limit;
    };

    void withdraw(RequestNumber request, const std::string& key);
    void end_round(RequestNumber request);

    core::Loop& loop_;
    const RequestStates seals_;
    const std::function<void(RequestNumber)> expired_;
    std::map<RequestNumber, std::vector<Open>> open_;  // none is empty
    std::map<std::string, Round> rounds_;              // by state
    std::map<RequestNumber, std::string> states_;      // of those
    std::uint64_t last_key_ = 0;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
