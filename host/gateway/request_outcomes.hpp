// How the requests of a client end: its answer goes out, and is kept where the client was told to ask
// again, which is how one of the modern era is asked for something in the middle.
//
// Owns:    the rounds in which clients are asked. Borrows all it is given; the requests are the session's.
// Threads: [loop].
// Errors:  told to the client, as JSON-RPC errors.
// Source:  MCP 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "core/lifetime.hpp"
#include "core/principal.hpp"
#include "gateway/answers.hpp"
#include "gateway/input_rounds.hpp"
#include "gateway/outward.hpp"
#include "gateway/page_visits.hpp"
#include "gateway/replies.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::gateway {

class RequestOutcomes final : public Replies {
public:
    // `expired`: its client has not come back. `start`: as if it had just come. `identity`: as result_for() says.
    RequestOutcomes(core::Loop& loop, ClientRequests& requests, Outward& out,
                    const core::Principal& client, RequestStates states, std::string identity,
                    std::function<void(RequestNumber)> expired,
                    std::function<void(RequestNumber)> start)
        : loop_(loop),
          requests_(requests),
          out_(out),
          client_(client),
          identity_(std::move(identity)),
          start_(std::move(start)),
          rounds_(loop, std::move(states), std::move(expired)) {}

    // Asks its client by the answer to that request; the arguments are those of InputRounds.
    connection::Question ask(RequestNumber request, const std::string& method,
                             std::string_view params, connection::Caller::Answer answer,
                             const std::string& key);
    // Whether `again` answers what was asked; it belongs to the request that was ended for that.
    bool resume(const ClientRequest& again, const protocol::Params& params);
    // Its client has not said that it can do that, raw, which it needs: if nothing comes of it, that is why.
    void note_lack(RequestNumber request, std::string raw_capabilities);
    // It was cancelled, and is asked for nothing any more.
    void forget(RequestNumber request);

    // Replies
    void reply(RequestNumber request, std::string raw_result) override;
    void refuse(RequestNumber request, const Error& error) override;
    void pass_on(RequestNumber request, Result<connection::Reply> reply) override;
    void tell_progress(RequestNumber request, const connection::Progress& progress) override;

private:
    void go_on(RequestNumber request);
    void settle(RequestNumber request, const Outcome& outcome);
    // Whether that error ends it only until its client has had pages visited.
    bool has_pages_visited(RequestNumber request, std::string_view raw_error);
    void on_visited(RequestNumber request, bool agreed);

    core::Loop& loop_;
    ClientRequests& requests_;
    Outward& out_;
    const core::Principal& client_;
    const std::string identity_;
    const std::function<void(RequestNumber)> start_;
    PageVisits visits_;
    InputRounds rounds_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
