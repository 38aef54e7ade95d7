// How one server's credentials are come by: stored, refreshed, asked for, or earned without a
// person.
//
// Owns:    what this process knows beside the store: the token given out last, a login that
//          could not be stored, the client registered last, how often a person was asked for the same.
// Threads: [strand]. One acquire or forget at a time.
// Errors:  Trouble.
#pragma once

#include "authorization.hpp"
#include "record.hpp"
#include "registration.hpp"

#include <patchbay/cpp/auth.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::oauth {

struct Wish {
    std::uint64_t operation = 0;
    std::uint32_t interactive = PATCHBAY_AUTH_QUIET;
    std::string url, scope;
    std::optional<Demand> demand;  // nothing: before the first use
};

struct Granted {
    std::vector<sdk::Credential> credentials;
    std::uint64_t expires_unix_ms = 0;
};

class Flow {
public:
    Flow(Services& services, Prover& prover, Settings settings);

    Task<Granted> acquire(const Wish& wish);
    Task<> forget();

private:
    struct Scene {  // what a sign-in is about
        WebUrl server;
        Demand demand;
        Resource resource;
        AuthorizationServer authorization;
        std::shared_ptr<const SigningKey> dpop_key;
        std::string scope;
    };

    // flow.cpp
    Task<std::optional<Record>> stored(const WebUrl& server);
    Task<std::optional<Record>> still_good(const Wish& wish, const WebUrl& server,
                                           const Record& record);
    Task<std::optional<Record>> refreshed(const WebUrl& server, const std::string& spent);
    Task<std::optional<Tokens>> renewed_tokens(const Record& record);
    TokenEndpoint endpoint_of(const Record& record, const std::string& url) const;
    Task<> keep(const Record& record);
    Task<> keep_locked(const Record& record);
    bool refuses(const Wish& wish, const std::string& token);
    Granted granted(const Record& record);

    // sign_in.cpp
    Task<Scene> scene_of(const Wish& wish, const WebUrl& server, const Record& known);
    Task<Record> signed_in(const Wish& wish, const WebUrl& server, const Record& known);
    Task<Record> earned(const Wish& wish, const WebUrl& server, const Record& known);
    Task<Tokens> earned_tokens(const Scene& scene, const TokenEndpoint& endpoint);
    Task<std::string> identity_grant(const Scene& scene);
    Redirect reserve(const Scene& scene, const Record& known);
    Task<Client> client_for(const Scene& scene, const Record& known,
                            const std::string& redirect_uri);
    Task<Tokens> exchanged(const Scene& scene, const TokenEndpoint& endpoint, Redirect& redirect);
    std::shared_ptr<const SigningKey> dpop_key_for(const Demand& demand, const Resource& resource,
                                                   const AuthorizationServer& server,
                                                   const Record& known) const;
    TokenEndpoint endpoint_of(const Scene& scene, Client client) const;
    void add_key(TokenEndpoint& endpoint) const;
    Record record_of(const Scene& scene, const TokenEndpoint& endpoint, const Tokens& tokens) const;
    void count_attempt(const Wish& wish, const Demand& demand);
    void check_secrets_stay(const AuthorizationServer& server) const;
    Task<> check_sign_in_is_offered(const Wish& wish, const WebUrl& server, const Record& known);
    [[noreturn]] void refuse_quietly(const Wish& wish, const Record& known) const;
    std::string invitation() const;

    Services& services_;
    Prover& prover_;
    const Settings settings_;

    struct Attempts {
        int count = 0;
        std::int64_t last = 0;
    };
    struct Registered {
        std::string issuer, token_endpoint;
        Client client;
    };
    std::string given_;          // the token that is in use
    std::string renewed_;        // the access token that came of a refresh after a refusal
    std::string reason_;         // why the stored login does not do
    std::string pinned_issuer_;  // where the settings' client has signed in before
    std::optional<std::string> nothing_at_;  // where no sign-in was offered; empty: there is one
    std::optional<Record> unkept_;           // what the store would not take
    std::optional<Registered> registered_;
    std::map<std::string, Attempts> attempts_;  // by the scope that was asked for
};

}  // namespace patchbay::oauth
