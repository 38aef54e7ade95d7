// The keys of one authorization server: found by its metadata, or by where they were said to be, and
// asked for again when a token names one that is not among them.
//
// Owns:    the keys. Borrows the loop, and what fetches.
// Threads: [loop].
// Errors:  keys that cannot be had are none; the log says why once for each reason, and those that
//          there are go on counting.
// Limits:  asked for each kFresh, and for an unknown key each kPause; kMostWaiting wait meanwhile.
// Source:  RFC 8414 section 3, OpenID Connect Discovery 1.0 section 4; MCP basic/authorization.
#pragma once

#include "core/lifetime.hpp"
#include "core/loop.hpp"
#include "gateway/access/access_token.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace patchbay::gateway {

// The text at a URL. `then` is called once on the loop, or not at all when nobody is there any more.
using Fetch = std::function<void(const std::string& url, std::function<void(Result<std::string>)>)>;

class IssuerKeys {
public:
    static constexpr std::chrono::minutes kFresh{60};
    static constexpr std::chrono::seconds kPause{30};
    static constexpr std::size_t kMostWaiting = 256;

    // `at`: URL of the keys; empty: the issuer's metadata says it.
    IssuerKeys(core::Loop& loop, std::string issuer, std::string at, Fetch fetch);

    const std::string& issuer() const { return issuer_; }
    const KeySet& keys() const { return keys_; }
    // As new as they need be.
    bool fresh() const { return asked_ && trouble_.empty() && loop_.now() - last_ < kFresh; }
    // `then`: whatever could be had is there; at once where that was tried a moment ago. False: too
    // many wait.
    bool look(std::function<void()> then);

private:
    // `why`: the last place was of no use.
    void ask_metadata(std::size_t which, const std::string& why = {});
    void ask_keys(const std::string& url);
    void done(const std::string& trouble);

    core::Loop& loop_;
    const std::string issuer_, at_;
    const Fetch fetch_;
    KeySet keys_;
    std::vector<std::function<void()>> waiting_;
    bool asking_ = false, asked_ = false;
    core::Clock::time_point last_{};
    std::string trouble_;
    core::Lifetime lifetime_;
};

// Where an issuer may say of itself what it is, best first.
std::vector<std::string> metadata_urls(const std::string& issuer);

}  // namespace patchbay::gateway
