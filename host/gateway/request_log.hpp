// The line of the log, at debug, for a request that the gateway answers itself; of what goes to a server
// the router tells. Nothing of what was said but its length.
//
// Threads: [loop].
#pragma once

#include "core/principal.hpp"
#include "core/time_source.hpp"
#include "gateway/answers.hpp"
#include "gateway/client_requests.hpp"

namespace patchbay::gateway {

void log_own_answer(const core::Principal& who, const ClientRequest& request,
                    const Outcome& outcome, core::Clock::time_point now);

}  // namespace patchbay::gateway
