// The judge of access tokens: those that an authorization server gave out for this server.
//
// Owns:    the keys of the issuers. Borrows the loop.
// Threads: [loop].
// Limits:  kMostKnown tokens are known to be right, each until it expires and for kKnown at most; the
//          one that was known first is forgotten first.
// Source:  MCP 2025-11-25 and 2026-07-28 basic/authorization; RFC 9728, RFC 8707.
#pragma once

#include "gateway/access/issuer_keys.hpp"
#include "gateway/access/token_judge.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::gateway {

class OauthJudge final : public TokenJudge {
public:
    static constexpr std::size_t kMostKnown = 2'000;
    static constexpr std::chrono::minutes kKnown{10};

    OauthJudge(core::Loop& loop, std::vector<std::unique_ptr<IssuerKeys>> issuers, TokenTerms terms,
               Challenge challenge)
        : loop_(loop),
          issuers_(std::move(issuers)),
          terms_(std::move(terms)),
          challenge_(std::move(challenge)) {}

    bool is_its(std::string_view token) const override;
    std::optional<Bearer> known(std::string_view token) override;
    // By the name of a key that is there.
    bool is_at_hand(std::string_view token) const override;
    void look_up(std::string_view token, std::function<void(Verdict)> then) override;

private:
    struct Known {
        Bearer bearer;
        core::Calendar::time_point until;
    };
    IssuerKeys* issuer_of(const AccessToken& token) const;  // null: it is not trusted here
    Verdict judged(const AccessToken& token, const KeySet& keys, const std::string& sha256);
    HttpRefusal wrong(const WrongToken& why) const;
    void remember(const std::string& sha256, Known known);

    core::Loop& loop_;
    const std::vector<std::unique_ptr<IssuerKeys>> issuers_;
    const TokenTerms terms_;
    const Challenge challenge_;
    std::map<std::string, Known, std::less<>> known_;  // by SHA-256 of the token
    std::deque<std::string> first_;                    // the same, in their order
    core::Lifetime lifetime_;
};

}  // namespace patchbay::gateway
