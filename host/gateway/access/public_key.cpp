#include "gateway/access/public_key.hpp"

#include "core/base64.hpp"
#include "core/json.hpp"

#include <algorithm>
#include <array>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr std::size_t kMostIdBytes = 256;  // an issuer names its keys; who says more wants memory

struct Algorithm {
    const char* name;
    const char* kind;   // kty
    const char* curve;  // crv
    crypto::Scheme scheme;
};
// No "none" and no HMAC, whose key would be the public one: a token that names them fits no key.
constexpr std::array<Algorithm, 9> kAlgorithms{{
    {"RS256", "RSA", "", {256}},
    {"RS384", "RSA", "", {384}},
    {"RS512", "RSA", "", {512}},
    {"PS256", "RSA", "", {256, true}},
    {"PS384", "RSA", "", {384, true}},
    {"PS512", "RSA", "", {512, true}},
    {"ES256", "EC", "P-256", {256}},
    {"ES384", "EC", "P-384", {384}},
    {"EdDSA", "OKP", "Ed25519", {}},
}};

const Algorithm* find(std::string_view name) {
    const auto found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                    [&](const Algorithm& each) { return name == each.name; });
    return found == kAlgorithms.end() ? nullptr : &*found;
}

// What cannot be read is empty, and of an empty number the library makes no key.
std::string bytes_in(const json::object& jwk, std::string_view member) {
    const auto text = core::text_in(&jwk, member);
    auto bytes = core::base64url_decoded(text.value_or(""));
    return bytes ? std::move(*bytes) : std::string();
}

std::unique_ptr<crypto::PublicKey> made_of(const crypto::Library& library, const json::object& jwk,
                                           std::string_view kind, std::string_view curve) {
    if (kind == "RSA") return library.rsa_key(bytes_in(jwk, "n"), bytes_in(jwk, "e"));
    if (kind == "EC") return library.ec_key(curve, bytes_in(jwk, "x"), bytes_in(jwk, "y"));
    if (kind == "OKP" && curve == "Ed25519") return library.ed25519_key(bytes_in(jwk, "x"));
    return nullptr;
}

// A key that says neither is for whatever it can do (RFC 7517 sections 4.2 and 4.3).
bool is_for_signatures(const json::object& jwk) {
    if (const auto* use = jwk.if_contains("use"))
        if (core::text_of(*use).value_or("") != "sig") return false;
    const auto* operations = core::array_in(&jwk, "key_ops");
    return !operations || std::any_of(operations->begin(), operations->end(), [](const auto& each) {
        return core::text_of(each).value_or("") == "verify";
    });
}

}  // namespace

// A set has keys for other uses and of other kinds too: they are none of ours, and no error.
std::shared_ptr<const PublicKey> PublicKey::from_jwk(const crypto::Library& library,
                                                     const json::object& jwk) {
    const auto kind = core::text_in(&jwk, "kty").value_or("");
    const auto curve = core::text_in(&jwk, "crv").value_or("");
    const auto id = core::text_in(&jwk, "kid").value_or("");
    if (!is_for_signatures(jwk) || id.size() > kMostIdBytes) return nullptr;
    auto key = made_of(library, jwk, kind, curve);
    if (!key) return nullptr;
    std::shared_ptr<PublicKey> made(new PublicKey(std::move(key)));
    made->kind_ = kind;
    // Beside RSA it means nothing, and would keep the key from each of its algorithms.
    made->curve_ = kind == "RSA" ? "" : curve;
    made->only_ = core::text_in(&jwk, "alg").value_or("");
    made->id_ = id;
    return made;
}

bool PublicKey::known(std::string_view algorithm) {
    return find(algorithm) != nullptr;
}

// The key says what it is for, not the token: else who signs would choose how it is verified.
bool PublicKey::fits(std::string_view algorithm) const {
    const auto* found = find(algorithm);
    return found && kind_ == found->kind && curve_ == found->curve &&
           (only_.empty() || only_ == algorithm);
}

bool PublicKey::verifies(std::string_view algorithm, std::string_view text,
                         std::string_view signature) const {
    return fits(algorithm) && key_->verifies(find(algorithm)->scheme, text, signature);
}

}  // namespace patchbay::gateway
