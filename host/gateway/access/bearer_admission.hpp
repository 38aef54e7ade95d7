// Admission of those who bring a token: who each is says the token's judge, what there is to see
// another admission, which knows the paths, and the bundle that the token is for.
//
// Owns:    how often each peer has failed. Borrows the rest, which must outlive it.
// Threads: [loop].
// Errors:  401 without a token or with a wrong one, 429 for a peer that brings too many of these, 403 where the bundle
//          of its token is not there any more, or cannot be used. Nothing of a token is said or logged.
#pragma once

#include "gateway/access/failed_attempts.hpp"
#include "gateway/access/token_judge.hpp"
#include "gateway/http/admission.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::gateway {

class BearerAdmission final : public Admission {
public:
    // What a bundle holds now; why it is of no use.
    using FindBundle = std::function<Result<View>(const std::string& name)>;

    // Without `bundles` there are none.
    BearerAdmission(const core::TimeSource& time, Admission& within,
                    std::vector<TokenJudge*> judges, Challenge challenge, FindBundle bundles = {})
        : within_(within),
          judges_(std::move(judges)),
          challenge_(std::move(challenge)),
          bundles_(std::move(bundles)),
          attempts_(time) {}

    std::optional<Admitted> admit(const http::Request& request,
                                  std::function<void(Admitted)> later) override;

private:
    std::optional<Admitted> let_in(const Bearer& bearer, const http::Request& request,
                                   std::function<void(Admitted)> later);
    Admitted as(const Bearer& bearer, Admitted admitted) const;
    HttpRefusal failed(const std::string& peer, HttpRefusal refused);

    Admission& within_;
    const std::vector<TokenJudge*> judges_;
    const Challenge challenge_;
    const FindBundle bundles_;
    FailedAttempts attempts_;
};

}  // namespace patchbay::gateway
