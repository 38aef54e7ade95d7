#include "gateway/access/public_key.hpp"

#include "core/base64.hpp"
#include "core/json.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>

namespace patchbay::gateway {
namespace json = boost::json;

namespace {

constexpr int kLeastRsaBits = 2'048, kMostRsaBits = 8'192;
constexpr std::size_t kMostExponentBytes = 8, kEd25519Bytes = 32, kMostIdBytes = 256;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

struct Algorithm {
    const char* name;
    const char* kind;   // kty
    const char* curve;  // crv
    const EVP_MD* (*digest)();
    bool pss;
};
constexpr std::array<Algorithm, 9> kAlgorithms{{
    {"RS256", "RSA", "", EVP_sha256, false},
    {"RS384", "RSA", "", EVP_sha384, false},
    {"RS512", "RSA", "", EVP_sha512, false},
    {"PS256", "RSA", "", EVP_sha256, true},
    {"PS384", "RSA", "", EVP_sha384, true},
    {"PS512", "RSA", "", EVP_sha512, true},
    {"ES256", "EC", "P-256", EVP_sha256, false},
    {"ES384", "EC", "P-384", EVP_sha384, false},
    {"EdDSA", "OKP", "Ed25519", nullptr, false},
}};

const Algorithm* find(std::string_view name) {
    const auto found = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                    [&](const Algorithm& each) { return name == each.name; });
    return found == kAlgorithms.end() ? nullptr : &*found;
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string bytes_in(const json::object& jwk, std::string_view member) {
    const auto text = core::text_in(&jwk, member);
    return text ? base64url_decoded(*text).value_or("") : "";
}

EVP_PKEY* made_of(const char* kind, OSSL_PARAM_BLD* builder) {
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
        return nullptr;
    return key;
}

EVP_PKEY* rsa_of(const json::object& jwk) {
    const auto n = bytes_in(jwk, "n"), e = bytes_in(jwk, "e");
    if (n.empty() || n.size() > kMostRsaBits / 8 || e.empty() || e.size() > kMostExponentBytes)
        return nullptr;
    const Number modulus(BN_bin2bn(bytes_of(n), static_cast<int>(n.size()), nullptr)),
        exponent(BN_bin2bn(bytes_of(e), static_cast<int>(e.size()), nullptr));
    if (!modulus || !exponent || BN_num_bits(modulus.get()) < kLeastRsaBits ||
        !BN_is_odd(modulus.get()) || !BN_is_odd(exponent.get()) || BN_is_one(exponent.get()))
        return nullptr;
    const Builder builder(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
    return made_of("RSA", builder.get());
}

std::size_t half_of(std::string_view curve) {
    return curve == "P-256" ? 32 : curve == "P-384" ? 48 : 0;
}

EVP_PKEY* ec_of(const json::object& jwk, std::string_view curve) {
    const auto x = bytes_in(jwk, "x"), y = bytes_in(jwk, "y");
    const auto half = half_of(curve);
    if (half == 0 || x.size() != half || y.size() != half) return nullptr;
    const auto point = "\x04" + x + y;
    const std::string group(curve);  // the builder keeps where it is until it is done
    const Builder builder(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group.c_str(), 0);
    OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                     point.size());
    return made_of("EC", builder.get());
}

EVP_PKEY* okp_of(const json::object& jwk, std::string_view curve) {
    const auto x = bytes_in(jwk, "x");
    if (curve != "Ed25519" || x.size() != kEd25519Bytes) return nullptr;
    return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size());
}

// JOSE has r and s side by side, libcrypto wants ASN.1.
std::string as_asn1(std::string_view pair, std::size_t half) {
    if (pair.size() != 2 * half) return {};
    const auto number = [&](std::size_t at) {
        return BN_bin2bn(bytes_of(pair) + at, static_cast<int>(half), nullptr);
    };
    const Signature signature(ECDSA_SIG_new());
    if (!signature || ECDSA_SIG_set0(signature.get(), number(0), number(half)) != 1) return {};
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(signature.get(), &der);
    if (size <= 0) return {};
    std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
    OPENSSL_free(der);
    return out;
}

bool is_for_signatures(const json::object& jwk) {
    if (const auto* use = jwk.if_contains("use"))
        if (core::text_of(*use).value_or("") != "sig") return false;
    const auto* operations = core::array_in(&jwk, "key_ops");
    return !operations || std::any_of(operations->begin(), operations->end(), [](const auto& each) {
        return core::text_of(each).value_or("") == "verify";
    });
}

}  // namespace

std::shared_ptr<const PublicKey> PublicKey::from_jwk(const json::object& jwk) {
    const auto kind = core::text_in(&jwk, "kty").value_or("");
    const auto curve = core::text_in(&jwk, "crv").value_or("");
    const auto id = core::text_in(&jwk, "kid").value_or("");
    if (!is_for_signatures(jwk) || id.size() > kMostIdBytes) return nullptr;
    auto* key = kind == "RSA"   ? rsa_of(jwk)
                : kind == "EC"  ? ec_of(jwk, curve)
                : kind == "OKP" ? okp_of(jwk, curve)
                                : nullptr;
    ERR_clear_error();
    if (!key) return nullptr;
    std::shared_ptr<PublicKey> made(new PublicKey(key));
    made->kind_ = kind;
    made->curve_ = kind == "RSA" ? "" : curve;
    made->only_ = core::text_in(&jwk, "alg").value_or("");
    made->id_ = id;
    return made;
}

PublicKey::~PublicKey() {
    EVP_PKEY_free(static_cast<EVP_PKEY*>(key_));
}

bool PublicKey::known(std::string_view algorithm) {
    return find(algorithm) != nullptr;
}

bool PublicKey::fits(std::string_view algorithm) const {
    const auto* found = find(algorithm);
    return found && kind_ == found->kind && curve_ == found->curve &&
           (only_.empty() || only_ == algorithm);
}

bool PublicKey::verifies(std::string_view algorithm, std::string_view text,
                         std::string_view signature) const {
    if (!fits(algorithm)) return false;
    const auto* how = find(algorithm);
    const auto half = half_of(curve_);
    const auto raw = half ? as_asn1(signature, half) : std::string(signature);
    const Digest digest(EVP_MD_CTX_new());
    EVP_PKEY_CTX* context = nullptr;
    const bool verified =
        EVP_DigestVerifyInit(digest.get(), &context, how->digest ? how->digest() : nullptr, nullptr,
                             static_cast<EVP_PKEY*>(key_)) == 1 &&
        (!how->pss || (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
                       EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1)) &&
        EVP_DigestVerify(digest.get(), bytes_of(raw), raw.size(), bytes_of(text), text.size()) == 1;
    ERR_clear_error();
    return verified;
}

std::optional<std::string> base64url_decoded(std::string_view text) {
    if (text.find_first_of("+/=") != text.npos) return std::nullopt;
    std::string usual(text);
    std::replace(usual.begin(), usual.end(), '-', '+');
    std::replace(usual.begin(), usual.end(), '_', '/');
    auto decoded = core::base64_decoded(usual);
    return decoded ? std::optional(std::move(*decoded)) : std::nullopt;
}

}  // namespace patchbay::gateway
