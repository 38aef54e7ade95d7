// The http plugin: one transport, and the HTTP client that the host lends to auth plugins.
#include "http.schema.h"
#include "http_plugin.hpp"
#include "http_transport.hpp"

namespace {

constexpr auto kTransport = patchbay::sdk::transport_table<patchbay::http::HttpTransport>(
    "http", http_schema,
    PATCHBAY_CAP_EXCHANGE | PATCHBAY_CAP_CREDENTIALS | PATCHBAY_CAP_RESUME | PATCHBAY_CAP_HEADERS);
constexpr auto kLibrary =
    patchbay::sdk::Library<patchbay::http::HttpPlugin>("dev.patchbay.http", "0.1.0")
        .provides(kTransport)
        .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
