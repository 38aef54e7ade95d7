#include "token_request.hpp"

#include "ascii.hpp"
#include "json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace patchbay::oauth {
namespace {

constexpr const char* kIdJagType = "urn:ietf:params:oauth:token-type:id-jag";
constexpr std::int64_t kMostLife = 10LL * 365 * 24 * 3600;

std::string client_assertion(const Services& services, const TokenEndpoint& endpoint) {
    if (!endpoint.client_key) {
        throw Trouble(PATCHBAY_E_AUTH,
                      "private_key_jwt needs \"private_key\" or \"private_key_file\"");
    }
    const auto now = services.unix_seconds();
    ObjectWriter header, claims;
    header.text("typ", "JWT").text("alg", endpoint.client_key->algorithm());
    if (!endpoint.client_key_id.empty()) header.text("kid", endpoint.client_key_id);
    claims.text("iss", endpoint.client.id).text("sub", endpoint.client.id);
    claims.text("aud", endpoint.audience).text("jti", random_text());
    claims.number("iat", now).number("exp", now + 300);
    auto assertion = signed_jwt(*endpoint.client_key, header.str(), claims.str());
    services.mask(assertion);
    return assertion;
}

void authenticate(const Services& services, const TokenEndpoint& endpoint, Form& form,
                  Request& request) {
    const auto& client = endpoint.client;
    if (client.auth_method == "client_secret_basic") {
        auto pair = base64(form_encode(client.id) + ":" + form_encode(client.secret));
        services.mask(pair);
        request.headers.emplace_back("Authorization", "Basic " + pair);
        return;
    }
    if (!client.id.empty()) form.emplace_back("client_id", client.id);
    if (client.auth_method == "client_secret_post")
        form.emplace_back("client_secret", client.secret);
    if (client.auth_method == "private_key_jwt") {
        form.emplace_back("client_assertion_type",
                          "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
        form.emplace_back("client_assertion", client_assertion(services, endpoint));
    }
}

Request request_of(const Services& services, const TokenEndpoint& endpoint, Form form) {
    Request request;
    request.method = "POST";
    request.url = endpoint.url;
    request.judged = endpoint.judged;
    request.timeout_ms = endpoint.timeout_ms;
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                       {"Accept", "application/json"}};
    authenticate(services, endpoint, form, request);
    request.body = form_encode(form);
    return request;
}

[[noreturn]] void refused(const std::string& url, const Reply& reply) {
    const auto status = std::to_string(reply.status);
    std::string code, description;
    try {
        const auto document = Document::parse(reply.body, url);
        code = document.text_or("error", "");
        description = document.text_or("error_description", "");
    } catch (const Trouble&) {
        code.clear();
    }
    // The login is thrown away for what is said with a code, so a server in trouble says nothing.
    if (code.empty() || reply.status >= 500 || reply.status == 429 ||
        code == "temporarily_unavailable" || code == "server_error") {
        throw Trouble(PATCHBAY_E_IO,
                      url + ": the authorization server answered " + status +
                          (code.empty() ? "" : " " + printable(code)) +
                          " instead of a token; try again later",
                      PATCHBAY_ERR_RETRYABLE);
    }
    throw Trouble(PATCHBAY_E_AUTH,
                  url + ": refused with " + printable(code) +
                      (description.empty() ? "" : ": " + printable(description)),
                  0, code);
}

// 0: unknown. One that has ended before it began is no token.
std::int64_t life_of(const Document& document, const std::string& url) {
    const auto* value = document.find("expires_in");
    if (!value) return 0;
    double seconds = value->number;
    if (value->kind == sdk::ConfigValue::Kind::String) seconds = std::atof(value->text.c_str());
    if (seconds < 0)
        throw Trouble(PATCHBAY_E_PROTOCOL,
                      url +
                          ": the token has ended already (\"expires_in\" is negative); is the "
                          "clock of the authorization server right?");
    if (!(seconds >= 1)) return 0;
    return static_cast<std::int64_t>(std::min(seconds, static_cast<double>(kMostLife)));
}

void check_token(const std::string& token, const std::string& url) {
    const bool fits = token.size() <= 16 * 1024 &&
                      std::all_of(token.begin(), token.end(),
                                  [](char letter) { return letter > 0x20 && letter < 0x7F; });
    if (!fits)
        throw Trouble(PATCHBAY_E_PROTOCOL, url + ": the \"access_token\" does not fit in a header");
}

// Who signed in, for people: not verified, and nothing is decided by it.
std::string principal_of(const Document& answer) {
    const auto token = answer.text_or("id_token", "");
    const auto from = token.find('.');
    const auto to = from == token.npos ? from : token.find('.', from + 1);
    if (to == token.npos) return {};
    const auto claims = base64url_decoded(std::string_view(token).substr(from + 1, to - from - 1));
    if (!claims) return {};
    try {
        const auto document = Document::parse(*claims, "id_token");
        return printable(document.text_or("email", document.text_or("sub", "")));
    } catch (const Trouble&) {
        return {};
    }
}

Tokens tokens_of(const Services& services, const Reply& reply, const std::string& url,
                 Expect expect) {
    const auto document = Document::parse(reply.body, url);
    if (document.has("error")) refused(url, reply);
    Tokens tokens;
    tokens.access_token = document.needed_text("access_token");
    services.mask(tokens.access_token);  // before anything can be said about it
    tokens.refresh_token = document.text_or("refresh_token", "");
    services.mask(tokens.refresh_token);
    services.mask(document.text_or("id_token", ""));
    check_token(tokens.access_token, url);
    tokens.token_type = document.needed_text("token_type");
    tokens.issued_token_type = document.text_or("issued_token_type", "");
    tokens.scope = document.text_or("scope", "");
    tokens.life = life_of(document, url);
    tokens.principal = principal_of(document);
    if (expect == Expect::kIdJag) {
        if (tokens.issued_token_type == kIdJagType) return tokens;
        throw Trouble(PATCHBAY_E_PROTOCOL, url + ": \"issued_token_type\" must be " + kIdJagType);
    }
    if (!ascii::same(tokens.token_type, "Bearer") && !ascii::same(tokens.token_type, "DPoP")) {
        throw Trouble(PATCHBAY_E_PROTOCOL, url + ": the \"token_type\" " +
                                               printable(tokens.token_type) +
                                               " is not known here, only Bearer and DPoP");
    }
    return tokens;
}

bool wants_nonce(const Reply& reply) {
    if (reply.status != 400 && reply.status != 401) return false;
    try {
        return Document::parse(reply.body, "").text_or("error", "") == "use_dpop_nonce";
    } catch (const Trouble&) {
        return false;
    }
}

}  // namespace

std::string choose_auth_method(const std::optional<std::vector<std::string>>& supported,
                               const Client& client, bool has_key) {
    const auto listed = [&](const char* method) {
        return supported &&
               std::find(supported->begin(), supported->end(), method) != supported->end();
    };
    if (!client.auth_method.empty()) return client.auth_method;
    if (has_key && (listed("private_key_jwt") || client.secret.empty())) return "private_key_jwt";
    if (client.secret.empty()) return "none";
    if (!supported || listed("client_secret_basic")) return "client_secret_basic";
    if (listed("client_secret_post")) return "client_secret_post";
    return listed("none") ? "none" : "client_secret_basic";
}

Task<Tokens> request_tokens(Services& services, Prover& prover, const TokenEndpoint& endpoint,
                            Form form, Expect expect) {
    check_endpoint(endpoint.url, "the token endpoint");
    Reply reply;
    // The first answer brings the nonce; who asks for another then would ask for ever. Each attempt
    // has an assertion and a proof of its own, they are good once.
    for (int attempt = 0; attempt < 2; ++attempt) {
        auto request = request_of(services, endpoint, form);
        if (endpoint.dpop_key) {
            auto proof =
                prover.proof(*endpoint.dpop_key, "POST", endpoint.url, services.unix_seconds());
            request.headers.emplace_back("DPoP", std::move(proof));
        }
        reply = co_await services.fetch(std::move(request));
        if (endpoint.dpop_key) prover.learn_nonce(endpoint.url, reply.header("DPoP-Nonce"));
        if (!endpoint.dpop_key || !wants_nonce(reply)) break;
    }
    if (reply.status != 200) refused(endpoint.url, reply);
    co_return tokens_of(services, reply, endpoint.url, expect);
}

Task<> revoke(Services& services, const TokenEndpoint& endpoint, Form form) {
    check_endpoint(endpoint.url, "the revocation endpoint");
    auto request = request_of(services, endpoint, std::move(form));
    // RFC 7009 answers 200 for tokens it never knew, too.
    const auto reply = co_await services.fetch(std::move(request));
    if (reply.status != 200)
        throw Trouble(PATCHBAY_E_IO, endpoint.url + ": the authorization server answered " +
                                         std::to_string(reply.status));
}

}  // namespace patchbay::oauth
