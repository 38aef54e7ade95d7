// Signing in to one server, and out of it, outside of any connection; and who is signed in where.
//
// Owns:    the authenticator under way. Borrows what it is given. Threads: [loop].
// Errors:  the auth method's own words.
#pragma once

#include "auth/secret_store.hpp"
#include "core/loop.hpp"
#include "plugin/authenticator.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::app {

// What may be told of a sign-in: no token.
struct Login {
    std::string server, issuer, scope, principal;
    std::optional<std::chrono::system_clock::time_point> expires;
    bool renewable = false;  // by itself, without a person
    bool in_keyring = false;
    bool ended = false;  // by its server: only another sign-in helps
};
Login login_of(const std::string& server, const boost::json::object& record);
boost::json::object to_json(const Login& login);  // `login` of config/schema/api

// One acquire, or one forget, of an authenticator that is made for it.
class OneSignIn final : private plugin::AuthenticatorEvents {
public:
    using Make = std::function<Result<std::unique_ptr<plugin::Authenticator>>(
        plugin::AuthenticatorEvents& events)>;
    using Done = std::function<void(Result<void>)>;

    explicit OneSignIn(core::Loop& loop) : loop_(loop) {}

    // `done` comes when the authenticator has closed.
    void sign_in(const Make& make, const std::string& url, const std::string& scope, Done done);
    void sign_out(const Make& make, Done done);
    void cancel();
    // Of the sign-in that went well last: the server answers without credentials.
    bool was_needless() const { return needless_; }

private:
    bool begin(const Make& make, Done done);
    void on_acquired(plugin::OperationId operation, Result<plugin::Grant> grant) override;
    void on_authenticator_closed() override;

    core::Loop& loop_;
    std::unique_ptr<plugin::Authenticator> authenticator_;
    Result<void> outcome_;
    bool needless_ = false;
    Done done_;
};

}  // namespace patchbay::app
