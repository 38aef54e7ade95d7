#include "core/digest.hpp"

#include "core/text.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

// The low-level SHA-256 calls, because EVP's first use loads OpenSSL's providers and configuration,
// which costs more than a whole host start. They are deprecated, not going away within 3.x.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace patchbay::core {

std::string sha256_hex(std::string_view bytes) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes.data(), bytes.size());
    SHA256_Final(digest, &context);
    return hex(digest);
}

std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    ::HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest, nullptr);
    return hex(digest);
}

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> sha256_hex_of_descriptor(int fd) {
    SHA256_CTX context;
    SHA256_Init(&context);
    std::vector<unsigned char> chunk(1u << 16);
    off_t offset = 0;
    for (;;) {
        const ssize_t got = ::pread(fd, chunk.data(), chunk.size(), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return Error{ErrorCode::Io, std::string("cannot read: ") + std::strerror(errno)};
        if (got == 0) break;
        SHA256_Update(&context, chunk.data(), static_cast<std::size_t>(got));
        offset += got;
    }
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_Final(digest, &context);
    return hex(digest);
}

}  // namespace patchbay::core
