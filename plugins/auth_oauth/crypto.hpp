// Hashes, random bytes and signatures. The one door to libcrypto.
//
// Threads: [value]; a SigningKey may sign on several threads at once.
// Errors:  Trouble; no text holds key material.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace patchbay::oauth {

std::string sha256(std::string_view bytes);
std::string random_bytes(std::size_t count);
std::string random_text();  // 256 bits as base64url: 43 characters
bool same_secret(std::string_view left, std::string_view right);  // in constant time

// A private key: EC P-256 or RSA.
class SigningKey {
public:
    static std::shared_ptr<const SigningKey> from_pem(const std::string& pem);
    static std::shared_ptr<const SigningKey> generate();  // P-256
    ~SigningKey();

    std::string pem() const;                         // PKCS#8
    const char* algorithm() const;                   // "ES256" or "RS256"
    std::string public_jwk() const;                  // EC only
    std::string sign(std::string_view bytes) const;  // as JWS wants it

private:
    explicit SigningKey(void* key) : key_(key) {}
    void* key_;
};

// A compact JWS over two JSON objects; `header` names the key's algorithm.
std::string signed_jwt(const SigningKey& key, std::string_view header, std::string_view claims);

}  // namespace patchbay::oauth
