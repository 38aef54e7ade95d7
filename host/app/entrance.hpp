// Who comes in by `patchbay serve --http`: whoever comes, or those who bring a token that was given
// out here (`patchbay token`) or by an authorization server.
//
// Owns:    what judges tokens. Borrows the host, and the admission of everybody.
// Threads: [loop].
// Errors:  a record of tokens that cannot be believed, a URL that a token cannot be meant for.
// Limits:  of tokens whose bundle is of no use kMostWarnings are named at the start.
#pragma once

#include "app/host.hpp"
#include "app/http_terms.hpp"
#include "core/worker.hpp"
#include "gateway/access/bearer_admission.hpp"
#include "gateway/access/known_tokens.hpp"
#include "gateway/access/oauth_judge.hpp"
#include "gateway/access/resource_metadata.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::app {

class Entrance {
public:
    static constexpr std::size_t kMostWarnings = 10;

    // `gone`: told of principals that may not come in any more. `url`: of the endpoint where it
    // listens.
    static Result<std::unique_ptr<Entrance>> open(Host& host, const HttpTerms& terms,
                                                  const HttpPlan& plan, const std::string& url,
                                                  const std::string& state_directory,
                                                  gateway::Admission& everybody,
                                                  std::function<void(const std::string&)> gone);

    gateway::Admission& admission() {
        return asked_ ? static_cast<gateway::Admission&>(*asked_) : everybody_;
    }
    // What requests come to first, before `gateway`.
    http::Handler& before(http::Handler& gateway, const gateway::Door& door);

private:
    Entrance(Host& host, gateway::Admission& everybody) : host_(host), everybody_(everybody) {}
    Result<void> take_tokens(const std::string& state_directory,
                             std::function<void(const std::string&)> gone);
    Result<void> take_access_tokens(const HttpTerms& terms, const std::string& url);
    gateway::Fetch fetching(const std::string& issuer);
    void read(const std::string& file, std::function<void(Result<std::string>)> then);

    Host& host_;
    gateway::Admission& everybody_;
    gateway::Challenge challenge_;
    std::optional<core::Worker> reader_;  // of a file with keys
    std::optional<gateway::WebUrl> resource_;
    std::vector<std::string> issuers_, scopes_;
    std::unique_ptr<gateway::KnownTokens> tokens_;
    std::unique_ptr<gateway::OauthJudge> access_tokens_;
    std::optional<gateway::BearerAdmission> asked_;
    std::optional<gateway::ResourceMetadata> metadata_;
};

// Of tokens whose bundle is gone or cannot be used: their clients would be told only that nothing is there.
void warn_of_bundles(const config::Config& config, const std::vector<gateway::Token>& tokens);

}  // namespace patchbay::app
