// Access tokens of authorization servers: JSON Web Tokens, and the keys that sign them. Without I/O.
//
// Threads: [value].
// Errors:  of a token, a sentence in our own words that the client may be told.
// Limits:  kMostKeys of one server count, and texts of kSubjectBytes.
// Source:  RFC 7515, RFC 7519, RFC 8725, RFC 9068; MCP basic/authorization "Token Handling".
#pragma once

#include "core/time_source.hpp"
#include "gateway/access/public_key.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace patchbay::gateway {

// The keys of one server that can be used; the others are left out.
class KeySet {
public:
    static constexpr std::size_t kMostKeys = 100, kMostBytes = 1u << 20;

    // Nothing: it is no JWK set. Who starts a server sees to it that crypto::library() is there.
    static std::optional<KeySet> parse(std::string_view text);

    std::size_t size() const { return keys_.size(); }
    // Those that may have signed it: the one of that id, or all that fit where either has none.
    std::vector<const PublicKey*> find(std::string_view id, std::string_view algorithm) const;

private:
    std::vector<std::shared_ptr<const PublicKey>> keys_;
};

struct AccessToken {
    std::string algorithm, key_id;  // key_id empty: it names none
    boost::json::object claims;     // that nobody has proved yet
    std::string issuer;             // of the claims
    std::string signed_text, signature;

    bool signed_by(const KeySet& keys) const;
};

struct WrongToken {
    std::string_view why;
    bool lacks_scope = false;  // else it is wrong altogether
};

std::variant<AccessToken, WrongToken> parse_access_token(std::string_view text);

struct TokenTerms {
    std::string audience;
    std::vector<std::string> scopes;  // all of them
};
struct Subject {
    std::string id;  // "oauth/SUBJECT@ISSUER"
    std::string name;
    core::Calendar::time_point until;
};
inline constexpr std::chrono::seconds kClockSkew{60};
inline constexpr std::size_t kSubjectBytes = 255;

// What the claims of a token come to whose issuer and signature are known.
std::variant<Subject, WrongToken> subject_of(const AccessToken& token, const TokenTerms& terms,
                                             core::Calendar::time_point now);

}  // namespace patchbay::gateway
