// The http plugin: one transport, and the HTTP client that the host lends to auth plugins.
#include "fetch_service.hpp"
#include "http.schema.h"
#include "http_transport.hpp"

namespace {

constexpr patchbay_transport kTransport =
    patchbay::sdk::transport_table<patchbay::http::HttpTransport>(
        "http", http_schema,
        PATCHBAY_CAP_EXCHANGE | PATCHBAY_CAP_CREDENTIALS | PATCHBAY_CAP_RESUME |
            PATCHBAY_CAP_HEADERS);
constexpr const patchbay_transport* kTransports[] = {&kTransport};

void shut_down() noexcept {
    patchbay::http::stop_fetching();
}

const void* extension(const char* id) noexcept {
    return std::string_view(id) == PATCHBAY_HOST_HTTP ? patchbay::http::fetch_service() : nullptr;
}

constexpr patchbay_plugin kPlugin{sizeof(patchbay_plugin),
                                  PATCHBAY_ABI_MINOR,
                                  "dev.patchbay.http",
                                  "0.1.0",
                                  kTransports,
                                  1,
                                  nullptr,
                                  0,
                                  extension,
                                  shut_down};

}  // namespace

extern "C" patchbay_status PATCHBAY_CALL patchbay_plugin_entry_0(
    const patchbay_host* host, const patchbay_plugin** out, patchbay_error* error) PATCHBAY_NX {
    return patchbay::sdk::enter(kPlugin, {PATCHBAY_HOST_REACTOR}, host, out, error);
}
