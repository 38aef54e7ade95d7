// Tokens bound to a key: the key of this login, the nonces of the servers, and a proof for each
// request.
//
// Threads: [any]; proofs for requests are made on the transport's threads.
// Follows: RFC 9449.
#pragma once

#include "crypto.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace patchbay::oauth {

class Prover {
public:
    // The key and token that are used from now on; an empty token: none is bound.
    void use(std::shared_ptr<const SigningKey> key, std::string token);

    // The server at the origin of `url` wants this nonce. False: it is the one it had already.
    bool learn_nonce(std::string_view url, const std::string& nonce);

    // For a token endpoint, with any key.
    std::string proof(const SigningKey& key, std::string_view method, std::string_view url,
                      std::int64_t now) const;
    // For a request with the token in use; empty: that one is not bound to a key.
    std::string proof(std::string_view method, std::string_view url, std::int64_t now) const;

private:
    std::string made(const SigningKey& key, std::string_view method, std::string_view url,
                     std::int64_t now, const std::string& token) const;

    mutable std::mutex mutex_;
    std::shared_ptr<const SigningKey> key_;
    std::string token_;
    std::map<std::string, std::string, std::less<>> nonces_;  // by origin
};

}  // namespace patchbay::oauth
