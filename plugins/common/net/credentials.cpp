#include "net/credentials.hpp"

#include <patchbay/services.h>

#include <exception>

namespace patchbay::net {
namespace {

struct Signed {
    HeaderList& headers;
    std::exception_ptr failure;  // of take_header, which the host calls
};

void take_header(void* ctx, patchbay_str name, patchbay_str value) noexcept {
    auto& made = *static_cast<Signed*>(ctx);
    try {
        if (is_token(sdk::view(name)) && is_field_value(sdk::view(value)))
            made.headers.set(sdk::view(name), sdk::view(value));
    } catch (...) {
        made.failure = std::current_exception();
    }
}

}  // namespace

Credentials::Credentials(const patchbay_open_params& params)
    : host_(params.host), link_(params.link) {
    replace(params.credentials, params.credential_count);
}

void Credentials::replace(const patchbay_kv* credentials, std::size_t count) {
    fixed_ = {};
    signed_ = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (credentials[i].flags & PATCHBAY_KV_SIGN)
            signed_ = true;
        else if (!(credentials[i].flags & PATCHBAY_KV_ENV))
            fixed_.set_all(&credentials[i], 1);
    }
}

HeaderList Credentials::headers_for(const HeaderList& configured, std::string_view method,
                                    const Url& url) const {
    auto headers = configured;
    for (const auto& [name, value] : fixed_) headers.set(name, value);
    if (!signed_) return headers;
    const auto* signer = sdk::extension<patchbay_host_sign>(host_, PATCHBAY_HOST_SIGN);
    const auto text = url.text();
    Signed made{headers, nullptr};
    if (signer) signer->sign(host_, link_, sdk::str(method), sdk::str(text), &made, take_header);
    if (made.failure) std::rethrow_exception(made.failure);
    return headers;
}

}  // namespace patchbay::net
