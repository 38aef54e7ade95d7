#include "registration.hpp"

#include "json.hpp"

#include <algorithm>

namespace patchbay::oauth {
namespace {

std::string wanted_auth_method(const Settings& settings, const AuthorizationServer& server) {
    if (!settings.token_endpoint_auth_method.empty()) return settings.token_endpoint_auth_method;
    if (!server.auth_methods) return "none";
    for (const char* method : {"none", "client_secret_basic", "client_secret_post"}) {
        const auto& listed = *server.auth_methods;
        if (std::find(listed.begin(), listed.end(), method) != listed.end()) return method;
    }
    return "none";
}

std::string metadata_of(const std::string& auth_method, const std::string& redirect_uri,
                        const std::string& scope, Bound bound) {
    ObjectWriter writer;
    writer.text("client_name", "Patchbay").text("application_type", "native");
    writer.texts("redirect_uris", {redirect_uri});
    writer.texts("grant_types", {"authorization_code", "refresh_token"});
    writer.texts("response_types", {"code"});
    writer.text("token_endpoint_auth_method", auth_method);
    if (!scope.empty()) writer.text("scope", scope);
    if (bound == Bound::kDpop) writer.flag("dpop_bound_access_tokens", true);
    return writer.str();
}

[[noreturn]] void refused(const AuthorizationServer& server, const Reply& reply) {
    const auto& url = server.registration_endpoint;
    if (!server.looked_at.empty() && reply.status < 500) {
        throw Trouble(
            PATCHBAY_E_AUTH,
            "nothing says where to sign in: the server publishes no metadata (looked at " +
                server.looked_at + ") and registers no clients at " + url + "; " +
                ways_without_sign_in());
    }
    std::string words = "answered " + std::to_string(reply.status);
    if (reply.status < 500) {
        try {
            const auto document = Document::parse(reply.body, url);
            words += " " + printable(document.text_or("error", "")) + " " +
                     printable(document.text_or("error_description", ""));
        } catch (const Trouble&) {
            words += " and did not say why";
        }
    }
    throw Trouble(reply.status >= 500 ? PATCHBAY_E_IO : PATCHBAY_E_AUTH,
                  url + ": registering as a client failed: " + words +
                      "; register by hand and set \"client_id\"",
                  reply.status >= 500 ? PATCHBAY_ERR_RETRYABLE : 0);
}

[[noreturn]] void no_way(const AuthorizationServer& server) {
    throw Trouble(
        PATCHBAY_E_AUTH,
        "the authorization server " + printable(server.issuer) +
            " registers no clients by itself; register Patchbay there (native application,"
            " redirect to http://127.0.0.1) and set \"client_id\"");
}

}  // namespace

Client known_client(const Settings& settings, const AuthorizationServer& server) {
    Client client;
    client.auth_method = settings.token_endpoint_auth_method;
    if (!settings.client_id.empty()) {
        client.id = settings.client_id;
        client.secret = settings.client_secret;
    } else if (server.takes_metadata_urls) {
        client.id = settings.client_metadata_url;
    }
    return client;
}

Client remembered_client(const Record& record, const AuthorizationServer& server,
                         const std::string& redirect_uri) {
    Client client;
    // An authorization server takes a registered redirect letter by letter, its port too.
    if (record.redirect_uri != redirect_uri || record.issuer != server.issuer) return client;
    if (server.issuer.empty() && record.token_endpoint != server.token_endpoint) return client;
    client.id = record.client_id;
    client.secret = record.client_secret;
    client.auth_method = record.token_endpoint_auth_method;
    client.redirect_uri = redirect_uri;
    client.registered = true;
    return client;
}

Task<Client> register_client(Services& services, const Settings& settings,
                             const AuthorizationServer& server, const std::string& redirect_uri,
                             const std::string& scope, Bound bound) {
    if (server.registration_endpoint.empty()) no_way(server);
    const auto asked = wanted_auth_method(settings, server);
    Request request;
    request.method = "POST";
    request.url = server.registration_endpoint;
    request.judged = server.judged_registration;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    request.body = metadata_of(asked, redirect_uri, scope, bound);
    auto without_scope = request;
    auto reply = co_await services.fetch(std::move(request));
    if (reply.status == 400 && !scope.empty()) {
        // Some know no scopes of resources here; what the login is for is said there again.
        without_scope.body = metadata_of(asked, redirect_uri, {}, bound);
        reply = co_await services.fetch(std::move(without_scope));
    }
    if (reply.status != 200 && reply.status != 201) refused(server, reply);
    const auto document = Document::parse(reply.body, server.registration_endpoint);
    Client client;
    client.id = document.needed_text("client_id");
    client.secret = document.text_or("client_secret", "");
    services.mask(client.secret);
    client.auth_method =
        document.text_or("token_endpoint_auth_method", settings.token_endpoint_auth_method);
    client.redirect_uri = redirect_uri;
    client.registered = true;
    co_return client;
}

}  // namespace patchbay::oauth
