// The bearer plugin: one auth method.
#include "bearer.hpp"
#include "bearer.schema.h"

#include <patchbay/cpp/entry.hpp>

namespace {

constexpr auto kAuth = patchbay::sdk::auth_table<patchbay::bearer::Bearer>("bearer", bearer_schema);
constexpr auto kLibrary =
    patchbay::sdk::Library<>("dev.patchbay.auth_bearer", "0.1.0")
        .provides(kAuth)
        .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_PROCESS, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
