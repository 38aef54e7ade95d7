// Servers without which a host that stays is of no use: `required = true`.
//
// Threads: [loop]. Errors: Host::why_ended().
#pragma once

#include "app/session.hpp"

namespace patchbay::app {

// Connects them for that caller and waits until each is ready. False: one cannot be started, or somebody
// has interrupted that; from then on the host ends when one that was never ready cannot be started.
bool connect_required(Session& session, const connection::Caller& caller);

}  // namespace patchbay::app
