// The lines of the log, at debug, for what a client says: a request that the gateway answers itself; of what goes to a server
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
// Of what is answered as it comes, before it counts as a request in flight.
void log_answered_at_once(const core::Principal& who, std::string_view method,
                          const Answer& answer);
void log_notification(const core::Principal& who, std::string_view method);

}  // namespace patchbay::gateway
