// The face of the method towards the host: a queue of what is to be done, one after the other.
//
// Owns:    everything of one server's sign-in; what runs keeps it alive until it has ended.
// Threads: acquire, forget, close [serial]; cancel, sign [any]; the work itself on the strand.
// Errors:  create throws sdk::Failure for settings that make no sense; the rest is told by
// acquired.
#pragma once

#include "dpop.hpp"
#include "flow.hpp"

#include <patchbay/cpp/auth.hpp>

#include <deque>
#include <memory>

namespace patchbay::oauth {

class OAuthAuthenticator : public sdk::Authenticator {
public:
    static std::unique_ptr<OAuthAuthenticator> create(const patchbay_auth_params& params);

    void acquire(const patchbay_auth_request& request) override;
    void cancel(std::uint64_t operation) override;
    void forget() override;
    void close() override;
    std::vector<sdk::Credential> sign(std::string_view method, std::string_view url) override;

private:
    struct Work;
    explicit OAuthAuthenticator(std::shared_ptr<Work> work);

    std::shared_ptr<Work> work_;
};

}  // namespace patchbay::oauth
