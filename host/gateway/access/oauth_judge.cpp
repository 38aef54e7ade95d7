#include "gateway/access/oauth_judge.hpp"

#include "core/digest.hpp"

#include <algorithm>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr std::size_t kMostTried = 2;  // keys, for a token that costs its sender nothing

}  // namespace

bool OauthJudge::is_its(std::string_view token) const {
    return std::count(token.begin(), token.end(), '.') == 2;
}

std::optional<Bearer> OauthJudge::known(std::string_view token) {
    const auto found = known_.find(core::sha256_hex(token));
    if (found == known_.end() || found->second.until <= loop_.time().date()) return {};
    return found->second.bearer;
}

bool OauthJudge::is_at_hand(std::string_view text) const {
    const auto parsed = parse_access_token(text);
    const auto* token = std::get_if<AccessToken>(&parsed);
    const auto* issuer = token && !token->key_id.empty() ? issuer_of(*token) : nullptr;
    if (!issuer) return false;
    const auto count = issuer->keys().find(token->key_id, token->algorithm).size();
    return count > 0 && count <= kMostTried;
}

IssuerKeys* OauthJudge::issuer_of(const AccessToken& token) const {
    const auto found = std::find_if(issuers_.begin(), issuers_.end(), [&](const auto& each) {
        return each->issuer() == token.issuer;
    });
    return found == issuers_.end() ? nullptr : found->get();
}

// What can be judged without keys comes first: nothing is asked of anybody for a token that is wrong
// whatever they say.
void OauthJudge::look_up(std::string_view text, std::function<void(Verdict)> then) {
    auto parsed = parse_access_token(text);
    if (const auto* why = std::get_if<WrongToken>(&parsed)) return then(wrong(*why));
    auto token = std::make_shared<AccessToken>(std::get<AccessToken>(std::move(parsed)));
    auto* const issuer = issuer_of(*token);
    if (!issuer) return then(wrong({"the token is of an issuer that is not trusted here"}));
    const auto claims = subject_of(*token, terms_, loop_.time().date());
    if (const auto* why = std::get_if<WrongToken>(&claims); why && !why->lacks_scope)
        return then(wrong(*why));
    auto& keys = *issuer;
    const auto sha256 = core::sha256_hex(text);
    const bool has_key = !keys.keys().find(token->key_id, token->algorithm).empty();
    if (has_key) {
        // Nobody waits for what is most likely as it was.
        if (!keys.fresh()) static_cast<void>(keys.look([] {}));
        return then(judged(*token, keys.keys(), sha256));
    }
    const auto judge = lifetime_.guard(
        [this, token, sha256, &keys, then] { then(judged(*token, keys.keys(), sha256)); });
    if (!keys.look(judge)) then(HttpRefusal{429, "too many tokens are being looked up; try again"});
}

TokenJudge::Verdict OauthJudge::judged(const AccessToken& token, const KeySet& keys,
                                       const std::string& sha256) {
    if (keys.size() == 0)
        return HttpRefusal{503, "the keys of the authorization server cannot be had; try again",
                           -32603};
    if (!token.signed_by(keys)) return wrong({"the token is not signed by its issuer"});
    const auto now = loop_.time().date();
    const auto found = subject_of(token, terms_, now);
    if (const auto* why = std::get_if<WrongToken>(&found)) return wrong(*why);
    const auto& subject = std::get<Subject>(found);
    const Bearer bearer{subject.id, subject.name, {}, subject.until};
    remember(sha256, {bearer, std::min(subject.until, now + kKnown)});
    return bearer;
}

HttpRefusal OauthJudge::wrong(const WrongToken& why) const {
    using Error = Challenge::Error;
    return challenge_.refusal(why.lacks_scope ? Error::InsufficientScope : Error::InvalidToken,
                              why.why);
}

void OauthJudge::remember(const std::string& sha256, Known known) {
    if (!known_.insert_or_assign(sha256, std::move(known)).second) return;
    first_.push_back(sha256);
    if (first_.size() <= kMostKnown) return;
    known_.erase(first_.front());
    first_.pop_front();
}

}  // namespace patchbay::gateway
