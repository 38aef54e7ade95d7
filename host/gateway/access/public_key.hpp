// Public keys of authorization servers, and what they say of signatures.
//
// Threads: [value]; a key may verify on several threads at once.
// Errors:  a key that cannot be used is none.
// Source:  RFC 7517, RFC 7518, RFC 8037.
#pragma once

#include "crypto/library.hpp"

#include <boost/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::gateway {

class PublicKey {
public:
    // RSA of 2048 to 8192 bits, EC P-256 and P-384, Ed25519, meant for signatures. Null: it is none.
    static std::shared_ptr<const PublicKey> from_jwk(const crypto::Library& library,
                                                     const boost::json::object& jwk);

    const std::string& id() const { return id_; }  // empty: it has none
    // Whether it is a key for that algorithm of JWS.
    bool fits(std::string_view algorithm) const;
    bool verifies(std::string_view algorithm, std::string_view text,
                  std::string_view signature) const;

    // RS, PS (256, 384, 512), ES256, ES384 and EdDSA; neither `none` nor any with a shared secret.
    static bool known(std::string_view algorithm);

private:
    explicit PublicKey(std::unique_ptr<crypto::PublicKey> key) : key_(std::move(key)) {}
    const std::unique_ptr<crypto::PublicKey> key_;
    std::string kind_, curve_, only_, id_;  // only_: its one algorithm; empty: any that fits
};

}  // namespace patchbay::gateway
