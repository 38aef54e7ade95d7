// What a server says in WWW-Authenticate.
//
// Threads: [value]. Errors: none; what cannot be read is left out.
// Follows: RFC 9110 section 11.6.1, RFC 6750 section 3, RFC 9728 section 5.1, RFC 9449 section 9.
#pragma once

#include <patchbay/plugin.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::oauth {

struct Challenge {
    std::string scheme;
    std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case
    bool operator==(const Challenge&) const = default;
};

// Every challenge of one field value.
std::vector<Challenge> parse_challenges(std::string_view value);

// What all fields of one answer ask for together.
struct Demand {
    std::uint32_t http_status = 0;  // 0: nothing was asked yet
    std::string resource_metadata, scope, error;
    std::string dpop_nonce;
    bool bearer = false, dpop = false;
    bool speaks_json_rpc = false;  // of an answer to probe(), by its type

    static Demand of(const patchbay_problem& problem);
    void add(const patchbay_kv* headers, std::size_t count);
    bool insufficient_scope() const { return error == "insufficient_scope"; }
};

}  // namespace patchbay::oauth
