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
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::gateway {

struct HttpRefusal {
    unsigned status = 400;
    std::string message;
    std::int64_t code = -32600;  // of JSON-RPC
    std::string raw_id = {};     // of the request that it answers; empty: none
    http::Headers headers = {};  // beside those that every refusal has
    std::string raw_data = {};   // of the error, JSON; empty: none
};

class Door {
public:
    // `names`: by which it is reached beside this machine's own and the address, without ports. `origins`: whose
    // pages may come beside those of these names, in lower case, as browsers write them.
    explicit Door(const http::Address& address, std::vector<std::string> names = {},
                  std::vector<std::string> origins = {})
        : address_(address), names_(std::move(names)), origins_(std::move(origins)) {}

    // Host names this server, and Origin, where there is one, a page of the same host or one of those.
    std::optional<HttpRefusal> refuses(const http::Request& request) const;

private:
    bool is_ours(std::string_view authority) const;

    const http::Address address_;
    const std::vector<std::string> names_;  // in lower case
    const std::vector<std::string> origins_;
};

}  // namespace patchbay::gateway
