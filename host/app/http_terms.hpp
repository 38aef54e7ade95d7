// What `patchbay serve --http` was told of its door, and what that comes to.
//
// Threads: [value].
// Errors:  Invalid, with the option that makes no sense or that is missing.
#pragma once

#include "core/result.hpp"
#include "http/address.hpp"
#include "http/tls.hpp"

#include <string>
#include <vector>

namespace patchbay::app {

struct HttpTerms {
    std::string address;
    std::string auth;                // "none", "token"; empty: none on loopback, token elsewhere
    std::string public_url;          // of the endpoint, as clients know it
    std::vector<std::string> hosts;  // other names that clients call it by
    http::TlsFiles tls;              // both empty: none
    bool allow_plain = false;        // beyond this machine without TLS
    bool sse = false;                // the older transport beside it

    std::vector<std::string> issuers;  // authorization servers; none: no OAuth
    std::string audience;              // of their tokens; empty: the endpoint's URL
    std::vector<std::string> scopes;   // that a token needs
    std::string keys;  // URL or file of the one issuer's; empty: found by its metadata
};

struct HttpPlan {
    http::Address address;
    bool tokens = false, tls = false;
    std::vector<std::string> names;  // by which it may be called

    // Of `path`, or unix:PATH. `at`: where it listens.
    std::string url(const http::Address& at, const char* path) const;
};

Result<HttpPlan> plan_of(const HttpTerms& terms);

}  // namespace patchbay::app
