// Tells systemd, where it started us, how far we are: READY=1, RELOADING=1, STOPPING=1.
//
// Threads: [any]. Errors: none: where nobody listens nothing is lost.
// Source:  sd_notify(3), "Notification protocol".
#pragma once

#include <string_view>

namespace patchbay::app {

// To the datagram socket that NOTIFY_SOCKET names, if it does: a path, or @ and an abstract name.
void tell_service_manager(std::string_view state);

}  // namespace patchbay::app
