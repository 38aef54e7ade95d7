// The tcp plugin: one transport.
#include "tcp.schema.h"
#include "tcp_transport.hpp"

namespace {

constexpr patchbay_transport kTransport =
    patchbay::sdk::transport_table<patchbay::tcp::TcpTransport>("tcp", tcp_schema, 0);
constexpr const patchbay_transport* kTransports[] = {&kTransport};
constexpr patchbay_plugin kPlugin{sizeof(patchbay_plugin),
                                  PATCHBAY_ABI_MINOR,
                                  "dev.patchbay.tcp",
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
    return patchbay::sdk::enter(kPlugin, {PATCHBAY_HOST_REACTOR}, host, out, error);
}
