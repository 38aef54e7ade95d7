#include "discovery.hpp"

#include "encoding.hpp"
#include "json.hpp"

#include <algorithm>

namespace patchbay::oauth {
namespace {

constexpr std::string_view kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

// The document at `url`; nothing if the server has none there.
Task<std::optional<Document>> document_at(Services& services, const std::string& url,
                                          Judged judged) {
    Request request;
    request.url = url;
    request.judged = judged;
    request.headers = {{"Accept", "application/json"}};
    const auto reply = co_await services.fetch(std::move(request));
    std::optional<Document> found;
    // A server in trouble is no server without metadata: guessing on would ask another one.
    if (reply.status >= 400 && reply.status < 500) co_return found;
    if (reply.status != 200) {
        throw Trouble(PATCHBAY_E_IO,
                      url + ": the server answered " + std::to_string(reply.status) +
                          " instead of its metadata; try again later",
                      PATCHBAY_ERR_RETRYABLE);
    }
    found = Document::parse(reply.body, url);
    co_return found;
}

std::vector<std::string> resource_metadata_places(const WebUrl& server, const Demand& demand) {
    std::vector<std::string> places;
    const std::string well_known = server.origin() + "/.well-known/oauth-protected-resource";
    if (!demand.resource_metadata.empty()) {
        check_endpoint(demand.resource_metadata, "resource_metadata in WWW-Authenticate");
        places.push_back(demand.resource_metadata);
    }
    if (!server.path.empty() && server.path != "/") places.push_back(well_known + server.path);
    places.push_back(well_known);
    return places;
}

void check_resource(const std::string& identifier, const WebUrl& server, const std::string& where) {
    const auto published = WebUrl::parse(identifier, "\"resource\" at " + where);
    if (within(published, server)) return;
    throw Trouble(PATCHBAY_E_DENIED, where + " describes another resource, " +
                                         printable(identifier) + ", not " + server.canonical() +
                                         "; a token for it would not be for this server");
}

Resource resource_of(const Document& document, const WebUrl& server, const std::string& where) {
    Resource resource;
    resource.identifier = document.needed_text("resource");
    check_resource(resource.identifier, server, where);
    resource.authorization_servers =
        document.texts("authorization_servers").value_or(std::vector<std::string>());
    resource.scopes = document.texts("scopes_supported").value_or(std::vector<std::string>());
    resource.wants_dpop = document.flag("dpop_bound_access_tokens_required");
    return resource;
}

std::vector<std::string> metadata_places(const std::string& issuer) {
    const auto url = WebUrl::parse(issuer, "the issuer " + printable(issuer));
    auto path = url.path;
    while (!path.empty() && path.back() == '/') path.pop_back();
    const auto oauth = url.origin() + "/.well-known/oauth-authorization-server";
    const auto open_id = url.origin() + "/.well-known/openid-configuration";
    if (path.empty()) return {oauth, open_id};
    return {oauth + path, open_id + path,
            url.origin() + path + "/.well-known/openid-configuration"};
}

std::string endpoint(const Document& document, const std::string& name, const std::string& where) {
    auto url = document.text_or(name, "");
    if (!url.empty()) check_endpoint(url, "\"" + name + "\" at " + where);
    return url;
}

AuthorizationServer described(const Document& document, const std::string& issuer,
                              const std::string& where) {
    AuthorizationServer server;
    server.issuer = document.needed_text("issuer");
    // RFC 8414, 3.3: letter by letter. Else one issuer could speak for another.
    if (server.issuer != issuer) {
        throw Trouble(PATCHBAY_E_DENIED, where + " is of the issuer " + printable(server.issuer) +
                                             ", not of " + printable(issuer) +
                                             " that was asked for; it is not used");
    }
    server.authorization_endpoint = endpoint(document, "authorization_endpoint", where);
    server.token_endpoint = endpoint(document, "token_endpoint", where);
    server.registration_endpoint = endpoint(document, "registration_endpoint", where);
    server.revocation_endpoint = endpoint(document, "revocation_endpoint", where);
    server.auth_methods = document.texts("token_endpoint_auth_methods_supported");
    server.dpop_algorithms = document.texts("dpop_signing_alg_values_supported");
    server.scopes = document.texts("scopes_supported").value_or(std::vector<std::string>());
    server.takes_metadata_urls = document.flag("client_id_metadata_document_supported");
    server.sends_issuer = document.flag("authorization_response_iss_parameter_supported");
    const auto methods = document.texts("code_challenge_methods_supported");
    server.proves_code_exchange =
        methods && std::find(methods->begin(), methods->end(), "S256") != methods->end();
    return server;
}

std::string chosen_issuer(const Settings& settings, const Resource& resource,
                          const std::string& known_issuer) {
    const auto& offered = resource.authorization_servers;
    const auto offers = [&](const std::string& issuer) {
        return std::find(offered.begin(), offered.end(), issuer) != offered.end();
    };
    if (!settings.issuer.empty()) {
        if (offered.empty() || offers(settings.issuer)) return settings.issuer;
        throw Trouble(PATCHBAY_E_DENIED, "the server no longer signs in at the issuer " +
                                             settings.issuer + " of the settings but at " +
                                             printable(joined(offered, ", ")) +
                                             "; check \"issuer\" and \"client_id\"");
    }
    if (!known_issuer.empty() && offers(known_issuer)) return known_issuer;
    return offered.empty() ? std::string() : offered.front();
}

// What 2025-03-26 says of servers without any metadata.
AuthorizationServer by_default(const WebUrl& server) {
    AuthorizationServer out;
    out.issuer = server.origin();
    out.authorization_endpoint = server.origin() + "/authorize";
    out.token_endpoint = server.origin() + "/token";
    out.registration_endpoint = server.origin() + "/register";
    return out;
}

void configure(AuthorizationServer& server, const Settings& settings) {
    const auto set = [](std::string& endpoint, const std::string& configured) {
        if (!configured.empty()) endpoint = configured;
    };
    set(server.authorization_endpoint, settings.authorization_url);
    set(server.token_endpoint, settings.token_url);
    set(server.registration_endpoint, settings.registration_url);
    server.judged = settings.judged(settings.token_url);
    server.judged_registration = settings.judged(settings.registration_url);
}

}  // namespace

std::string ways_without_sign_in() {
    return "set \"bearer_token_env_var\" or \"headers\" of the server to send a token you have, or "
           "\"auth\" to an [auth.ID] table with \"authorization_url\" and \"token_url\"";
}

Task<Demand> probe(Services& services, const WebUrl& server) {
    Request request;
    request.method = "POST";
    request.url = server.text();
    request.body = kPing;
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", "application/json, text/event-stream"}};
    const auto reply = co_await services.fetch(std::move(request));
    Demand demand;
    demand.http_status = reply.status;
    const auto type = reply.header("Content-Type");
    demand.speaks_json_rpc =
        type.starts_with("application/json") || type.starts_with("text/event-stream");
    if (reply.status != 401) co_return demand;
    std::vector<patchbay_kv> fields;
    for (const auto& [name, value] : reply.headers)
        fields.push_back({sdk::str(name), sdk::str(value), 0, 0});
    demand.add(fields.data(), fields.size());
    co_return demand;
}

Task<Resource> discover_resource(Services& services, const WebUrl& server, const Demand& demand) {
    const auto places = resource_metadata_places(server, demand);
    for (const auto& place : places) {
        const auto document = co_await document_at(services, place, Judged::kBesideServer);
        if (document) co_return resource_of(*document, server, place);
    }
    Resource unpublished;
    unpublished.identifier = server.canonical();
    co_return unpublished;
}

Task<AuthorizationServer> discover_authorization_server(Services& services,
                                                        const Settings& settings,
                                                        const WebUrl& server,
                                                        const Resource& resource,
                                                        const std::string& known_issuer) {
    AuthorizationServer found;
    found.issuer = settings.issuer;
    configure(found, settings);
    const bool complete = !settings.token_url.empty() &&
                          (!settings.asks_a_person() || !settings.authorization_url.empty());
    if (complete) co_return found;

    auto issuer = chosen_issuer(settings, resource, known_issuer);
    const bool by_origin = issuer.empty();
    if (by_origin) issuer = server.origin();
    check_endpoint(issuer, "the issuer " + printable(issuer));
    const auto judged = settings.judged({});
    const auto places = metadata_places(issuer);
    for (const auto& place : places) {
        const auto document = co_await document_at(services, place, judged);
        if (!document) continue;
        found = described(*document, issuer, place);
        configure(found, settings);
        co_return found;
    }
    if (by_origin) {
        found = by_default(server);
        found.looked_at = joined(places, ", ");
        configure(found, settings);
        co_return found;
    }
    throw Trouble(PATCHBAY_E_AUTH, "the authorization server " + printable(issuer) +
                                       " publishes no metadata; looked at " + joined(places, ", ") +
                                       "; set \"authorization_url\" and \"token_url\"");
}

}  // namespace patchbay::oauth
