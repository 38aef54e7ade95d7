// patchbay.plugin.http/1: one HTTP exchange for a plugin that has no HTTP of its own, under the TLS,
// proxy and redirect rules of this plugin. The host hands it on as patchbay.host.http/1.
//
// Owns:    the exchanges under way. Borrows the pool.
// Threads: [any]; `done` comes on a worker's. Destroyed on the reactor's, when no plugin can ask any
//          more: that ends what is under way, and waits for it.
// Errors:  a refused request is thrown (sdk::Failure); everything later is told to `done`.
// Limits:  max_response bytes, 64 KiB when it is 0; timeout_ms, 30 s when it is 0.
#pragma once

#include "net/workers.hpp"

#include <patchbay/services.h>

#include <memory>

namespace patchbay::http {

class FetchService {
public:
    using Callback = void(PATCHBAY_CALL*)(void*, patchbay_status, const patchbay_http_response*,
                                          const patchbay_error*) PATCHBAY_NX;

    FetchService(const patchbay_host* host, net::Workers& pool);
    ~FetchService();

    patchbay_op start(const patchbay_http_request& request, void* ctx, Callback done);
    void cancel(patchbay_op id);

private:
    struct State;
    class Fetch;
    const std::unique_ptr<State> state_;
};

}  // namespace patchbay::http
