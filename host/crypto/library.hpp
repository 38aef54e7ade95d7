// What only a server of many asks of OpenSSL: TLS of the side that accepts, and signatures of tokens.
// It is a library of its own beside the program, loaded when the first of it is wanted, so that no
// other start pays for it (decisions/0039). Program and library are of one build: what passes between
// them may be C++, but nothing that a C++ library has one of (streams, locales, categories of errors),
// for each brings its own (decisions/0041).
//
// Threads: library() is [any]; keys and servers may be used on several threads at once, a session on
//          one at a time.
// Errors:  Unavailable where the library is not beside the program or is of another build.
#pragma once

#include "core/result.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::crypto {

// The accepting side of TLS over a connected socket that does not block. Borrows the socket. Never
// raises SIGPIPE.
class TlsSession {
public:
    virtual ~TlsSession() = default;
    // As those of http::ByteStream.
    virtual std::optional<std::size_t> read(char* into, std::size_t size) = 0;
    virtual std::optional<std::size_t> write(std::string_view bytes) = 0;
    virtual bool reads_by_writing() const = 0;
    virtual bool ready() const = 0;
    virtual void end() = 0;  // says that nothing more is written
};

// A certificate and its key. TLS 1.2 or newer, HTTP/1.1, no client certificates.
// Source: RFC 8446, RFC 7301.
class TlsServer {
public:
    virtual ~TlsServer() = default;
    virtual std::unique_ptr<TlsSession> session_over(int socket) const = 0;
    // Its certificate does not count any more, or not yet.
    virtual bool out_of_date() const = 0;
};

// How a text was signed, for the kinds of key that leave it open.
struct Scheme {
    unsigned digest_bits = 0;  // of SHA-2; 0: the key's own way (EdDSA)
    bool pss = false;          // RSA: PSS with a salt of the digest's length, else PKCS #1 1.5
};

class PublicKey {
public:
    virtual ~PublicKey() = default;
    // The signature as JOSE has it: r and s of ECDSA side by side.
    virtual bool verifies(Scheme scheme, std::string_view text,
                          std::string_view signature) const = 0;
};

class Library {
public:
    static constexpr int kLeastRsaBits = 2'048, kMostRsaBits = 8'192;

    // Blocks for the disk. Invalid: no certificate, no key without a password, or no pair.
    virtual Result<std::unique_ptr<TlsServer>> tls_server(const std::string& certificate_file,
                                                          const std::string& key_file) const = 0;
    // Numbers are big-endian bytes. Null: that is no such key.
    virtual std::unique_ptr<PublicKey> rsa_key(std::string_view modulus,
                                               std::string_view exponent) const = 0;
    virtual std::unique_ptr<PublicKey> ec_key(std::string_view curve, std::string_view x,
                                              std::string_view y) const = 0;  // P-256, P-384
    virtual std::unique_ptr<PublicKey> ed25519_key(std::string_view x) const = 0;

protected:
    ~Library() = default;
};

Result<const Library*> library();

}  // namespace patchbay::crypto

// How the library is found in its file, or in the program where that was linked with it (tests).
extern "C" [[gnu::visibility("default")]] const patchbay::crypto::Library* patchbay_crypto(
    const char* version);  // null: it is of another
