#include "crypto/openssl/openssl.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <utility>

namespace patchbay::crypto::openssl {

namespace {

// Those of issuers are 3 or 65537; a long one would make each signature slow to judge.
constexpr std::size_t kMostExponentBytes = 8, kEd25519Bytes = 32;

using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
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

const EVP_MD* digest_of(unsigned bits) {
    return bits == 256   ? EVP_sha256()
           : bits == 384 ? EVP_sha384()
           : bits == 512 ? EVP_sha512()
                         : nullptr;
}

class VerifyingKey final : public PublicKey {
public:
    VerifyingKey(Key key, std::size_t half) : key_(std::move(key)), half_(half) {}

    bool verifies(Scheme scheme, std::string_view text, std::string_view signature) const override {
        const auto raw = half_ ? as_asn1(signature, half_) : std::string(signature);
        const Digest digest(EVP_MD_CTX_new());
        EVP_PKEY_CTX* context = nullptr;
        const bool verified =
            EVP_DigestVerifyInit(digest.get(), &context, digest_of(scheme.digest_bits), nullptr,
                                 key_.get()) == 1 &&
            (!scheme.pss ||
             (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
              EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1)) &&
            EVP_DigestVerify(digest.get(), bytes_of(raw), raw.size(), bytes_of(text),
                             text.size()) == 1;
        ERR_clear_error();
        return verified;
    }

private:
    const Key key_;
    const std::size_t half_;  // of an ECDSA signature; 0: it is of another kind
};

// OpenSSL keeps its errors for the next one on this thread who asks; that is never us.
std::unique_ptr<PublicKey> usable(EVP_PKEY* key, std::size_t half = 0) {
    ERR_clear_error();
    return key ? std::make_unique<VerifyingKey>(Key(key), half) : nullptr;
}

// OpenSSL checks that an EC point is on its curve; of RSA it takes any number.
EVP_PKEY* made_of(const char* kind, OSSL_PARAM_BLD* builder) {
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
        return nullptr;
    return key;
}

}  // namespace

std::unique_ptr<PublicKey> rsa_key(std::string_view n, std::string_view e) {
    if (n.empty() || n.size() > Library::kMostRsaBits / 8 || e.empty() ||
        e.size() > kMostExponentBytes)
        return nullptr;
    const Number modulus(BN_bin2bn(bytes_of(n), static_cast<int>(n.size()), nullptr)),
        exponent(BN_bin2bn(bytes_of(e), static_cast<int>(e.size()), nullptr));
    if (!modulus || !exponent || BN_num_bits(modulus.get()) < Library::kLeastRsaBits ||
        !BN_is_odd(modulus.get()) || !BN_is_odd(exponent.get()) || BN_is_one(exponent.get()))
        return nullptr;
    const Builder builder(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
    return usable(made_of("RSA", builder.get()));
}

std::unique_ptr<PublicKey> ec_key(std::string_view curve, std::string_view x, std::string_view y) {
    const std::size_t half = curve == "P-256" ? 32 : curve == "P-384" ? 48 : 0;
    if (half == 0 || x.size() != half || y.size() != half) return nullptr;
    std::string point("\x04");
    point.append(x).append(y);
    const std::string group(curve);  // the builder keeps where it is until it is done
    const Builder builder(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group.c_str(), 0);
    OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                     point.size());
    return usable(made_of("EC", builder.get()), half);
}

std::unique_ptr<PublicKey> ed25519_key(std::string_view x) {
    if (x.size() != kEd25519Bytes) return nullptr;
    return usable(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size()));
}

}  // namespace patchbay::crypto::openssl
