// The ws plugin: one transport.
#include "ws.schema.h"
#include "ws_transport.hpp"

#include <patchbay/cpp/entry.hpp>

namespace {

constexpr auto kTransport =
    patchbay::sdk::transport_table<patchbay::ws::WsTransport>("ws", ws_schema, 0);
constexpr auto kLibrary =
    patchbay::sdk::Library<patchbay::net::ThreadedPlugin>("dev.patchbay.ws", "0.1.0")
        .provides(kTransport)
        .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
