// The settings of one server's sign-in, as oauth.schema.json describes them.
//
// Threads: [value]. Errors: sdk::Failure(E_INVALID) naming the key; a file that cannot be read is a
// Trouble that names it.
#pragma once

#include "services.hpp"

#include <string>
#include <string_view>

namespace patchbay::oauth {

enum class Grant { kAuthorizationCode, kClientCredentials, kJwtBearer, kEnterpriseManaged };
enum class Dpop { kIfDemanded, kAlways, kNever };

struct Settings {
    std::string authorization_url, token_url, registration_url, issuer;
    std::string client_id, client_secret, client_metadata_url, token_endpoint_auth_method;
    std::string scope, audience;
    std::string private_key, private_key_file, signing_alg, key_id;
    std::string assertion, assertion_file;
    std::string idp_token_url, idp_client_id, idp_client_secret, id_token, id_token_file;
    std::string ca_file, proxy;
    std::uint32_t callback_port = 0;
    Grant grant = Grant::kAuthorizationCode;
    Dpop dpop = Dpop::kIfDemanded;

    static Settings parse(std::string_view config);

    bool asks_a_person() const { return grant == Grant::kAuthorizationCode; }
    bool has_key() const { return !private_key.empty() || !private_key_file.empty(); }
    // Of an endpoint: what a person wrote is not judged, nor what the issuer they wrote says of
    // itself. The same for signing in, renewing and revoking.
    Judged judged(const std::string& configured) const {
        return configured.empty() && issuer.empty() ? Judged::kBesideServer : Judged::kAsConfigured;
    }
    // True of the client that the settings name, so that it has their secrets.
    bool is_own_client(const std::string& id) const {
        return id == client_id || (!id.empty() && id == client_metadata_url);
    }
    // True if a token request as that client carries something that another could use.
    bool sends_secrets() const {
        return !client_secret.empty() || has_key() || grant == Grant::kJwtBearer ||
               grant == Grant::kEnterpriseManaged;
    }
    void mask(const Services& services) const;
};

// The value itself or the content of its file, read anew each time, without space around it;
// masked.
std::string secret_of(const Services& services, const std::string& value, const std::string& file);

}  // namespace patchbay::oauth
