// What the body of an HTTP refusal is as JSON-RPC, as far as the transport must know. Everything
// else is the host's. Private to the http plugin.
//
// Threads: [value]. Errors: none; what is cut off or no JSON object is no JSON-RPC.
// Limits:  kMostDepth levels.
#pragma once

#include <string_view>

namespace patchbay::http {

struct RpcBody {
    bool is_rpc = false;    // one whole object with "jsonrpc"
    bool is_error = false;  // that has an "error"
    bool has_id = false;    // and says whom it answers: an id that is not null
};
constexpr int kMostDepth = 64;

RpcBody rpc_in(std::string_view body);

}  // namespace patchbay::http
