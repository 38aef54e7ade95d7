// patchbay.host.http/1 for plugins that ask for it: every request is handed to the table that the
// plugin providing transport "http" returns from get_extension, so that discovery and token
// requests obey the same proxy, TLS and address rules as the servers do.
//
// Owns:    the requests on their way, until their one callback. Belongs to the catalogue.
// Threads: fetch() and cancel() are [any]; a request starts on the loop, where the provider is
//          loaded on first use. Callbacks come on the provider's threads or the loop.
// Errors:  through the callback: UNSUPPORTED with text when there is no provider, CLOSED at the
//          end.
// Limits:  kMostRequests of one host under way.
#pragma once

#include "core/loop.hpp"
#include "core/result.hpp"
#include "plugin/abi.hpp"

#include <functional>
#include <memory>

namespace patchbay::plugin {

class HttpService {
public:
    static constexpr std::size_t kMostRequests = 256;

    struct Provider {
        const patchbay_plugin* plugin = nullptr;
        const patchbay_plugin_http* table = nullptr;
    };
    using Found = std::function<void(Result<Provider>)>;
    // `find` is asked on the loop, once it succeeded never again; it may answer later.
    HttpService(core::Loop& loop, std::function<void(Found)> find);
    ~HttpService();
    // Ends what is under way; later requests are refused with CLOSED. [loop]
    void close();
    HttpService(const HttpService&) = delete;

    // Empty: it is a table this host may call. Else why not.
    static std::string why_wrong(const patchbay_plugin_http* table);

    using Callback = void (*)(void* ctx, patchbay_status, const patchbay_http_response*,
                              const patchbay_error*);
    patchbay_status fetch(const patchbay_http_request* request, void* ctx, Callback done,
                          patchbay_op* out);
    void cancel(patchbay_op op);

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace patchbay::plugin
