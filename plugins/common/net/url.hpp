// An absolute http(s) or ws(s) URL, taken apart and checked once; everything that goes on the wire
// or into a decision about origins comes from here.
//
// Threads: [value]. Errors: sdk::Failure(E_INVALID) that names the URL without what might be
// secret. Follows: RFC 3986; userinfo, backslashes, control characters and spaces are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::net {

struct Url {
    std::string scheme;  // "http", "https", "ws", "wss"
    std::string host;    // lower case, IPv6 without brackets
    std::uint16_t port = 0;
    std::string target;  // path and query, at least "/"

    static Url parse(std::string_view text);
    // A reference in an answer of this URL: Location, or the endpoint event of SSE.
    Url resolve(std::string_view reference) const;

    bool secure() const { return scheme == "https" || scheme == "wss"; }
    bool same_origin(const Url& other) const {
        return port == other.port && host == other.host && scheme == other.scheme;
    }
    // A redirect there stays with the same server: within the origin, or from http to https on the
    // same host and the ports that nobody has to name.
    bool leads_home(const Url& next) const {
        const bool upgrade = scheme == "http" && next.scheme == "https" && host == next.host &&
                             port == 80 && next.port == 443;
        return upgrade || same_origin(next);
    }
    std::string authority() const;  // for Host: the port only when it is not the scheme's own
    std::string origin() const;     // scheme://authority
    std::string text() const { return origin() + target; }
    std::string without_query() const;  // for people and logs: queries carry keys
};

}  // namespace patchbay::net
