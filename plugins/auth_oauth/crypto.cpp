#include "crypto.hpp"

#include "encoding.hpp"
#include "trouble.hpp"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

namespace patchbay::oauth {
namespace {

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

void need(bool done, const char* what) {
    if (!done) throw Trouble(PATCHBAY_E_INTERNAL, std::string("libcrypto cannot ") + what);
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

// r and s side by side instead of ASN.1.
std::string side_by_side(std::string_view der) {
    constexpr int half = 32;
    const auto* at = bytes_of(der);
    const Signature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
    need(signature != nullptr, "read its own signature");
    std::string out(2 * half, '\0');
    need(BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), bytes_of(out), half) == half &&
             BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), bytes_of(out) + half, half) == half,
         "write a signature");
    return out;
}

// The two algorithms that algorithm() can name.
bool usable(EVP_PKEY* key) {
    return EVP_PKEY_is_a(key, "RSA") || (EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_bits(key) == 256);
}

int no_passphrase(char*, int, int, void*) {
    return -1;  // never asks at the terminal
}

EVP_PKEY* pkey(void* key) {
    return static_cast<EVP_PKEY*>(key);
}

}  // namespace

std::string sha256(std::string_view bytes) {
    std::string out(32, '\0');
    need(EVP_Digest(bytes.data(), bytes.size(), bytes_of(out), nullptr, EVP_sha256(), nullptr) == 1,
         "hash");
    return out;
}

std::string random_bytes(std::size_t count) {
    std::string out(count, '\0');
    need(RAND_bytes(bytes_of(out), static_cast<int>(count)) == 1, "make random bytes");
    return out;
}

std::string random_text() {
    return base64url(random_bytes(32));
}

bool same_secret(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::shared_ptr<const SigningKey> SigningKey::from_pem(const std::string& pem) {
    const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
    if (!key || !usable(key.get())) {
        throw Trouble(PATCHBAY_E_INVALID,
                      "the private key cannot be used: wanted is PEM without a passphrase, "
                      "EC P-256 or RSA");
    }
    return std::shared_ptr<const SigningKey>(new SigningKey(key.release()));
}

std::shared_ptr<const SigningKey> SigningKey::generate() {
    Key key(EVP_EC_gen("P-256"));
    need(key != nullptr, "make a key");
    return std::shared_ptr<const SigningKey>(new SigningKey(key.release()));
}

SigningKey::~SigningKey() {
    EVP_PKEY_free(pkey(key_));
}

std::string SigningKey::pem() const {
    const Bio bio(BIO_new(BIO_s_mem()));
    need(PEM_write_bio_PKCS8PrivateKey(bio.get(), pkey(key_), nullptr, nullptr, 0, nullptr,
                                       nullptr) == 1,
         "write a key");
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

const char* SigningKey::algorithm() const {
    return EVP_PKEY_is_a(pkey(key_), "RSA") ? "RS256" : "ES256";
}

std::string SigningKey::public_jwk() const {
    std::string point(65, '\0');
    std::size_t size = 0;
    need(EVP_PKEY_get_octet_string_param(pkey(key_), OSSL_PKEY_PARAM_PUB_KEY, bytes_of(point),
                                         point.size(), &size) == 1 &&
             size == point.size(),
         "write a public key");
    return R"({"crv":"P-256","kty":"EC","x":")" + base64url(point.substr(1, 32)) + R"(","y":")" +
           base64url(point.substr(33)) + R"("})";
}

std::string SigningKey::sign(std::string_view bytes) const {
    const Digest digest(EVP_MD_CTX_new());
    std::size_t size = 0;
    need(EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, pkey(key_)) == 1 &&
             EVP_DigestSign(digest.get(), nullptr, &size, bytes_of(bytes), bytes.size()) == 1,
         "sign");
    std::string out(size, '\0');
    need(EVP_DigestSign(digest.get(), bytes_of(out), &size, bytes_of(bytes), bytes.size()) == 1,
         "sign");
    out.resize(size);
    return EVP_PKEY_is_a(pkey(key_), "EC") ? side_by_side(out) : out;
}

std::string signed_jwt(const SigningKey& key, std::string_view header, std::string_view claims) {
    const auto text = base64url(header) + "." + base64url(claims);
    return text + "." + base64url(key.sign(text));
}

}  // namespace patchbay::oauth
