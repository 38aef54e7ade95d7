#include "authorization.hpp"

#include <algorithm>

namespace patchbay::oauth {
namespace {

constexpr const char* kOffline = "offline_access";

bool has(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

bool named(const Form& form, std::string_view name) {
    return std::any_of(form.begin(), form.end(),
                       [&](const auto& pair) { return pair.first == name; });
}

void check_issuer(const Form& answer, const AuthorizationServer& server) {
    const bool there = named(answer, "iss");
    if (!there && server.sends_issuer) {
        throw Trouble(PATCHBAY_E_DENIED,
                      "the redirect does not say which authorization server it is from, though " +
                          server.issuer + " promises to; the sign-in is not used");
    }
    if (!there || server.issuer.empty()) return;
    if (only(answer, "iss") == server.issuer) return;
    throw Trouble(PATCHBAY_E_DENIED, "the redirect is from another authorization server than " +
                                         server.issuer + "; the sign-in is not used");
}

}  // namespace

AuthorizationRequest AuthorizationRequest::fresh() {
    AuthorizationRequest request;
    request.state = random_text();
    request.verifier = random_text();
    return request;
}

std::string AuthorizationRequest::url(const AuthorizationServer& server) const {
    Form form{{"response_type", "code"},
              {"client_id", client_id},
              {"redirect_uri", redirect_uri},
              {"code_challenge", base64url(sha256(verifier))},
              {"code_challenge_method", "S256"},
              {"state", state},
              {"resource", resource}};
    if (!scope.empty()) form.emplace_back("scope", scope);
    if (has(words(scope), kOffline)) form.emplace_back("prompt", "consent");
    if (dpop_key) form.emplace_back("dpop_jkt", base64url(sha256(dpop_key->public_jwk())));
    const auto& endpoint = server.authorization_endpoint;
    const auto query = endpoint.find('?');
    if (query == endpoint.npos) return endpoint + "?" + form_encode(form);
    // Of two values of one name a server may take either, and the person sees only what it makes of
    // them: RFC 6749, 3.1 forbids to send a name twice.
    for (const auto& [name, value] : form_decode(std::string_view(endpoint).substr(query + 1))) {
        if (!named(form, name)) continue;
        throw Trouble(PATCHBAY_E_PROTOCOL, "the authorization endpoint of " + server.issuer +
                                               " says " + printable(name) +
                                               " itself, which is ours to say");
    }
    return endpoint + "&" + form_encode(form);
}

std::string code_of(std::string_view query, const AuthorizationRequest& request,
                    const AuthorizationServer& server) {
    const auto answer = form_decode(query);
    const auto state = only(answer, "state");
    if (!state || !same_secret(*state, request.state)) {
        throw Trouble(PATCHBAY_E_DENIED,
                      "the redirect does not belong to this sign-in (its state is missing or "
                      "another); sign in again");
    }
    // Before the error is quoted: a stranger's words are not for people to read.
    check_issuer(answer, server);
    if (named(answer, "error")) {
        const auto code = only(answer, "error").value_or("");
        const auto words = only(answer, "error_description").value_or("");
        throw Trouble(code == "access_denied" ? PATCHBAY_E_DENIED : PATCHBAY_E_AUTH,
                      "the authorization server refused the sign-in with " + printable(code) +
                          (words.empty() ? "" : ": " + printable(words)),
                      0, code);
    }
    auto code = only(answer, "code");
    if (code && !code->empty()) return *code;
    throw Trouble(PATCHBAY_E_PROTOCOL, "the redirect holds neither a code nor an error");
}

std::string wanted_scope(const std::string& asked, const Demand& demand, const Settings& settings,
                         const Resource& resource, const AuthorizationServer& server,
                         const std::string& granted) {
    std::string scope = asked;
    if (scope.empty() && !demand.scope.empty()) scope = granted + " " + demand.scope;
    if (scope.empty() && demand.insufficient_scope()) scope = granted;
    if (scope.empty()) scope = settings.scope;
    if (scope.empty()) scope = joined(resource.scopes);
    auto list = words(scope);
    const bool renewable = settings.asks_a_person() && has(server.scopes, kOffline);
    if (!list.empty() && renewable && !has(list, kOffline)) list.emplace_back(kOffline);
    return joined(list);
}

}  // namespace patchbay::oauth
