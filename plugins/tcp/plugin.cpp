// The tcp plugin: one transport.
#include "tcp.schema.h"
#include "tcp_transport.hpp"

#include <patchbay/cpp/entry.hpp>

namespace {

constexpr auto kTransport =
    patchbay::sdk::transport_table<patchbay::tcp::TcpTransport>("tcp", tcp_schema, 0);
constexpr auto kLibrary = patchbay::sdk::Library<>("dev.patchbay.tcp", "0.1.0")
                              .provides(kTransport)
                              .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
