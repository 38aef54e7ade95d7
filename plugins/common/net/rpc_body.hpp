// What the body of an HTTP answer is as JSON-RPC, as far as a transport must know. Everything else
// is the host's.
//
// Threads: [value]. Errors: none; what is cut off or no JSON object is no JSON-RPC.
// Limits:  kMostDepth levels.
#pragma once

#include <string_view>

namespace patchbay::net {

struct RpcBody {
    bool is_rpc = false;    // one whole object with "jsonrpc"
    bool is_error = false;  // that has an "error"
    std::string_view id;    // as it stands there; empty: none, or null
};
constexpr int kMostDepth = 64;

RpcBody rpc_in(std::string_view body);

}  // namespace patchbay::net
