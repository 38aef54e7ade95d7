// The authorization request a person's browser is sent to, and the redirect that comes back.
//
// Threads: [value]. Errors: Trouble; an answer that is not to be trusted is not quoted.
// Follows: OAuth 2.1 section 4.1, RFC 7636, RFC 8707, RFC 9207, RFC 9449 section 10.
#pragma once

#include "discovery.hpp"
#include "token_request.hpp"

#include <string>

namespace patchbay::oauth {

struct AuthorizationRequest {
    std::string state, verifier;  // new for each
    std::string client_id, redirect_uri, resource, scope;
    std::shared_ptr<const SigningKey> dpop_key;

    static AuthorizationRequest fresh();
    std::string url(const AuthorizationServer& server) const;
};

// The code in the redirect's query.
std::string code_of(std::string_view query, const AuthorizationRequest& request,
                    const AuthorizationServer& server);

// What to ask for. `granted`: what is to be kept of an earlier login.
std::string wanted_scope(const std::string& asked, const Demand& demand, const Settings& settings,
                         const Resource& resource, const AuthorizationServer& server,
                         const std::string& granted);

}  // namespace patchbay::oauth
