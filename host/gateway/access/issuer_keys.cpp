#include "gateway/access/issuer_keys.hpp"

#include "core/json.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "gateway/access/listening.hpp"

#include <utility>

namespace patchbay::gateway {

std::vector<std::string> metadata_urls(const std::string& issuer) {
    const auto url = parse_web_url(issuer);
    if (!url) return {};
    const auto path = url->path == "/" ? "" : url->path;
    const std::string server = "/.well-known/oauth-authorization-server",
                      openid = "/.well-known/openid-configuration";
    std::vector<std::string> urls{url->origin() + server + path};
    urls.push_back(url->origin() + openid + path);
    if (!path.empty()) urls.push_back(url->origin() + path + openid);
    return urls;
}

IssuerKeys::IssuerKeys(core::Loop& loop, std::string issuer, std::string at, Fetch fetch)
    : loop_(loop), issuer_(std::move(issuer)), at_(std::move(at)), fetch_(std::move(fetch)) {}

bool IssuerKeys::look(std::function<void()> then) {
    if (asked_ && !asking_ && loop_.now() - last_ < kPause) return then(), true;
    if (waiting_.size() >= kMostWaiting) return false;
    waiting_.push_back(std::move(then));
    if (std::exchange(asking_, true)) return true;
    if (at_.empty())
        ask_metadata(0);
    else
        ask_keys(at_);
    return true;
}

void IssuerKeys::ask_metadata(std::size_t which, const std::string& why) {
    const auto urls = metadata_urls(issuer_);
    if (which >= urls.size()) return done("says nowhere where its keys are: " + why);
    fetch_(urls[which], lifetime_.guard([this, which, url = urls[which]](Result<std::string> text) {
        const auto next = [&](const std::string& trouble) {
            ask_metadata(which + 1, core::printable(url, 200) + " " + trouble);
        };
        if (!text) return next("cannot be had: " + text.error().message);
        const auto metadata = core::parse_json_object(*text);
        if (!metadata) return next(metadata.error().message);
        // One that speaks for another issuer speaks for none (RFC 8414 section 3.3).
        if (core::text_in(&*metadata, "issuer").value_or("") != issuer_)
            return next("is of another issuer");
        const auto at = core::text_in(&*metadata, "jwks_uri").value_or("");
        if (!parse_web_url(at)) return next("has no URL as jwks_uri");
        ask_keys(std::string(at));
    }));
}

void IssuerKeys::ask_keys(const std::string& url) {
    fetch_(url, lifetime_.guard([this](Result<std::string> text) {
        if (!text) return done("does not give its keys: " + text.error().message);
        auto keys = KeySet::parse(*text);
        if (!keys) return done("gives no JWK set for its keys");
        if (keys->size() == 0) return done("has no key that can be used");
        keys_ = std::move(*keys);
        done({});
    }));
}

void IssuerKeys::done(const std::string& trouble) {
    asking_ = false;
    asked_ = true;
    last_ = loop_.now();
    if (!trouble.empty() && trouble != trouble_)
        core::log::warn("authorization server " + core::printable(issuer_, 200) + " " + trouble);
    trouble_ = trouble;
    for (const auto& each : std::exchange(waiting_, {})) each();
}

}  // namespace patchbay::gateway
