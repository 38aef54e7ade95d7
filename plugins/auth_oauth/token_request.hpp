// The token endpoint: who we are to it, what is asked, and what it answered.
//
// Threads: [strand]. Errors: Trouble; error() is the server's code for a refusal, empty (and
// usually PATCHBAY_ERR_RETRYABLE) when there was no answer to go by. Follows: OAuth 2.1
// section 3.2, RFC 7523, RFC 9449 sections 5 and 8.
#pragma once

#include "dpop.hpp"
#include "encoding.hpp"
#include "settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::oauth {

struct Client {
    std::string id, secret;
    std::string auth_method;  // as registered or configured; empty: to be chosen
    std::string redirect_uri;
    bool registered = false;  // by us, at this authorization server
};

struct Tokens {
    std::string access_token, refresh_token, token_type, scope, principal, issued_token_type;
    std::int64_t life = 0;  // seconds; 0: unknown
};

struct TokenEndpoint {
    std::string url;
    Judged judged = Judged::kBesideServer;
    std::string audience;  // of signed assertions: the issuer
    Client client;
    std::shared_ptr<const SigningKey> client_key;  // for private_key_jwt
    std::string client_key_id;
    std::shared_ptr<const SigningKey> dpop_key;  // null: bearer tokens
    std::uint32_t timeout_ms = 10'000;
};

// The method for a client, of those the server supports (nothing: it does not say).
std::string choose_auth_method(const std::optional<std::vector<std::string>>& supported,
                               const Client& client, bool has_key);

enum class Expect { kAccessToken, kIdJag };
Task<Tokens> request_tokens(Services& services, Prover& prover, const TokenEndpoint& endpoint,
                            Form form, Expect expect = Expect::kAccessToken);

// Best effort: what the server answers is of no account.
Task<> revoke(Services& services, const TokenEndpoint& endpoint, Form form);

}  // namespace patchbay::oauth
