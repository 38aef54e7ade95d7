// Creates an authenticator through a loaded plugin's auth table. For room `loading` alone.
#pragma once

#include "plugin/abi.hpp"
#include "plugin/authenticator.hpp"
#include "plugin/links/instance.hpp"

#include <memory>

namespace patchbay::plugin {

// `instance` and `table` live for good; the rest as Catalogue::create_authenticator() says.
Result<std::unique_ptr<Authenticator>> create_authenticator(core::Loop& loop, Instance& instance,
                                                            const patchbay_auth& table,
                                                            const AuthenticatorOptions& options,
                                                            AuthenticatorEvents& events);

}  // namespace patchbay::plugin
