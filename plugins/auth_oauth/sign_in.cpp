#include "ascii.hpp"
#include "flow.hpp"

#include <algorithm>

namespace patchbay::oauth {
namespace {

constexpr int kMostAttempts = 3;
constexpr std::int64_t kForgotten = 600;  // seconds after which an attempt no longer counts
constexpr const char* kJwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";

void check_offers(const AuthorizationServer& server, bool asks_a_person) {
    const auto missing = [&](const char* what) {
        throw Trouble(PATCHBAY_E_PROTOCOL, "the metadata of " + server.issuer + " has no " + what);
    };
    if (server.token_endpoint.empty()) missing("\"token_endpoint\"");
    if (!asks_a_person) return;
    if (server.authorization_endpoint.empty()) missing("\"authorization_endpoint\"");
    if (!server.proves_code_exchange)
        missing("\"code_challenge_methods_supported\" with S256 (PKCE); no sign-in without it");
}

std::uint32_t port_of(const std::string& redirect_uri) {
    return redirect_uri.empty() ? 0 : WebUrl::parse(redirect_uri, "the stored redirect_uri").port;
}

void check_kind(const Tokens& tokens, const std::shared_ptr<const SigningKey>& key, Dpop wanted) {
    const bool bound = ascii::same(tokens.token_type, "DPoP");
    if (bound && !key) {
        throw Trouble(PATCHBAY_E_PROTOCOL,
                      "the authorization server bound the token to a key that it was not given");
    }
    if (!bound && key && wanted == Dpop::kAlways) {
        throw Trouble(PATCHBAY_E_AUTH,
                      "the authorization server gave a bearer token though \"dpop\" is true; it is "
                      "not used");
    }
}

// Nothing offers a sign-in. Whether there is need of one is in how the server has answered a
// request without credentials.
void check_need(const Demand& demand) {
    const auto status = demand.http_status;
    if (status == 0 || status == 401 || status == 403 || status >= 500) return;
    const bool success = status >= 200 && status < 300;
    // 400: it wants a session first, as its transport may.
    if (status == 202 || ((success || status == 400) && demand.speaks_json_rpc)) throw NoNeed();
    throw Trouble(
        PATCHBAY_E_IO,
        "it answers " + std::to_string(status) +
            " to an MCP request and offers no sign-in; is this the URL of an MCP server?");
}

}  // namespace

std::string Flow::invitation() const {
    return "sign in with: patchbay mcp login " + services_.server();
}

void Flow::refuse_quietly(const Wish& wish, const Record& known) const {
    if (wish.demand && wish.demand->insufficient_scope()) {
        const auto scope = joined(words(known.scope + " " + wish.demand->scope));
        throw Trouble(PATCHBAY_E_AUTH, "the server asks for more than the login is for; " +
                                           invitation() + " --scope \"" + printable(scope) + "\"");
    }
    const auto now = services_.unix_seconds();
    const auto login = "the login at " + printable(known.issuer);
    std::string why;
    if (!reason_.empty())
        why = "the login has ended (" + printable(reason_) + "); ";
    else if (wish.demand && !given_.empty() && known.access_token == given_)
        why = "the server refuses the token of " + login +
              (known.is_new(now) ? ", which is new: another one will hardly do; " : "; ");
    else if (!known.access_token.empty() && known.ended(now))
        why = login + " has expired and cannot be renewed; ";
    throw Trouble(PATCHBAY_E_AUTH, why + invitation());
}

// The settings' secrets go where the settings say, or where they went at the first login. Else
// whoever takes the MCP server over could name an authorization server that collects them.
void Flow::check_secrets_stay(const AuthorizationServer& server) const {
    const bool told = !settings_.token_url.empty() || !settings_.issuer.empty();
    if (told || !settings_.sends_secrets() || pinned_issuer_.empty()) return;
    if (pinned_issuer_ == server.issuer) return;
    throw Trouble(PATCHBAY_E_DENIED,
                  "the server signs in at " + printable(server.issuer) +
                      " now, but the client of the settings signed in at " +
                      printable(pinned_issuer_) +
                      " and its secrets go nowhere else; if the new one is right, set "
                      "\"oauth.issuer\" to \"" +
                      printable(server.issuer) + "\"");
}

// Nobody is sent to a sign-in that there is not: looked at once, and only if nothing speaks of one.
Task<> Flow::check_sign_in_is_offered(const Wish& wish, const WebUrl& server, const Record& known) {
    const bool told = !settings_.issuer.empty() || !settings_.authorization_url.empty() ||
                      !settings_.token_url.empty() || !known.issuer.empty();
    const auto status = wish.demand ? wish.demand->http_status : 0;
    if (told || (status != 401 && status != 403) || !wish.demand->resource_metadata.empty())
        co_return;
    // Forbidden with a challenge is one: without, it may be for anything.
    if (status == 403 && (wish.demand->bearer || wish.demand->dpop)) co_return;
    if (!nothing_at_) {
        try {
            const auto resource = co_await discover_resource(services_, server, *wish.demand);
            const auto found =
                co_await discover_authorization_server(services_, settings_, server, resource, {});
            nothing_at_ = found.looked_at;
        } catch (const Trouble& trouble) {
            if (trouble.code() == PATCHBAY_E_CANCELLED) throw;
            co_return;  // not to be told now: the sign-in itself will say what is wrong
        }
    }
    if (nothing_at_->empty()) co_return;
    throw Trouble(PATCHBAY_E_AUTH,
                  std::string(status == 403 ? "the server forbids it and"
                                            : "the server asks for credentials but") +
                      " offers no sign-in (nothing published at " + *nothing_at_ + "); " +
                      ways_without_sign_in());
}

// A server that refuses what was signed in for must not make a person sign in for ever.
void Flow::count_attempt(const Wish& wish, const Demand& demand) {
    if (wish.interactive == PATCHBAY_AUTH_SIGN_IN) attempts_.clear();
    // A program that fetches its token anew at each start bothers nobody.
    if (!settings_.asks_a_person() && !wish.demand) return;
    const auto now = services_.unix_seconds();
    auto& attempts = attempts_[demand.scope];
    if (now - attempts.last > kForgotten) attempts.count = 0;
    if (attempts.count >= kMostAttempts) {
        throw Trouble(
            PATCHBAY_E_AUTH,
            "the server still refuses after " + std::to_string(kMostAttempts) +
                " logins for the same" +
                (demand.scope.empty() ? "" : " scope \"" + printable(demand.scope) + "\"") +
                "; check what your account may do, then " + invitation());
    }
    ++attempts.count;
    attempts.last = now;
}

std::shared_ptr<const SigningKey> Flow::dpop_key_for(const Demand& demand, const Resource& resource,
                                                     const AuthorizationServer& server,
                                                     const Record& known) const {
    const bool demanded = (demand.dpop && !demand.bearer) || resource.wants_dpop;
    if (settings_.dpop == Dpop::kNever || (settings_.dpop == Dpop::kIfDemanded && !demanded))
        return nullptr;
    const auto& offered = server.dpop_algorithms;
    if (offered && std::find(offered->begin(), offered->end(), "ES256") == offered->end()) {
        throw Trouble(PATCHBAY_E_UNSUPPORTED,
                      "the authorization server takes DPoP proofs, but not with ES256");
    }
    // Another authorization server gets another key: by a common one they could tell it is us.
    const bool same = !known.dpop_key.empty() && known.issuer == server.issuer;
    return same ? SigningKey::from_pem(known.dpop_key) : SigningKey::generate();
}

Task<Flow::Scene> Flow::scene_of(const Wish& wish, const WebUrl& server, const Record& known) {
    Scene scene;
    scene.server = server;
    if (wish.demand)
        scene.demand = *wish.demand;
    else
        scene.demand = co_await probe(services_, server);
    count_attempt(wish, scene.demand);
    scene.resource = co_await discover_resource(services_, server, scene.demand);
    scene.authorization = co_await discover_authorization_server(services_, settings_, server,
                                                                 scene.resource, known.issuer);
    check_offers(scene.authorization, settings_.asks_a_person());
    check_secrets_stay(scene.authorization);
    // What one authorization server has granted is no business of another.
    const bool same = known.issuer == scene.authorization.issuer;
    scene.dpop_key = dpop_key_for(scene.demand, scene.resource, scene.authorization, known);
    scene.scope = wanted_scope(wish.scope, scene.demand, settings_, scene.resource,
                               scene.authorization, same ? known.scope : std::string());
    co_return scene;
}

void Flow::add_key(TokenEndpoint& endpoint) const {
    endpoint.client_key = SigningKey::from_pem(
        secret_of(services_, settings_.private_key, settings_.private_key_file));
    endpoint.client_key_id = settings_.key_id;
    const std::string algorithm = endpoint.client_key->algorithm();
    if (settings_.signing_alg.empty() || settings_.signing_alg == algorithm) return;
    throw Trouble(PATCHBAY_E_INVALID, "\"signing_alg\" is " + settings_.signing_alg +
                                          " but the private key is for " + algorithm);
}

TokenEndpoint Flow::endpoint_of(const Scene& scene, Client client) const {
    TokenEndpoint endpoint;
    endpoint.url = scene.authorization.token_endpoint;
    endpoint.judged = scene.authorization.judged;
    endpoint.audience =
        scene.authorization.issuer.empty() ? endpoint.url : scene.authorization.issuer;
    if (!settings_.audience.empty()) endpoint.audience = settings_.audience;
    endpoint.client = std::move(client);
    endpoint.dpop_key = scene.dpop_key;
    const bool signs = settings_.has_key() && settings_.is_own_client(endpoint.client.id);
    if (signs) add_key(endpoint);
    endpoint.client.auth_method =
        choose_auth_method(scene.authorization.auth_methods, endpoint.client, signs);
    return endpoint;
}

Record Flow::record_of(const Scene& scene, const TokenEndpoint& endpoint,
                       const Tokens& tokens) const {
    check_kind(tokens, scene.dpop_key, settings_.dpop);
    Record record;
    record.access_token = tokens.access_token;
    record.refresh_token = tokens.refresh_token;
    record.token_type = tokens.token_type;
    record.scope = tokens.scope.empty() ? scene.scope : tokens.scope;
    record.client_id = endpoint.client.id;
    // The settings have their own secret; a copy here would outlive its change.
    if (endpoint.client.registered) record.client_secret = endpoint.client.secret;
    record.token_endpoint_auth_method = endpoint.client.auth_method;
    record.redirect_uri = endpoint.client.registered ? endpoint.client.redirect_uri : std::string();
    record.issuer = scene.authorization.issuer;
    record.resource = scene.resource.identifier;
    record.server_url = scene.server.canonical();
    record.principal = tokens.principal;
    record.token_endpoint = endpoint.url;
    record.revocation_endpoint = scene.authorization.revocation_endpoint;
    if (ascii::same(tokens.token_type, "DPoP")) record.dpop_key = scene.dpop_key->pem();
    record.obtained_at = services_.unix_seconds();
    if (tokens.life > 0) record.expires_at = record.obtained_at + tokens.life;
    return record;
}

// The port of the client registered before, if it is still to be had.
Redirect Flow::reserve(const Scene& scene, const Record& known) {
    std::uint32_t port = settings_.callback_port;
    const bool free_choice = port == 0;
    if (free_choice && known.issuer == scene.authorization.issuer)
        port = port_of(known.redirect_uri);
    if (free_choice && registered_ && registered_->issuer == scene.authorization.issuer)
        port = port_of(registered_->client.redirect_uri);
    try {
        return services_.reserve(port);
    } catch (const Trouble& trouble) {
        if (trouble.code() == PATCHBAY_E_UNSUPPORTED || trouble.code() == PATCHBAY_E_AUTH)
            throw Trouble(PATCHBAY_E_AUTH, std::string(trouble.what()) + "; " + invitation());
        if (port == 0 || !free_choice) throw;
    }
    // Another port is another redirect: client_for() will register for it.
    return services_.reserve(0);
}

Task<Client> Flow::client_for(const Scene& scene, const Record& known,
                              const std::string& redirect_uri) {
    const auto& server = scene.authorization;
    auto client = known_client(settings_, server);
    if (!client.id.empty()) co_return client;
    const bool remembered = registered_ && registered_->issuer == server.issuer &&
                            registered_->token_endpoint == server.token_endpoint &&
                            registered_->client.redirect_uri == redirect_uri;
    if (remembered) co_return registered_->client;
    client = remembered_client(known, server, redirect_uri);
    if (!client.id.empty()) co_return client;
    try {
        client = co_await register_client(services_, settings_, server, redirect_uri, scene.scope,
                                          scene.dpop_key ? Bound::kDpop : Bound::kBearer);
    } catch (const Trouble& trouble) {
        if (trouble.code() != PATCHBAY_E_CANCELLED && !server.looked_at.empty())
            check_need(scene.demand);
        throw;
    }
    registered_ = Registered{server.issuer, server.token_endpoint, client};
    co_return client;
}

Task<Tokens> Flow::exchanged(const Scene& scene, const TokenEndpoint& endpoint,
                             Redirect& redirect) {
    auto request = AuthorizationRequest::fresh();
    request.client_id = endpoint.client.id;
    request.redirect_uri = redirect.uri;
    request.resource = scene.resource.identifier;
    request.scope = scene.scope;
    request.dpop_key = scene.dpop_key;
    services_.mask(request.state);
    services_.mask(request.verifier);
    auto url = request.url(scene.authorization);
    const auto query = co_await services_.authorize(redirect, std::move(url));
    const auto code = code_of(query, request, scene.authorization);
    services_.mask(code);
    Form form{{"grant_type", "authorization_code"},
              {"code", code},
              {"redirect_uri", redirect.uri},
              {"code_verifier", request.verifier},
              {"resource", request.resource}};
    auto tokens = co_await request_tokens(services_, prover_, endpoint, std::move(form));
    co_return tokens;
}

Task<Record> Flow::signed_in(const Wish& wish, const WebUrl& server, const Record& known) {
    if (wish.interactive == PATCHBAY_AUTH_QUIET) {
        co_await check_sign_in_is_offered(wish, server, known);
        refuse_quietly(wish, known);
    }
    const auto scene = co_await scene_of(wish, server, known);
    Record remembered = known;
    // A refresh has just shown that the authorization server knows that client no more.
    if (reason_ == "invalid_client") remembered = Record();
    for (int attempt = 0;; ++attempt) {
        auto redirect = reserve(scene, remembered);
        auto client = co_await client_for(scene, remembered, redirect.uri);
        const bool registered = client.registered;
        const auto endpoint = endpoint_of(scene, std::move(client));
        try {
            const auto tokens = co_await exchanged(scene, endpoint, redirect);
            co_return record_of(scene, endpoint, tokens);
        } catch (const Trouble& trouble) {
            if (trouble.error() != "invalid_client" || !registered || attempt > 0) throw;
        }
        registered_.reset();  // the authorization server knows that client no more
        remembered = Record();
    }
}

Task<Record> Flow::earned(const Wish& wish, const WebUrl& server, const Record& known) {
    const auto scene = co_await scene_of(wish, server, known);
    Client client;
    client.id = settings_.client_id;
    client.secret = settings_.client_secret;
    client.auth_method = settings_.token_endpoint_auth_method;
    if (client.id.empty() && settings_.grant == Grant::kClientCredentials)
        throw Trouble(PATCHBAY_E_INVALID, "\"grant\": client_credentials needs \"client_id\"");
    const auto endpoint = endpoint_of(scene, std::move(client));
    const auto tokens = co_await earned_tokens(scene, endpoint);
    co_return record_of(scene, endpoint, tokens);
}

Task<Tokens> Flow::earned_tokens(const Scene& scene, const TokenEndpoint& endpoint) {
    Form form;
    if (settings_.grant == Grant::kClientCredentials) {
        form.emplace_back("grant_type", "client_credentials");
    } else {
        auto assertion = settings_.grant == Grant::kJwtBearer
                             ? secret_of(services_, settings_.assertion, settings_.assertion_file)
                             : std::string();
        if (settings_.grant == Grant::kEnterpriseManaged)
            assertion = co_await identity_grant(scene);
        if (assertion.empty()) {
            throw Trouble(PATCHBAY_E_INVALID,
                          "\"grant\": jwt_bearer needs \"assertion\" or \"assertion_file\"");
        }
        form.emplace_back("grant_type", kJwtBearer);
        form.emplace_back("assertion", std::move(assertion));
    }
    form.emplace_back("resource", scene.resource.identifier);
    if (!scene.scope.empty()) form.emplace_back("scope", scene.scope);
    auto tokens = co_await request_tokens(services_, prover_, endpoint, std::move(form));
    co_return tokens;
}

// The enterprise's identity provider lets this user in: an identity assertion JWT grant.
Task<std::string> Flow::identity_grant(const Scene& scene) {
    auto id_token = secret_of(services_, settings_.id_token, settings_.id_token_file);
    if (id_token.empty() || settings_.idp_token_url.empty()) {
        throw Trouble(PATCHBAY_E_INVALID,
                      "\"grant\": enterprise_managed needs \"idp_token_url\" and \"id_token\" or "
                      "\"id_token_file\"");
    }
    TokenEndpoint provider;
    provider.url = settings_.idp_token_url;
    provider.judged = Judged::kAsConfigured;
    provider.client.id = settings_.idp_client_id;
    provider.client.secret = settings_.idp_client_secret;
    provider.client.auth_method = choose_auth_method({}, provider.client, false);
    const auto& audience =
        settings_.audience.empty() ? scene.authorization.issuer : settings_.audience;
    Form form{{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
              {"requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"},
              {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"},
              {"subject_token", std::move(id_token)},
              {"audience", audience},
              {"resource", scene.resource.identifier}};
    if (!scene.scope.empty()) form.emplace_back("scope", scene.scope);
    const auto tokens =
        co_await request_tokens(services_, prover_, provider, std::move(form), Expect::kIdJag);
    co_return tokens.access_token;
}

}  // namespace patchbay::oauth
