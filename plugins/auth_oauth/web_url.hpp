// An http(s) URL taken apart, and the rules for those that servers name.
//
// Threads: [value]. Errors: Trouble(E_PROTOCOL) that says who named the URL and what is wrong with
// it. Follows: RFC 3986; only https, and http to this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::oauth {

struct WebUrl {
    std::string scheme, host;  // lower case, IPv6 in brackets
    std::uint16_t port = 0;
    std::string path;   // empty, or from "/" on
    std::string query;  // empty, or from "?" on

    // `whose`: "token_endpoint of https://as.example", for messages.
    static WebUrl parse(std::string_view text, std::string_view whose);

    bool loopback() const;
    std::string origin() const;
    std::string text() const { return origin() + path + query; }
    // What the specification calls canonical: no query, no slash for an empty path.
    std::string canonical() const { return origin() + (path == "/" ? "" : path); }
};

// Refuses what no request may go to, or no browser may be sent to.
void check_endpoint(std::string_view text, std::string_view whose);

// True if `inner` is `outer` or lies below it, on a path boundary.
bool within(const WebUrl& outer, const WebUrl& inner);

}  // namespace patchbay::oauth
