#include "core/digest.hpp"

#include "core/text.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

// The low-level SHA-256 calls and an HMAC made of them, because EVP brings OpenSSL's providers and
// its configuration along: a third of the program, and more than the time of a whole host start. They
// are deprecated, not going away within 3.x.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace patchbay::core {

namespace {

class Sha256 {
public:
    using Value = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

    Sha256() { SHA256_Init(&context_); }
    Sha256& add(const void* bytes, std::size_t size) {
        SHA256_Update(&context_, bytes, size);
        return *this;
    }
    Value value() {
        Value value;
        SHA256_Final(value.data(), &context_);
        return value;
    }

private:
    SHA256_CTX context_;
};

using Block = std::array<unsigned char, SHA256_CBLOCK>;

Block keyed(const Block& key, unsigned char pad) {
    Block block;
    std::transform(key.begin(), key.end(), block.begin(),
                   [pad](unsigned char each) { return static_cast<unsigned char>(each ^ pad); });
    return block;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
    return hex(Sha256().add(bytes.data(), bytes.size()).value());
}

std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
    Block block{};
    if (key.size() > block.size()) {
        const auto shorter = Sha256().add(key.data(), key.size()).value();
        std::copy(shorter.begin(), shorter.end(), block.begin());
    } else {
        std::copy(key.begin(), key.end(), block.begin());
    }
    const auto inside = keyed(block, 0x36), outside = keyed(block, 0x5c);
    const auto inner =
        Sha256().add(inside.data(), inside.size()).add(bytes.data(), bytes.size()).value();
    return hex(
        Sha256().add(outside.data(), outside.size()).add(inner.data(), inner.size()).value());
}

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> sha256_hex_of_descriptor(int fd) {
    Sha256 digest;
    std::array<unsigned char, 1u << 14> chunk;  // stays in the cache, and takes no new pages
    off_t offset = 0;
    for (;;) {
        const ssize_t got = ::pread(fd, chunk.data(), chunk.size(), offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return Error{ErrorCode::Io, std::string("cannot read: ") + std::strerror(errno)};
        if (got == 0) break;
        digest.add(chunk.data(), static_cast<std::size_t>(got));
        offset += got;
    }
    return hex(digest.value());
}

}  // namespace patchbay::core
