// The OAuth plugin: one auth method.
#include "oauth.schema.h"
#include "oauth_authenticator.hpp"

namespace {

constexpr patchbay_auth kAuth =
    patchbay::sdk::auth_table<patchbay::oauth::OAuthAuthenticator>("oauth", oauth_schema, true);
constexpr const patchbay_auth* kAuths[] = {&kAuth};
constexpr patchbay_plugin kPlugin{sizeof(patchbay_plugin),
                                  PATCHBAY_ABI_MINOR,
                                  "dev.patchbay.auth_oauth",
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
    return patchbay::sdk::enter(kPlugin,
                                {PATCHBAY_HOST_REACTOR, PATCHBAY_HOST_HTTP, PATCHBAY_HOST_CONSENT,
                                 PATCHBAY_HOST_SECRETS, PATCHBAY_HOST_CLOCK},
                                host, out, error);
}
