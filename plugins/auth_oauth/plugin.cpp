// The OAuth plugin: one auth method.
#include "oauth.schema.h"
#include "oauth_authenticator.hpp"

#include <patchbay/cpp/entry.hpp>

namespace {

constexpr auto kAuth =
    patchbay::sdk::auth_table<patchbay::oauth::OAuthAuthenticator>("oauth", oauth_schema, true);
constexpr auto kLibrary =
    patchbay::sdk::Library<>("dev.patchbay.auth_oauth", "0.1.0")
        .provides(kAuth)
        .needs(PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_HTTP, PATCHBAY_HOST_CONSENT,
               PATCHBAY_HOST_SECRETS, PATCHBAY_HOST_CLOCK);

}  // namespace

PATCHBAY_PLUGIN_ENTRY(kLibrary)
