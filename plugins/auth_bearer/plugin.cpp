// The bearer plugin: one auth method.
#include "bearer.hpp"
#include "bearer.schema.h"

namespace {

constexpr patchbay_auth kAuth =
    patchbay::sdk::auth_table<patchbay::bearer::Bearer>("bearer", bearer_schema);
constexpr const patchbay_auth* kAuths[] = {&kAuth};

constexpr patchbay_plugin kPlugin{sizeof(patchbay_plugin),
                                  PATCHBAY_ABI_MINOR,
                                  "dev.patchbay.auth_bearer",
                                  "0.1.0",
                                  nullptr,
                                  0,
                                  kAuths,
                                  1,
                                  nullptr,
                                  nullptr};

}  // namespace

extern "C" patchbay_status PATCHBAY_CALL patchbay_plugin_entry_0(
    const patchbay_host* host, const patchbay_plugin** out, patchbay_error* error) PATCHBAY_NX {
    return patchbay::sdk::enter(kPlugin, {PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_PROCESS}, host, out,
                                error);
}
