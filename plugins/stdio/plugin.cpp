// The stdio plugin: one transport.
#include "stdio.schema.h"
#include "stdio_transport.hpp"

namespace {

constexpr patchbay_transport kTransport =
    patchbay::sdk::transport_table<patchbay::stdio::StdioTransport>("stdio", stdio_schema, 0);
constexpr const patchbay_transport* kTransports[] = {&kTransport};
constexpr patchbay_plugin kPlugin{sizeof(patchbay_plugin),
                                  PATCHBAY_ABI_MINOR,
                                  "dev.patchbay.stdio",
                                  "0.1.0",
                                  kTransports,
                                  1,
                                  nullptr,
                                  0,
                                  nullptr,
                                  nullptr};

}  // namespace

extern "C" patchbay_status PATCHBAY_CALL patchbay_plugin_entry_0(
    const patchbay_host* host, const patchbay_plugin** out, patchbay_error* error) PATCHBAY_NX {
    using patchbay::sdk::extension;
    if (!extension<patchbay_host_reactor>(host, PATCHBAY_HOST_REACTOR) ||
        !extension<patchbay_host_process>(host, PATCHBAY_HOST_PROCESS)) {
        patchbay::sdk::fill(*error, PATCHBAY_E_UNSUPPORTED,
                            "stdio needs the host's reactor and process services");
        return PATCHBAY_E_UNSUPPORTED;
    }
    *out = &kPlugin;
    return PATCHBAY_OK;
}
