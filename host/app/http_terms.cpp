#include "app/http_terms.hpp"

#include "core/text.hpp"
#include "gateway/access/listening.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

Error invalid(std::string message) {
    return {ErrorCode::Invalid, std::move(message)};
}

Result<std::vector<std::string>> names_of(const HttpTerms& terms) {
    std::vector<std::string> names;
    if (!terms.public_url.empty()) {
        const auto url = gateway::parse_web_url(terms.public_url);
        if (!url) return within("--public-url", url.error());
        names.push_back(url->host);
    }
    for (const auto& each : terms.hosts) {
        auto host = gateway::parse_host(each);
        if (!host) return within("--allow-host", host.error());
        names.push_back(std::move(*host));
    }
    return names;
}

// Keys that came in the clear would be anybody's.
Result<void> check_source(const char* option, const std::string& text) {
    const auto url = gateway::parse_web_url(text);
    if (!url) return within(option, url.error());
    const bool here =
        url->host == "localhost" || url->host == "[::1]" || url->host.starts_with("127.");
    if (url->scheme != "https" && !here)
        return invalid(std::string(option) + ": \"" + text + "\" has to be https");
    return {};
}

bool is_url(const std::string& keys) {
    return keys.find("://") != std::string::npos;
}

// Else it would be missed by the first who comes.
Result<void> check_file(const char* option, const std::string& path) {
    if (path.empty() || is_url(path) || ::access(path.c_str(), R_OK) == 0) return {};
    return invalid(std::string(option) + ": cannot read \"" + core::printable(path, 200) +
                   "\": " + std::strerror(errno) + "; expected a file with a JWK set, or its URL");
}

Result<void> check_oauth(const HttpTerms& terms) {
    if (terms.issuers.empty()) {
        const char* alone = !terms.audience.empty() ? "--oauth-audience"
                            : !terms.scopes.empty() ? "--oauth-scope"
                            : !terms.keys.empty()   ? "--oauth-keys"
                                                    : nullptr;
        if (alone) return invalid(std::string(alone) + " needs --oauth-issuer");
        return {};
    }
    if (terms.auth == "none") return invalid("--auth none: --oauth-issuer asks everybody");
    for (const auto& each : terms.issuers)
        if (auto fine = check_source("--oauth-issuer", each); !fine) return fine;
    if (is_url(terms.keys))
        if (auto fine = check_source("--oauth-keys", terms.keys); !fine) return fine;
    if (!terms.keys.empty() && terms.issuers.size() > 1)
        return invalid("--oauth-keys: of which of the issuers? It goes with one alone");
    if (auto fine = check_file("--oauth-keys", terms.keys); !fine) return fine;
    for (const auto& each : terms.scopes)
        if (each.empty() || !std::all_of(each.begin(), each.end(), [](char c) {
                return c > ' ' && c < 0x7f && c != '"' && c != '\\';
            }))
            return invalid("--oauth-scope: \"" + core::printable(each, 80) + "\" is no scope");
    return {};
}

}  // namespace

std::string HttpPlan::url(const http::Address& at, const char* path) const {
    auto url = at.url();
    if (!at.path.empty()) return url;
    if (tls) url.insert(std::string_view("http").size(), "s");
    return url + path;
}

Result<HttpPlan> plan_of(const HttpTerms& terms) {
    using gateway::Asks;
    using gateway::Carried;
    HttpPlan plan;
    auto address = http::parse_address(terms.address);
    if (!address) return within("--http", address.error());
    plan.address = std::move(*address);
    auto names = names_of(terms);
    if (!names) return names.error();
    plan.names = std::move(*names);
    if (auto fine = check_oauth(terms); !fine) return fine.error();
    const bool local = !plan.address.path.empty(), oauth = !terms.issuers.empty();
    plan.tokens =
        terms.auth == "token" || (terms.auth.empty() && !plan.address.loopback() && !oauth);
    plan.tls = !terms.tls.certificate.empty();
    if (plan.tls && local) return invalid("--tls-cert: a Unix socket has no TLS");
    if (oauth && local && terms.public_url.empty())
        return invalid(
            "--oauth-issuer: a Unix socket has no URL that a token could be meant for; "
            "say --public-url");
    const auto carried = plan.tls            ? Carried::Tls
                         : terms.allow_plain ? Carried::PlainAnyway
                                             : Carried::Plain;
    const auto asks = plan.tokens || oauth ? Asks::Everybody : Asks::Nobody;
    if (auto may = gateway::may_listen(plan.address, asks, carried, plan.names); !may)
        return within("--http", may.error());
    return plan;
}

}  // namespace patchbay::app
