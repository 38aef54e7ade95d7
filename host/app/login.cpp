#include "app/login.hpp"

#include "core/json.hpp"
#include "service/statuses.hpp"

#include <utility>

namespace patchbay::app {
namespace json = boost::json;

Login login_of(const std::string& server, const json::object& record) {
    Login login{server,
                core::string_in(record, "issuer"),
                core::string_in(record, "scope"),
                core::string_in(record, "principal"),
                {},
                !core::string_in(record, "refresh_token").empty() || record.contains("keyring"),
                record.contains("keyring"),
                !core::string_in(record, "ended").empty()};
    if (login.ended) login.renewable = false;
    if (login.ended) return login;  // what it says of its time is that of the token that is gone
    const auto* expires = record.if_contains("expires_at");
    if (expires && expires->is_int64() && expires->get_int64() > 0)
        login.expires = std::chrono::system_clock::from_time_t(expires->get_int64());
    return login;
}

void OneSignIn::sign_in(const Make& make, const std::string& url, const std::string& scope,
                        Done done) {
    if (!begin(make, std::move(done))) return;
    plugin::AcquireRequest request;
    request.operation = 1;
    request.url = url;
    request.asking = plugin::Asking::SignIn;
    request.scope = scope;
    if (auto begun = authenticator_->acquire(request); !begun) {
        outcome_ = begun.error();
        authenticator_->close();
    }
}

void OneSignIn::sign_out(const Make& make, Done done) {
    if (!begin(make, std::move(done))) return;
    authenticator_->forget();
    authenticator_->close();
}

void OneSignIn::cancel() {
    if (authenticator_) authenticator_->cancel(1);
}

boost::json::object to_json(const Login& login) {
    boost::json::object told{
        {"server", login.server}, {"issuer", login.issuer},
        {"scope", login.scope},   {"renewable", login.renewable},
        {"ended", login.ended},   {"store", login.in_keyring ? "secret-service" : "file"}};
    if (!login.principal.empty()) told["principal"] = login.principal;
    if (login.expires) told["expires_at"] = service::time_of(*login.expires);
    return told;
}

bool OneSignIn::begin(const Make& make, Done done) {
    auto made = make(*this);
    if (!made) {
        loop_.defer([done = std::move(done), error = made.error()] { done(error); });
        return false;
    }
    authenticator_ = std::move(*made);
    outcome_ = {};
    done_ = std::move(done);
    return true;
}

void OneSignIn::on_acquired(plugin::OperationId, Result<plugin::Grant> grant) {
    if (!grant) outcome_ = grant.error();
    needless_ = grant && grant->credentials.empty();
    if (authenticator_) authenticator_->close();
}

void OneSignIn::on_authenticator_closed() {
    // It is still delivering this very event: it goes when that has returned.
    loop_.defer([gone = std::shared_ptr<plugin::Authenticator>(std::move(authenticator_))] {});
    loop_.defer([done = std::exchange(done_, {}), outcome = outcome_] { done(outcome); });
}

}  // namespace patchbay::app
