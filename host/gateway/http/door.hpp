// Who may come in at all. A page of the web can make a browser of this machine send requests here, by
// a name of its own that leads to us: it cannot choose what the browser writes into Host and Origin.
//
// Threads: [value].
// Source:  MCP basic/transports "Security", RFC 6454.
#pragma once

#include "http/address.hpp"
#include "http/exchange.hpp"

#include <optional>
#include <string>

namespace patchbay::gateway {

struct HttpRefusal {
    unsigned status = 400;
    std::string message;
    std::int64_t code = -32600;  // of JSON-RPC
    std::string raw_id = {};     // of the request that it answers; empty: none
};

class Door {
public:
    explicit Door(const http::Address& address) : address_(address) {}

    // Host names this machine, and Origin, where there is one, a page of this machine.
    std::optional<HttpRefusal> refuses(const http::Request& request) const;

private:
    bool is_ours(std::string_view authority) const;

    const http::Address address_;
};

}  // namespace patchbay::gateway
