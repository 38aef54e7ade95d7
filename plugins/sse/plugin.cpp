// The sse plugin: one transport.
#include "net/workers.hpp"
#include "sse.schema.h"
#include "sse_transport.hpp"

namespace {

constexpr patchbay_transport kTransport =
    patchbay::sdk::transport_table<patchbay::sse::SseTransport>("sse", sse_schema,
                                                                PATCHBAY_CAP_CREDENTIALS);
constexpr const patchbay_transport* kTransports[] = {&kTransport};

void shut_down() noexcept {
    patchbay::net::Workers::of_this_plugin().stop();
}

constexpr patchbay_plugin kPlugin{sizeof(patchbay_plugin),
                                  PATCHBAY_ABI_MINOR,
                                  "dev.patchbay.sse",
                                  "0.1.0",
                                  kTransports,
                                  1,
                                  nullptr,
                                  0,
                                  nullptr,
                                  shut_down};

}  // namespace

extern "C" patchbay_status PATCHBAY_CALL patchbay_plugin_entry_0(
    const patchbay_host* host, const patchbay_plugin** out, patchbay_error* error) PATCHBAY_NX {
    return patchbay::sdk::enter(kPlugin, {PATCHBAY_HOST_REACTOR}, host, out, error);
}
