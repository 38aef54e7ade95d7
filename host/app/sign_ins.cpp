#include "app/sign_ins.hpp"

#include "config/approval.hpp"
#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::app {

namespace {

// Auth methods and the store speak of what they do, not of whom it is for.
SignIns::Done naming(const std::string& id, SignIns::Done done) {
    return [id, done = std::move(done)](const Result<void>& outcome) {
        done(outcome ? outcome : within("server \"" + id + "\"", outcome.error()));
    };
}

}  // namespace

const config::Server* SignIns::server(const std::string& id) const {
    const auto& all = config_.servers;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.id == id; });
    return found == all.end() ? nullptr : &*found;
}

const config::Proposal* SignIns::proposal(const std::string& id) const {
    const auto& proposals = config_.untrusted;
    const auto found = std::find_if(proposals.begin(), proposals.end(),
                                    [&](const auto& each) { return each.id == id; });
    return found == proposals.end() || found->is_table() ? nullptr : &*found;
}

void SignIns::tell_unknown(const std::string& id, const Done& done) const {
    std::vector<std::string> known;
    for (const auto& each : config_.servers) known.push_back(each.id);
    if (const auto* waits = proposal(id)) {
        return loop_.defer(
            [done, error = Error{ErrorCode::Denied, config::why_inert(*waits)}] { done(error); });
    }
    loop_.defer([done, error = Error{ErrorCode::NotFound,
                                     "no server \"" + core::printable(id, 80) + "\" is configured" +
                                         core::did_you_mean(id, known)}] { done(error); });
}

void SignIns::with_method(const config::Server& server, Done done, Begin then) {
    expander_.expand(
        server, server_auth_.method_of(server),
        [this, server, done = std::move(done),
         then = std::move(then)](Result<connection::Expanded> expanded) {
            if (!expanded || !expanded->auth) {
                const auto error = expanded ? expanded->auth.error() : expanded.error();
                return loop_.defer([done, error] { done(error); });
            }
            const std::string url(core::text_in(&expanded->settings, "url").value_or(""));
            const auto method = *expanded->auth;
            const auto make = [this, server, method](plugin::AuthenticatorEvents& events) {
                return server_auth_.authenticator(server, method, nullptr, events);
            };
            plugins_.prepare_auth(method.name,
                                  [this, done, then, make, url](const Result<void>& ready) {
                                      if (ready) return then(make, url);
                                      loop_.defer([done, error = ready.error()] { done(error); });
                                  });
        });
}

void SignIns::sign_in(const std::string& id, const std::string& scope, Done done) {
    const auto* configured = server(id);
    if (!configured) return tell_unknown(id, done);
    done = naming(id, std::move(done));
    if (auto why = server_auth_.why_no_sign_in(*configured); !why.empty()) {
        return loop_.defer(
            [done, error = Error{ErrorCode::Invalid, std::move(why)}] { done(error); });
    }
    with_method(*configured, done,
                [this, scope, done](const OneSignIn::Make& make, const std::string& url) {
                    signing_.sign_in(make, url, scope, done);
                });
}

void SignIns::sign_out(const std::string& id, Done done) {
    const auto* configured = server(id);
    const auto stored = secrets_.stored();
    const bool kept = stored && stored->contains(id);
    const bool waits = proposal(id) != nullptr;
    if (!configured && !waits && !kept) return tell_unknown(id, done);
    done = naming(id, std::move(done));
    // Whatever the method says to it, the record goes. Nobody has to approve a definition for that.
    auto erase = [this, id, done](const Result<void>& revoked) {
        if (!revoked) warn_("server \"" + id + "\" was not told: " + revoked.error().message);
        secrets_.erase(id, done);
    };
    if (!configured && kept)
        return erase(Error{ErrorCode::Denied, waits ? "its definition is not approved"
                                                    : "no definition of it is in force"});
    if (!configured || !server_auth_.choice(*configured)) return erase({});
    with_method(*configured, erase, [this, erase](const OneSignIn::Make& make, const std::string&) {
        signing_.sign_out(make, erase);
    });
}

Result<std::vector<Login>> SignIns::list() const {
    const auto stored = secrets_.stored();
    if (!stored) return stored.error();
    std::vector<Login> logins;
    for (const auto& [server, record] : *stored)
        if (record.is_object()) logins.push_back(login_of(server, record.get_object()));
    std::sort(logins.begin(), logins.end(),
              [](const auto& a, const auto& b) { return a.server < b.server; });
    return logins;
}

}  // namespace patchbay::app
