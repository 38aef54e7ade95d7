#include "gateway/access/access_token.hpp"

#include "core/base64.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>

namespace patchbay::gateway {
namespace json = boost::json;
using core::Calendar;

namespace {

constexpr double kLatest = 253'402'300'799;  // the end of the year 9999
// The calendar itself ends in 2262: what is later is never. A clock skew may be added to it.
constexpr std::int64_t kNever = std::chrono::duration_cast<std::chrono::seconds>(
                                    Calendar::duration::max() - std::chrono::hours(24))
                                    .count();

// "JWT" or "at+jwt": a token that was made for another purpose says which.
bool is_type(std::string_view type) {
    auto name = core::lower(type);
    if (name.starts_with("application/")) name.erase(0, std::string_view("application/").size());
    return name == "jwt" || name == "at+jwt";
}

bool has_audience(const json::object& claims, std::string_view audience) {
    if (const auto one = core::text_in(&claims, "aud")) return *one == audience;
    const auto* all = core::array_in(&claims, "aud");
    return all && std::any_of(all->begin(), all->end(), [&](const json::value& each) {
               return core::text_of(each).value_or("") == audience;
           });
}

void add_words(std::string_view text, std::vector<std::string>& words) {
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (end > 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// As one text or as a list, by the one name or the other.
std::vector<std::string> scopes_in(const json::object& claims) {
    std::vector<std::string> scopes;
    for (const auto* name : {"scope", "scp"}) {
        if (const auto text = core::text_in(&claims, name)) add_words(*text, scopes);
        if (const auto* list = core::array_in(&claims, name))
            for (const auto& each : *list) add_words(core::text_of(each).value_or(""), scopes);
    }
    return scopes;
}

// Nothing: absent, or none.
std::optional<Calendar::time_point> claimed_time(const json::object& claims,
                                                 std::string_view name) {
    const auto seconds = core::number_in(&claims, name);
    if (!seconds || !(*seconds >= 0) || *seconds > kLatest) return {};
    return Calendar::time_point(
        std::chrono::seconds(std::min(static_cast<std::int64_t>(*seconds), kNever)));
}

}  // namespace

std::optional<KeySet> KeySet::parse(std::string_view text) {
    if (text.size() > kMostBytes) return {};
    const auto whole = core::parse_json_object(text);
    const auto* all = core::array_in(whole ? &*whole : nullptr, "keys");
    const auto library = crypto::library();
    if (!all || !library) return {};
    KeySet set;
    for (const auto& each : *all) {
        if (set.keys_.size() >= kMostKeys) break;
        const auto* jwk = each.if_object();
        if (auto key = jwk ? PublicKey::from_jwk(**library, *jwk) : nullptr)
            set.keys_.push_back(std::move(key));
    }
    return set;
}

std::vector<const PublicKey*> KeySet::find(std::string_view id, std::string_view algorithm) const {
    std::vector<const PublicKey*> found;
    for (const auto& each : keys_)
        if (each->fits(algorithm) && (id.empty() || each->id().empty() || each->id() == id))
            found.push_back(each.get());
    return found;
}

bool AccessToken::signed_by(const KeySet& keys) const {
    const auto all = keys.find(key_id, algorithm);
    return std::any_of(all.begin(), all.end(), [&](const PublicKey* each) {
        return each->verifies(algorithm, signed_text, signature);
    });
}

std::variant<AccessToken, WrongToken> parse_access_token(std::string_view text) {
    const WrongToken none{"the token is no signed JSON Web Token"};
    const auto first = text.find('.'), second = text.find('.', first + 1);
    if (first == text.npos || second == text.npos || text.find('.', second + 1) != text.npos)
        return none;
    const auto header_text = core::base64url_decoded(text.substr(0, first)),
               claims_text = core::base64url_decoded(text.substr(first + 1, second - first - 1));
    auto signature = core::base64url_decoded(text.substr(second + 1));
    if (!header_text || !claims_text || !signature) return none;
    const core::JsonLimits once{.unique_keys = true};  // two readers might choose otherwise
    const auto header = core::parse_json_object(*header_text, once);
    auto claims = core::parse_json_object(*claims_text, once);
    if (!header || !claims) return none;
    AccessToken token;
    token.algorithm = core::text_in(&*header, "alg").value_or("");
    if (!PublicKey::known(token.algorithm))
        return WrongToken{"the token is signed by an algorithm that does not count here"};
    if (const auto* type = header->if_contains("typ");
        type && !is_type(core::text_of(*type).value_or("")))
        return WrongToken{"the token is of a type that is no access token"};
    // What must be understood is not (RFC 7515 section 4.1.11).
    if (header->contains("crit"))
        return WrongToken{"the token says that something must be understood that is not"};
    token.key_id = core::text_in(&*header, "kid").value_or("");
    token.issuer = core::text_in(&*claims, "iss").value_or("");
    token.claims = std::move(*claims);
    token.signed_text = text.substr(0, second);
    token.signature = std::move(*signature);
    return token;
}

std::variant<Subject, WrongToken> subject_of(const AccessToken& token, const TokenTerms& terms,
                                             Calendar::time_point now) {
    const auto& claims = token.claims;
    const auto expires = claimed_time(claims, "exp"), begins = claimed_time(claims, "nbf");
    if (!expires) return WrongToken{"the token does not say when it expires"};
    if (*expires + kClockSkew <= now) return WrongToken{"the token has expired"};
    if (claims.contains("nbf") && (!begins || *begins - kClockSkew > now))
        return WrongToken{"the token does not count yet"};
    if (!has_audience(claims, terms.audience))
        return WrongToken{"the token is meant for another server"};
    // Whoever brings such a token has to prove a key, and that is not looked at here.
    if (claims.contains("cnf")) return WrongToken{"the token is bound to a key"};
    const auto subject = core::text_in(&claims, "sub").value_or("");
    if (subject.empty() || subject.size() > kSubjectBytes)
        return WrongToken{"the token does not say whose it is"};
    const auto scopes = scopes_in(claims);
    for (const auto& each : terms.scopes)
        if (std::find(scopes.begin(), scopes.end(), each) == scopes.end())
            return WrongToken{"the token lacks a scope that is needed", true};
    return Subject{"oauth/" + std::string(subject) + "@" + token.issuer, std::string(subject),
                   *expires + kClockSkew};
}

}  // namespace patchbay::gateway
