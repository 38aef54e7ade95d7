#include "dpop.hpp"

#include "encoding.hpp"
#include "json.hpp"
#include "web_url.hpp"

#include <utility>

namespace patchbay::oauth {

void Prover::use(std::shared_ptr<const SigningKey> key, std::string token) {
    const std::lock_guard lock(mutex_);
    key_ = std::move(key);
    token_ = std::move(token);
}

bool Prover::learn_nonce(std::string_view url, const std::string& nonce) {
    if (nonce.empty()) return false;
    const auto origin = WebUrl::parse(url, "the URL of a nonce").origin();
    const std::lock_guard lock(mutex_);
    return std::exchange(nonces_[origin], nonce) != nonce;
}

std::string Prover::proof(const SigningKey& key, std::string_view method, std::string_view url,
                          std::int64_t now) const {
    return made(key, method, url, now, {});
}

std::string Prover::proof(std::string_view method, std::string_view url, std::int64_t now) const {
    std::shared_ptr<const SigningKey> key;
    std::string token;
    {
        const std::lock_guard lock(mutex_);
        key = key_;
        token = token_;
    }
    return key && !token.empty() ? made(*key, method, url, now, token) : std::string();
}

std::string Prover::made(const SigningKey& key, std::string_view method, std::string_view url,
                         std::int64_t now, const std::string& token) const {
    // RFC 9449, 4.2: without query and fragment.
    const auto target = WebUrl::parse(url.substr(0, url.find('#')), "the URL to sign for");
    std::string nonce;
    {
        const std::lock_guard lock(mutex_);
        const auto found = nonces_.find(target.origin());
        if (found != nonces_.end()) nonce = found->second;
    }
    ObjectWriter header, claims;
    header.text("typ", "dpop+jwt").text("alg", key.algorithm()).object("jwk", key.public_jwk());
    claims.text("jti", random_text()).text("htm", method).number("iat", now);
    claims.text("htu", target.origin() + (target.path.empty() ? "/" : target.path));
    if (!nonce.empty()) claims.text("nonce", nonce);
    if (!token.empty()) claims.text("ath", base64url(sha256(token)));
    return signed_jwt(key, header.str(), claims.str());
}

}  // namespace patchbay::oauth
