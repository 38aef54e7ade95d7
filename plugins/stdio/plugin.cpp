// The stdio plugin: one transport.
#include "stdio.schema.h"
#include "stdio_transport.hpp"

#include <patchbay/cpp/entry.hpp>

namespace {

constexpr auto kTransport =
    patchbay::sdk::transport_table<patchbay::stdio::StdioTransport>("stdio", stdio_schema, 0);
constexpr auto kLibrary =
    patchbay::sdk::Library<>("dev.patchbay.stdio", "0.1.0")
        .provides(kTransport)
        .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_PROCESS, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
