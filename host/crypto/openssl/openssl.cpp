#include "crypto/openssl/openssl.hpp"

namespace patchbay::crypto {

namespace {

class OpensslLibrary final : public Library {
public:
    Result<std::unique_ptr<TlsServer>> tls_server(const std::string& certificate_file,
                                                  const std::string& key_file) const override {
        return openssl::tls_server(certificate_file, key_file);
    }
    std::unique_ptr<PublicKey> rsa_key(std::string_view modulus,
                                       std::string_view exponent) const override {
        return openssl::rsa_key(modulus, exponent);
    }
    std::unique_ptr<PublicKey> ec_key(std::string_view curve, std::string_view x,
                                      std::string_view y) const override {
        return openssl::ec_key(curve, x, y);
    }
    std::unique_ptr<PublicKey> ed25519_key(std::string_view x) const override {
        return openssl::ed25519_key(x);
    }
};

}  // namespace

}  // namespace patchbay::crypto

const patchbay::crypto::Library* patchbay_crypto(const char* version) {
    static const patchbay::crypto::OpensslLibrary library;
    return std::string_view(version) == PATCHBAY_VERSION ? &library : nullptr;
}
