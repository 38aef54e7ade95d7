#include "flow.hpp"

#include "ascii.hpp"

namespace patchbay::oauth {
namespace {

constexpr std::uint32_t kRevokeMs = 5000;

// What a token's answer changes in a record.
void take(Record& record, const Tokens& tokens, std::int64_t now) {
    record.access_token = tokens.access_token;
    if (!tokens.refresh_token.empty()) record.refresh_token = tokens.refresh_token;
    if (!tokens.scope.empty()) record.scope = tokens.scope;
    record.token_type = tokens.token_type;
    record.obtained_at = now;
    record.expires_at = tokens.life > 0 ? now + tokens.life : 0;
}

}  // namespace

Flow::Flow(Services& services, Prover& prover, Settings settings)
    : services_(services), prover_(prover), settings_(std::move(settings)) {
    settings_.mask(services_);
}

Task<Granted> Flow::acquire(const Wish& wish) {
    const auto server = WebUrl::parse(wish.url, "the server's URL");
    services_.serve(server);
    reason_.clear();
    const auto record = co_await stored(server);
    if (record && wish.interactive != PATCHBAY_AUTH_SIGN_IN) {
        const auto good = co_await still_good(wish, server, *record);
        if (good) co_return granted(*good);
    }
    const auto known = record.value_or(Record());
    if (settings_.asks_a_person()) {
        std::optional<Record> fresh;
        try {
            fresh = co_await signed_in(wish, server, known);
        } catch (const NoNeed&) {
            co_return Granted();
        }
        co_await keep_locked(*fresh);
        co_return granted(*fresh);
    }
    // Machine credentials may be had at any time: quiet or not makes no difference.
    const auto fresh = co_await earned(wish, server, known);
    co_await keep_locked(fresh);
    co_return granted(fresh);
}

Task<std::optional<Record>> Flow::stored(const WebUrl& server) {
    // What the store would not take is newer than what it has.
    auto record = unkept_;
    if (!record) {
        const auto json = co_await services_.get();
        record = Record::parse(json);
    }
    // Whatever else has changed since: where its secrets went first.
    const bool own = record && settings_.is_own_client(record->client_id);
    pinned_issuer_ = own ? record->issuer : std::string();
    if (record && !record->belongs_to(server, settings_)) record.reset();
    if (record) record->mask(services_);
    co_return record;
}

// True if the server was shown `token` and would not have it.
bool Flow::refuses(const Wish& wish, const std::string& token) {
    if (!wish.demand) return false;
    // A nonce that was not known yet is what the proof lacked: the token itself is still good.
    const bool new_nonce = prover_.learn_nonce(wish.url, wish.demand->dpop_nonce);
    if (new_nonce && wish.demand->error == "use_dpop_nonce") return false;
    return token == given_;
}

// The stored login, or what a refresh makes of it; nothing if only another sign-in helps.
Task<std::optional<Record>> Flow::still_good(const Wish& wish, const WebUrl& server,
                                             const Record& record) {
    const auto now = services_.unix_seconds();
    const bool refused = refuses(wish, record.access_token);
    const bool more = wish.demand && wish.demand->insufficient_scope() &&
                      (refused || !record.covers(wish.demand->scope));
    std::optional<Record> good;
    if (more || !record.covers(wish.scope)) co_return good;
    const bool usable = !refused && !record.access_token.empty() && !record.ended(now);
    if (usable) good = record;
    if (usable && !record.ends_soon(now)) co_return good;
    if (record.refresh_token.empty()) co_return good;
    // A server that will not have what was renewed for it just now wants another login.
    if (refused && record.access_token == renewed_ && record.is_new(now)) co_return good;

    std::optional<Record> renewed;
    try {
        renewed = co_await refreshed(server, record.access_token);
        if (renewed && refused) renewed_ = renewed->access_token;
    } catch (const Trouble& trouble) {
        // A token that still lasts is worth more than the reason why there is no other.
        if (!usable || trouble.code() == PATCHBAY_E_CANCELLED) throw;
    }
    if (renewed) good = renewed;
    co_return good;
}

Task<std::optional<Record>> Flow::refreshed(const WebUrl& server, const std::string& spent) {
    const auto lock = co_await services_.lock();
    // Read again: a refresh token is good for one use, and another process may have used it while
    // the lock was waited for.
    auto record = co_await stored(server);
    const auto now = services_.unix_seconds();
    if (!record) co_return record;
    const bool by_another =
        record->access_token != spent && !record->access_token.empty() && !record->ends_soon(now);
    if (by_another) co_return record;
    std::optional<Record> renewed;
    if (record->refresh_token.empty()) co_return renewed;

    const auto tokens = co_await renewed_tokens(*record);
    if (tokens) {
        take(*record, *tokens, now);
        renewed = record;
        co_await keep(*renewed);
    } else if (reason_ == "invalid_grant") {
        // The registration stays, and so does a token that nobody has refused: it lasts till its end.
        record->refresh_token.clear();
        if (record->access_token == given_ || record->ended(now)) {
            record->access_token.clear();
            record->why_ended = reason_;
        }
        co_await keep(*record);
    }
    co_return renewed;
}

// As the client that `record` is of.
TokenEndpoint Flow::endpoint_of(const Record& record, const std::string& url) const {
    TokenEndpoint endpoint;
    endpoint.url = url;
    endpoint.audience = settings_.audience.empty() ? record.issuer : settings_.audience;
    endpoint.client.id = record.client_id;
    endpoint.client.secret = record.client_secret;
    endpoint.client.auth_method = record.token_endpoint_auth_method;
    const bool own = settings_.is_own_client(record.client_id) &&
                     (settings_.issuer.empty() || settings_.issuer == record.issuer);
    if (own && endpoint.client.secret.empty()) endpoint.client.secret = settings_.client_secret;
    if (own && endpoint.client.auth_method == "private_key_jwt") add_key(endpoint);
    return endpoint;
}

// Nothing if the authorization server will not; then reason_ says why.
Task<std::optional<Tokens>> Flow::renewed_tokens(const Record& record) {
    auto endpoint = endpoint_of(record, record.token_endpoint);
    endpoint.judged = settings_.judged(settings_.token_url);
    if (!record.dpop_key.empty()) endpoint.dpop_key = SigningKey::from_pem(record.dpop_key);
    Form form{{"grant_type", "refresh_token"},
              {"refresh_token", record.refresh_token},
              {"resource", record.resource}};
    std::optional<Tokens> tokens;
    try {
        tokens = co_await request_tokens(services_, prover_, endpoint, std::move(form));
    } catch (const Trouble& trouble) {
        if (trouble.error().empty()) throw;
        reason_ = trouble.error();
    }
    co_return tokens;
}

// Never fails: a login that cannot be stored serves this process.
Task<> Flow::keep(const Record& record) {
    record.mask(services_);
    auto json = record.json();
    try {
        co_await services_.put(std::move(json));
        unkept_.reset();
    } catch (const Trouble& trouble) {
        unkept_ = record;
        services_.warn(std::string("the login is not kept, it serves this process only: ") +
                       trouble.what());
    }
}

// What a person has just signed in for is kept even if the lock is not to be had: the worst that
// can happen is that a refresh of the login before it is stored over it.
Task<> Flow::keep_locked(const Record& record) {
    std::optional<Lock> lock;
    try {
        auto held = co_await services_.lock();
        lock.emplace(std::move(held));
    } catch (const Trouble& trouble) {
        if (trouble.code() == PATCHBAY_E_CANCELLED) throw;
    }
    co_await keep(record);
}

Granted Flow::granted(const Record& record) {
    const bool bound = ascii::same(record.token_type, "DPoP");
    Granted out;
    out.credentials.push_back(
        {"Authorization", (bound ? "DPoP " : "Bearer ") + record.access_token, PATCHBAY_KV_SECRET});
    if (bound) out.credentials.push_back({"DPoP", "", PATCHBAY_KV_SIGN});
    prover_.use(bound ? SigningKey::from_pem(record.dpop_key) : nullptr,
                bound ? record.access_token : std::string());
    out.expires_unix_ms = static_cast<std::uint64_t>(record.expires_at) * 1000;
    given_ = record.access_token;
    return out;
}

Task<> Flow::forget() {
    const auto json = co_await services_.get();
    const auto record = unkept_ ? unkept_ : Record::parse(json);
    // From here on this process knows no login, whatever fails below.
    unkept_.reset();
    registered_.reset();
    given_.clear();
    pinned_issuer_.clear();
    prover_.use(nullptr, {});
    // First told to the authorization server, then erased: without the record nobody could.
    if (record && record->revocation_endpoint.empty()) {
        services_.warn("the login is erased here; " + record->issuer +
                       " names no way to revoke its tokens, which are good there until they end");
    } else if (record) {
        record->mask(services_);
        const bool renewable = !record->refresh_token.empty();
        Form form{{"token", renewable ? record->refresh_token : record->access_token},
                  {"token_type_hint", renewable ? "refresh_token" : "access_token"}};
        try {
            services_.serve(WebUrl::parse(record->server_url, "the stored server_url"));
            auto endpoint = endpoint_of(*record, record->revocation_endpoint);
            endpoint.timeout_ms = kRevokeMs;
            if (record->issuer == settings_.issuer) endpoint.judged = settings_.judged({});
            co_await revoke(services_, endpoint, std::move(form));
        } catch (const Trouble& trouble) {
            services_.warn(std::string("the login is erased but not revoked: ") + trouble.what());
        }
    }
    co_await services_.put({});
}

}  // namespace patchbay::oauth
