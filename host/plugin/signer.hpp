// How a channel reaches the auth method of its server to sign single requests
// (patchbay.host.sign/1): a place that both know, filled while an authenticator lives.
//
// Threads: [any]. attach() and detach() wait for a signature that is being made.
#pragma once

#include "plugin/abi.hpp"

#include <shared_mutex>
#include <string_view>

namespace patchbay::plugin {

class Signer {
public:
    using Header = void (*)(void* ctx, patchbay_str name, patchbay_str value);

    void attach(const patchbay_auth* table, patchbay_authenticator* authenticator);
    void detach();

    // E_AUTH: nobody is there who could. What the method throws becomes E_INTERNAL.
    patchbay_status sign(std::string_view method, std::string_view url, void* ctx,
                         Header header) const;

private:
    mutable std::shared_mutex mutex_;  // guards what follows
    const patchbay_auth* table_ = nullptr;
    patchbay_authenticator* authenticator_ = nullptr;
};

}  // namespace patchbay::plugin
