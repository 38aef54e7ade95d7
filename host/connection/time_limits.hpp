// How long a request may take at its server, and what is said of one that took longer. Decides
// without a clock or a channel of its own.
//
// Limits:  those of the server's settings (tool_timeout_sec, request_timeout_ms), or the request's own.
#pragma once

#include "config/config.hpp"
#include "connection/pending_requests.hpp"
#include "connection/status.hpp"

#include <string>

namespace patchbay::connection {

// Of one that begins `now`, unless it says itself that it has begun before.
void set_limits(PendingRequest& entry, const config::Server& server, core::Clock::time_point now);

// Of one whose time is up, at a server that is shown as `state`.
// `starting`: how far it has come; null: it is not on its way.
Error too_late(const PendingRequest& entry, const config::Server& server, State state,
               const Starting* starting = nullptr);

// What is said of a server that did not answer its last `late` calls in time, while it may answer all
// else; empty: they are too few to say so.
inline constexpr unsigned kLateCalls = 3;
std::string no_calls(unsigned late);

}  // namespace patchbay::connection
