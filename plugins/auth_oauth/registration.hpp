// Who we are to an authorization server: configured, a metadata document, registered before, or
// registered now.
//
// Threads: [strand]. Errors: Trouble; no way to become a client says what to configure.
// Follows: the MCP specification's order, RFC 7591.
#pragma once

#include "discovery.hpp"
#include "record.hpp"
#include "token_request.hpp"

#include <string>

namespace patchbay::oauth {

// The client that needs no registration, or an empty id.
Client known_client(const Settings& settings, const AuthorizationServer& server);

// The client that `record` remembers, if it is of this server and this redirect URI; else an empty
// id.
Client remembered_client(const Record& record, const AuthorizationServer& server,
                         const std::string& redirect_uri);

enum class Bound { kBearer, kDpop };
Task<Client> register_client(Services& services, const Settings& settings,
                             const AuthorizationServer& server, const std::string& redirect_uri,
                             const std::string& scope, Bound bound);

}  // namespace patchbay::oauth
