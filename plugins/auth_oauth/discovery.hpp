// Where to sign in: what the server says about itself, and what its authorization server says.
//
// Threads: [strand]. Errors: Trouble; nothing found names every place that was looked at.
// Follows: RFC 9728, RFC 8414, OpenID Connect Discovery 1.0, and the authorization pages of the MCP
// revisions from 2025-03-26 on.
#pragma once

#include "challenge.hpp"
#include "settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::oauth {

struct Resource {
    std::string identifier;  // exactly as published, else the server's canonical URL
    std::vector<std::string> authorization_servers;
    std::vector<std::string> scopes;
    bool wants_dpop = false;
};

struct AuthorizationServer {
    std::string issuer;  // empty: unknown, the endpoints are configured
    std::string authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint;
    std::optional<std::vector<std::string>> auth_methods, dpop_algorithms;
    std::vector<std::string> scopes;
    std::string looked_at;  // not empty: nothing was published there, the endpoints are guesses
    bool takes_metadata_urls = false;  // client_id_metadata_document_supported
    bool sends_issuer = false;         // authorization_response_iss_parameter_supported
    bool proves_code_exchange = true;  // S256
    Judged judged = Judged::kBesideServer;
    Judged judged_registration = Judged::kBesideServer;
};

// The challenge of a request without credentials; an empty Demand if the server makes none.
Task<Demand> probe(Services& services, const WebUrl& server);

Task<Resource> discover_resource(Services& services, const WebUrl& server, const Demand& demand);

// What to set for a server that offers no sign-in.
std::string ways_without_sign_in();

// `known_issuer`: of an earlier sign-in, preferred if the server still names it.
Task<AuthorizationServer> discover_authorization_server(Services& services,
                                                        const Settings& settings,
                                                        const WebUrl& server,
                                                        const Resource& resource,
                                                        const std::string& known_issuer);

}  // namespace patchbay::oauth
