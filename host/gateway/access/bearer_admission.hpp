// Admission of those who bring a token: who each is says the token's judge, what there is to see
// another admission, which knows the paths.
//
// Owns:    how often each peer has failed. Borrows the rest, which must outlive it.
// Threads: [loop].
// Errors:  401 without a token or with a wrong one, 429 for a peer that brings too many of these.
//          Nothing of a token is said or logged.
#pragma once

#include "gateway/access/failed_attempts.hpp"
#include "gateway/access/token_judge.hpp"
#include "gateway/http/admission.hpp"

#include <vector>

namespace patchbay::gateway {

class BearerAdmission final : public Admission {
public:
    BearerAdmission(const core::TimeSource& time, Admission& within,
                    std::vector<TokenJudge*> judges, Challenge challenge)
        : within_(within),
          judges_(std::move(judges)),
          challenge_(std::move(challenge)),
          attempts_(time) {}

    std::optional<Admitted> admit(const http::Request& request,
                                  std::function<void(Admitted)> later) override;

private:
    std::optional<Admitted> let_in(const Bearer& bearer, const http::Request& request,
                                   std::function<void(Admitted)> later);
    HttpRefusal failed(const std::string& peer, HttpRefusal refused);

    Admission& within_;
    const std::vector<TokenJudge*> judges_;
    const Challenge challenge_;
    FailedAttempts attempts_;
};

}  // namespace patchbay::gateway
