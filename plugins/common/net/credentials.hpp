// What identifies us to the server of a channel: the host's credentials, laid over the configured
// headers, and signed anew for each request when they ask for it.
//
// Threads: one at a time; sign() of the host is called from inside headers_for().
// Errors:  none: what cannot be signed goes out unsigned, and the server says what it wants.
// Source:  sdk/ABI.md, patchbay.host.sign/1.
#pragma once

#include "net/header_list.hpp"
#include "net/url.hpp"

#include <patchbay/cpp/plugin.hpp>

namespace patchbay::net {

class Credentials {
public:
    // With the first set of them.
    explicit Credentials(const patchbay_open_params& params);

    void replace(const patchbay_kv* credentials, std::size_t count);
    HeaderList headers_for(const HeaderList& configured, std::string_view method,
                           const Url& url) const;

private:
    const patchbay_host* const host_;
    patchbay_link* const link_;
    HeaderList fixed_;
    bool signed_ = false;
};

}  // namespace patchbay::net
