// The parts of the library of crypto/library.hpp, and what they share. Internal to it.
#pragma once

#include "crypto/library.hpp"

namespace patchbay::crypto::openssl {

// For std::unique_ptr of what OpenSSL frees by a function.
template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};

Result<std::unique_ptr<TlsServer>> tls_server(const std::string& certificate_file,
                                              const std::string& key_file);
std::unique_ptr<PublicKey> rsa_key(std::string_view modulus, std::string_view exponent);
std::unique_ptr<PublicKey> ec_key(std::string_view curve, std::string_view x, std::string_view y);
std::unique_ptr<PublicKey> ed25519_key(std::string_view x);

}  // namespace patchbay::crypto::openssl
