// patchbay.host.http/1: one HTTP exchange for a plugin that has no HTTP of its own, under the TLS,
// proxy and redirect rules of this plugin. The host hands the table on.
//
// Threads: [any]; `done` comes on a worker's.
// Errors:  a refused request is a negative status at once; everything later is told to `done`.
// Limits:  max_response bytes, 64 KiB when it is 0; timeout_ms, 30 s when it is 0.
#pragma once

#include <patchbay/services.h>

namespace patchbay::http {

const patchbay_host_http* fetch_service();
// On the reactor's thread, when no plugin can ask any more: ends what is under way, and waits for
// it.
void stop_fetching();

}  // namespace patchbay::http
