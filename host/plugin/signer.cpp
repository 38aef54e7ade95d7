#include "plugin/signer.hpp"

#include "plugin/authenticator.hpp"

#include <mutex>

namespace patchbay::plugin {

void Signer::attach(const patchbay_auth* table, patchbay_authenticator* authenticator) {
    const std::unique_lock lock(mutex_);
    table_ = PATCHBAY_HAS(patchbay_auth, table, sign) ? table : nullptr;
    authenticator_ = authenticator;
}

void Signer::detach() {
    const std::unique_lock lock(mutex_);
    table_ = nullptr;
}

patchbay_status Signer::sign(std::string_view method, std::string_view url, void* ctx,
                             Header header) const {
    const std::shared_lock lock(mutex_);
    if (!table_) return PATCHBAY_E_AUTH;
    patchbay_error error{};
    patchbay_status status = PATCHBAY_E_INTERNAL;
    std::string thrown;
    guarded(thrown, [&] {
        status = table_->sign(authenticator_, str(method), str(url), ctx, header, &error);
    });
    return status > 0 ? PATCHBAY_E_INTERNAL : status;
}

std::shared_ptr<Signer> make_signer() {
    return std::make_shared<Signer>();
}

}  // namespace patchbay::plugin
