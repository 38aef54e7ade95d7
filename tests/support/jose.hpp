// An authorization server's keys for tests: makes them, says them as JWKs, and signs tokens.
#pragma once

#include "core/base64.hpp"

#include <boost/json.hpp>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <memory>
#include <string>

namespace patchbay::test {

namespace json = boost::json;

using core::base64url;

class JoseKey {
public:
    static JoseKey rsa(unsigned bits = 2'048) { return JoseKey(EVP_RSA_gen(bits)); }
    static JoseKey ec(const char* curve = "P-256") { return JoseKey(EVP_EC_gen(curve)); }
    static JoseKey ed25519() { return JoseKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }

    // The public part; `more` is added.
    json::object jwk(json::object more = {}) const {
        auto* const key = key_.get();
        if (EVP_PKEY_is_a(key, "RSA")) {
            more["kty"] = "RSA";
            more["n"] = number(OSSL_PKEY_PARAM_RSA_N);
            more["e"] = number(OSSL_PKEY_PARAM_RSA_E);
        } else if (EVP_PKEY_is_a(key, "EC")) {
            const auto half = half_size();
            std::string point(200, '\0');
            std::size_t size = 0;
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, bytes(point),
                                            point.size(), &size);
            more["kty"] = "EC";
            more["crv"] = half == 32 ? "P-256" : "P-384";
            more["x"] = base64url(std::string_view(point).substr(1, half));
            more["y"] = base64url(std::string_view(point).substr(1 + half, half));
        } else {
            std::string raw(32, '\0');
            std::size_t size = raw.size();
            EVP_PKEY_get_raw_public_key(key, bytes(raw), &size);
            more["kty"] = "OKP";
            more["crv"] = "Ed25519";
            more["x"] = base64url(raw);
        }
        return more;
    }
    static std::string set(const json::array& jwks) {
        return json::serialize(json::object{{"keys", jwks}});
    }

    std::string sign(const std::string& algorithm, const std::string& text) const {
        const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                         EVP_MD_CTX_free);
        EVP_PKEY_CTX* details = nullptr;
        const auto* digest = algorithm == "EdDSA"         ? nullptr
                             : algorithm.ends_with("512") ? EVP_sha512()
                             : algorithm.ends_with("384") ? EVP_sha384()
                                                          : EVP_sha256();
        EVP_DigestSignInit(context.get(), &details, digest, nullptr, key_.get());
        if (algorithm.starts_with("PS")) {
            EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING);
            EVP_PKEY_CTX_set_rsa_pss_saltlen(details, RSA_PSS_SALTLEN_DIGEST);
        }
        std::string signature(2'048, '\0');
        std::size_t size = signature.size();
        const auto* data = reinterpret_cast<const unsigned char*>(text.data());
        EVP_DigestSign(context.get(), bytes(signature), &size, data, text.size());
        signature.resize(size);
        return EVP_PKEY_is_a(key_.get(), "EC") ? side_by_side(signature) : signature;
    }
    std::string token(const json::object& header, const json::object& claims) const {
        const auto text =
            base64url(json::serialize(header)) + "." + base64url(json::serialize(claims));
        return text + "." + base64url(sign(std::string(header.at("alg").as_string()), text));
    }

private:
    explicit JoseKey(EVP_PKEY* key) : key_(key, EVP_PKEY_free) {}

    static unsigned char* bytes(std::string& text) {
        return reinterpret_cast<unsigned char*>(text.data());
    }
    std::size_t half_size() const { return EVP_PKEY_get_bits(key_.get()) == 256 ? 32 : 48; }
    std::string number(const char* name) const {
        BIGNUM* value = nullptr;
        EVP_PKEY_get_bn_param(key_.get(), name, &value);
        std::string out(static_cast<std::size_t>(BN_num_bytes(value)), '\0');
        BN_bn2bin(value, bytes(out));
        BN_free(value);
        return base64url(out);
    }
    std::string side_by_side(const std::string& der) const {
        const auto* at = reinterpret_cast<const unsigned char*>(der.data());
        auto* signature = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
        const auto half = static_cast<int>(half_size());
        std::string out(2 * half_size(), '\0');
        BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes(out), half);
        BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes(out) + half, half);
        ECDSA_SIG_free(signature);
        return out;
    }

    std::shared_ptr<EVP_PKEY> key_;
};

}  // namespace patchbay::test
