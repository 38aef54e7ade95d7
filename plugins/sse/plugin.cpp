// The sse plugin: one transport.
#include "sse.schema.h"
#include "sse_transport.hpp"

#include <patchbay/cpp/entry.hpp>

namespace {

constexpr auto kTransport = patchbay::sdk::transport_table<patchbay::sse::SseTransport>(
    "sse", sse_schema, PATCHBAY_CAP_CREDENTIALS | PATCHBAY_CAP_HEADERS);
constexpr auto kLibrary =
    patchbay::sdk::Library<patchbay::net::ThreadedPlugin>("dev.patchbay.sse", "0.1.0")
        .provides(kTransport)
        .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
