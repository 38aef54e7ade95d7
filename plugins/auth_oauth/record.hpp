// What a sign-in left: the one record that the host keeps for a server.
//
// Threads: [value]. Errors: a record that cannot be read counts as none.
#pragma once

#include "settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::oauth {

struct Record {
    std::string access_token, refresh_token, token_type, scope;
    std::string client_id, client_secret, token_endpoint_auth_method, redirect_uri;
    std::string issuer, resource, server_url, principal;
    std::string token_endpoint, revocation_endpoint;
    std::string dpop_key;         // PEM; empty: a bearer token
    std::string why_ended;        // by the server, the code of its error; empty: it has not
    std::int64_t expires_at = 0;  // unix seconds; 0: unknown
    std::int64_t obtained_at = 0;

    static std::optional<Record> parse(std::string_view json);
    std::string json() const;

    // False: of another server, issuer or client than what is configured; not to be used at all.
    bool belongs_to(const WebUrl& server, const Settings& settings) const;
    // Time to get another one: within 30 seconds or a tenth of its life from its end.
    bool ends_soon(std::int64_t now) const;
    // Within a tenth of its life from its beginning; a minute if that is unknown.
    bool is_new(std::int64_t now) const;
    bool ended(std::int64_t now) const { return expires_at != 0 && now >= expires_at; }
    bool covers(std::string_view wanted_scope) const;
    void mask(const Services& services) const;
};

}  // namespace patchbay::oauth
