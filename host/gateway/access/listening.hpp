// Where a gateway may listen, and as what it is reached there.
//
// Threads: [value].
// Errors:  Invalid: what is missing, with the option that says it.
#pragma once

#include "core/result.hpp"
#include "http/address.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::gateway {

enum class Asks { Nobody, Everybody };           // who each is
enum class Carried { Plain, PlainAnyway, Tls };  // PlainAnyway: somebody else sees to it

// This machine's own programs may come as they are. What others reach asks each who it is, carries no
// token in the clear and knows its own name, since a browser may be led to any number by another.
Result<void> may_listen(const http::Address& address, Asks asks, Carried carried,
                        const std::vector<std::string>& names);

// http or https, a host, perhaps a port and a path; nothing that two programs could read differently.
struct WebUrl {
    std::string scheme, host, authority, path;  // "https", "[::1]", "[::1]:8443", "/a" or ""
    std::string origin() const { return scheme + "://" + authority; }
};
Result<WebUrl> parse_web_url(std::string_view text);

// A host as --allow-host takes it: "mcp.example.com", "192.0.2.7", "[2001:db8::1]".
Result<std::string> parse_host(std::string_view text);

// An origin as browsers write it into their Origin header (RFC 6454): "https://app.example.org",
// "http://192.0.2.7:8080", "chrome-extension://ID". None that stands for several.
Result<std::string> parse_origin(std::string_view text);

}  // namespace patchbay::gateway
