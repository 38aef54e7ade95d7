#include "app/entrance.hpp"

#include "app/output.hpp"
#include "core/private_file.hpp"
#include "core/text.hpp"
#include "crypto/library.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <utility>

namespace patchbay::app {

Result<std::unique_ptr<Entrance>> Entrance::open(Host& host, const HttpTerms& terms,
                                                 const HttpPlan& plan, const std::string& url,
                                                 const std::string& state_directory,
                                                 gateway::Admission& everybody,
                                                 std::function<void(const std::string&)> gone) {
    std::unique_ptr<Entrance> made(new Entrance(host, everybody));
    // First: the refusals of both say where a token is to be had.
    if (!terms.said.oauth_issuer.empty())
        if (auto taken = made->take_access_tokens(terms, url); !taken)
            return terms.told({"--oauth-issuer", taken.error()});
    if (plan.tokens)
        if (auto taken = made->take_tokens(state_directory, std::move(gone)); !taken)
            return terms.told({"--auth", taken.error()});
    std::vector<gateway::TokenJudge*> judges;
    if (made->tokens_) judges.push_back(made->tokens_.get());
    if (made->access_tokens_) judges.push_back(made->access_tokens_.get());
    if (!judges.empty())
        made->asked_.emplace(
            host.loop().time(), everybody, judges, made->challenge_,
            [&host](const auto& name) { return gateway::view_of_bundle(host.config(), name); });
    return made;
}

Result<void> Entrance::take_tokens(const std::string& state_directory,
                                   std::function<void(const std::string&)> gone) {
    const gateway::TokenFile file(state_directory);
    auto read = file.read_unless({});
    if (!read) return read.error();
    if ((*read)->tokens.all().empty() && issuers_.empty())
        say("nobody has a token yet, so nobody can come in; patchbay token add NAME");
    tokens_ = std::make_unique<gateway::KnownTokens>(host_.loop(), file, std::move(**read),
                                                     challenge_, std::move(gone));
    warn_of_bundles(host_.config(), tokens_->all().all());
    return {};
}

void warn_of_bundles(const config::Config& config, const std::vector<gateway::Token>& tokens) {
    std::size_t told = 0;
    for (const auto& each : tokens) {
        if (each.bundle.empty() || told >= Entrance::kMostWarnings) continue;
        const auto bundle = gateway::view_of_bundle(config, each.bundle);
        if (bundle) continue;
        ++told;
        say("warning: token \"" + each.name + "\" shows nothing: " + bundle.error().message);
    }
}

Result<void> Entrance::take_access_tokens(const HttpTerms& terms, const std::string& url) {
    if (const auto library = crypto::library(); !library) return library.error();
    const auto resource =
        gateway::parse_web_url(terms.said.public_url.empty() ? url : terms.said.public_url);
    if (!resource) return resource.error();
    resource_ = *resource;
    issuers_ = terms.said.oauth_issuer;
    scopes_ = terms.said.oauth_scope;
    challenge_ = {gateway::ResourceMetadata::url_of(*resource_), core::join(scopes_, " ")};
    std::vector<std::unique_ptr<gateway::IssuerKeys>> keys;
    for (const auto& each : issuers_)
        keys.push_back(std::make_unique<gateway::IssuerKeys>(
            host_.loop(), each, terms.said.oauth_keys, fetching(each)));
    const gateway::TokenTerms wanted{terms.said.oauth_audience.empty()
                                         ? resource_->origin() + resource_->path
                                         : terms.said.oauth_audience,
                                     scopes_};
    access_tokens_ =
        std::make_unique<gateway::OauthJudge>(host_.loop(), std::move(keys), wanted, challenge_);
    return {};
}

// What is no URL is a file.
gateway::Fetch Entrance::fetching(const std::string& issuer) {
    return [this, issuer](const std::string& from, std::function<void(Result<std::string>)> then) {
        if (from.find("://") == std::string::npos) return read(from, std::move(then));
        host_.plugins().get({from, issuer}, std::move(then));
    };
}

void Entrance::read(const std::string& path, std::function<void(Result<std::string>)> then) {
    if (!reader_) reader_.emplace(host_.loop(), 1);
    reader_->run(
        [path](const std::stop_token&) -> Result<std::string> {
            const core::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
            if (file.get() < 0)
                return Error{ErrorCode::Io, "cannot open " + path + ": " + std::strerror(errno)};
            return core::read_whole(file, path, gateway::KeySet::kMostBytes);
        },
        std::move(then));
}

http::Handler& Entrance::before(http::Handler& gateway, const gateway::Door& door) {
    if (!resource_) return gateway;
    metadata_.emplace(door, *resource_, issuers_, scopes_, gateway);
    return *metadata_;
}

}  // namespace patchbay::app
