// What a server is told of who asks: the token from an environment variable, what its auth method
// granted, and how often it may refuse them before that is the last word.
//
// Owns:    the AuthLoop, the token, which is masked as long as it lives here.
// Threads: [loop].
// Errors:  AuthRequired, with who refused and what to do; Invalid for a variable that holds no token.
// Limits:  two rounds for one message, for the channel, and for the background stream, which is
//          forgiven after a minute.
#pragma once

#include "connection/auth_loop.hpp"
#include "connection/context.hpp"
#include "connection/link.hpp"
#include "core/lifetime.hpp"
#include "core/secrets.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::connection {

class Credentials {
public:
    static constexpr unsigned kMostRounds = 2;

    // New credentials go to `link`'s channel as soon as they are there.
    Credentials(const Context& context, const config::Server& server, Link& link);

    // The settings of this attempt are there, and the variable's token is to be read.
    Result<void> use(Result<AuthMethod> method);
    // There is something to ask for before the server refuses, and it has not been got yet.
    bool wanted_ahead() const;
    bool configured() const { return auth_.configured(); }
    unsigned generation() const { return auth_.generation(); }
    std::vector<plugin::Header> all() const;
    const std::shared_ptr<plugin::Signer>& signer() const { return signer_; }

    // Who is asked for them.
    AuthLoop& auth() { return auth_; }

    // Counts one more refusal. False: there were enough.
    bool try_channel_again();
    bool try_stream_again();
    void agreed() { channel_rounds_ = 0; }

    // What to say of a refusal; `refused`: why there are no new credentials.
    Error error(const plugin::Problem& problem, const std::optional<Error>& refused = {}) const;
    // The words of an auth method read as if they were about the server: its command is not ours.
    // Says which table, where one is named.
    Error of_table(Error error) const;

    // Nothing is made from now on; `closed` follows when the plugin has let go.
    void close(std::function<void()> closed);

private:
    AuthLoop::Make maker();

    const Context& context_;
    const config::Server& server_;
    const std::optional<AuthChoice> choice_;
    const std::shared_ptr<plugin::Signer> signer_ = plugin::make_signer();
    Result<AuthMethod> method_ = AuthMethod{};  // expanded for this attempt
    std::vector<plugin::Header> bearer_;        // from bearer_token_env_var
    core::Secrets secrets_;                     // the same
    unsigned channel_rounds_ = 0, stream_rounds_ = 0;
    core::Clock::time_point stream_refused_at_{};
    bool closing_ = false;
    AuthLoop auth_;
    core::Lifetime lifetime_;
};

}  // namespace patchbay::connection
