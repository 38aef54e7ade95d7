// The host that runs for the configuration that a command has read, where there is one that answers for it.
//
// Threads: [loop]. Errors: none: a command that finds none has its own. With --verbose it is said why, and
//          without what a person should mend: a host of another version or user.
// Limits:  kHostPatience, or as many milliseconds as PATCHBAY_HOST_PATIENCE_MS says, for all of it; where there is no
//          other host to fall back to (Fit::Any), kLongPatience.
#pragma once

#include "app/host_line.hpp"
#include "app/session.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace patchbay::app {

inline constexpr std::chrono::milliseconds kHostPatience{200}, kLongPatience{5'000};

// EvenIfKept: also one that was given this configuration and keeps the one before. Any: whatever it runs by.
enum class Fit { Exactly, EvenIfKept, Any };
// Null: there is none that may be used.
std::unique_ptr<HostLine> look_for_host(Session& session, Guest as, Fit fit = Fit::Exactly);
// The same for a client that is to be shown that. NotFound, Denied: the host that runs by what this command has read
// does not show it, as where a person has stopped that server; then no other one shall.
Result<std::unique_ptr<HostLine>> host_for_client(Session& session, const Shown& shown);
// The host that runs, whatever it runs by, for what none of one's own can do. Unavailable: why there is none, and how
// there is one.
Result<std::unique_ptr<HostLine>> running_host(Session& session, Guest as);
// The same where there need be none. Null: none runs, or --alone was said; Unavailable: one does and cannot be asked.
Result<std::unique_ptr<HostLine>> host_if_any(Session& session, Guest as);
// Whether its loop turns still: one that was stopped keeps its socket, and greets nobody. Waits kAlive at most.
inline constexpr std::chrono::seconds kAlive{10};
bool still_answers(const Session& session, const HostLine& other);
// By another connection, of the one that `other` is; waits for the answer, for `most` at most. `members`: raw. False:
// there was none.
bool tell_guest(core::Loop& loop, const HostLine& other, const std::string& op,
                const std::string& members, std::chrono::milliseconds most);
// Has the host cancel what that connection has in flight.
void interrupt_guest(const Session& session, const HostLine& other, const std::string& why);

}  // namespace patchbay::app
