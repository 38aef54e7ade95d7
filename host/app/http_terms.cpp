#include "app/http_terms.hpp"

#include "core/text.hpp"
#include "gateway/access/listening.hpp"
#include "gateway/http/endpoints.hpp"
#include "http/address.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace patchbay::app {

namespace {

using config::ListenerSettings;
constexpr std::string_view kTable = "gateway.";

// The options that [gateway] has keys for; all that joins the two goes by this table.
struct Term {
    const char* option;
    void (*take)(ListenerSettings& to, const ListenerSettings& from);
    bool is_list = false;
};
template <auto Member>
void copy(ListenerSettings& to, const ListenerSettings& from) {
    to.*Member = from.*Member;
}
using L = ListenerSettings;
constexpr Term kTerms[] = {{"--http", copy<&L::http>},
                           {"--sse", copy<&L::sse>},
                           {"--auth", copy<&L::auth>},
                           {"--public-url", copy<&L::public_url>},
                           {"--allow-host", copy<&L::allow_host>, true},
                           {"--allow-origin", copy<&L::allow_origin>, true},
                           {"--tls-cert", copy<&L::tls_cert>},
                           {"--tls-key", copy<&L::tls_key>},
                           {"--allow-plain", copy<&L::allow_plain>},
                           {"--oauth-issuer", copy<&L::oauth_issuer>, true},
                           {"--oauth-scope", copy<&L::oauth_scope>, true},
                           {"--oauth-audience", copy<&L::oauth_audience>},
                           {"--oauth-keys", copy<&L::oauth_keys>},
                           {"--metrics", copy<&L::metrics>}};

bool begins_a_value(std::string_view text) {
    return text.starts_with("https://") || (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' &&
                                            text[1] >= 'A' && text[1] <= 'Z');
}

// Whoever wrote a file thinks in its keys: --tls-cert FILE is tls_cert = "FILE" there.
std::string in_words_of_files(std::string text) {
    for (const auto& term : kTerms) {
        const std::string_view word(term.option);
        for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
            const auto begin = at + word.size() + 1;
            if (begin < text.size() && begins_a_value(std::string_view(text).substr(begin))) {
                const auto end = std::min(text.find_first_of(" ,;", begin), text.size());
                const auto value = "\"" + text.substr(begin, end - begin) + "\"";
                text.replace(begin, end - begin, term.is_list ? "= [" + value + "]" : "= " + value);
            }
            text.replace(at, word.size(), gateway_key_of(word).substr(kTable.size()));
        }
    }
    return text;
}

using Judged = std::optional<TermFault>;

TermFault invalid(const char* option, std::string message) {
    return {option, {ErrorCode::Invalid, std::move(message)}};
}

Judged take_names(const HttpTerms& terms, std::vector<std::string>& names) {
    const auto& said = terms.said;
    if (!said.public_url.empty()) {
        const auto url = gateway::parse_web_url(said.public_url);
        if (!url) return TermFault{"--public-url", url.error()};
        names.push_back(url->host);
    }
    for (const auto& each : said.allow_host) {
        auto host = gateway::parse_host(each);
        if (!host) return TermFault{"--allow-host", host.error()};
        names.push_back(std::move(*host));
    }
    return {};
}

Judged take_origins(const HttpTerms& terms, std::vector<std::string>& origins) {
    for (const auto& each : terms.said.allow_origin) {
        auto origin = gateway::parse_origin(each);
        if (!origin) return TermFault{"--allow-origin", origin.error()};
        origins.push_back(std::move(*origin));
    }
    return {};
}

// Keys that came in the clear would be anybody's.
Judged check_source(const char* option, const std::string& text) {
    const auto url = gateway::parse_web_url(text);
    if (!url) return TermFault{option, url.error()};
    if (url->scheme != "https" && !http::names_this_machine(url->host))
        return invalid(option, "\"" + text + "\" has to be https");
    return {};
}

bool is_url(const std::string& keys) {
    return keys.find("://") != std::string::npos;
}

// Else it would be missed by the first who comes.
Judged check_file(const char* option, const std::string& path, const char* expected) {
    if (path.empty() || is_url(path) || ::access(path.c_str(), R_OK) == 0) return {};
    return invalid(option, "cannot read \"" + core::printable(path, 200) +
                               "\": " + std::strerror(errno) + "; expected " + expected);
}

Judged check_oauth(const ListenerSettings& said) {
    if (said.oauth_issuer.empty()) {
        const char* alone = !said.oauth_audience.empty() ? "--oauth-audience"
                            : !said.oauth_scope.empty()  ? "--oauth-scope"
                            : !said.oauth_keys.empty()   ? "--oauth-keys"
                                                         : nullptr;
        if (alone) return invalid(alone, "it needs --oauth-issuer");
        return {};
    }
    if (said.auth == "none") return invalid("--auth", "none, and --oauth-issuer asks everybody");
    for (const auto& each : said.oauth_issuer)
        if (auto wrong = check_source("--oauth-issuer", each)) return wrong;
    if (is_url(said.oauth_keys))
        if (auto wrong = check_source("--oauth-keys", said.oauth_keys)) return wrong;
    if (!said.oauth_keys.empty() && said.oauth_issuer.size() > 1)
        return invalid("--oauth-keys", "of which of the issuers? It goes with one alone");
    if (auto wrong =
            check_file("--oauth-keys", said.oauth_keys, "a file with a JWK set, or its URL"))
        return wrong;
    for (const auto& each : said.oauth_scope)
        if (each.empty() || !std::all_of(each.begin(), each.end(), [](char c) {
                return c > ' ' && c < 0x7f && c != '"' && c != '\\';
            }))
            return invalid("--oauth-scope", "\"" + core::printable(each, 80) + "\" is no scope");
    return {};
}

Judged check_tls(const ListenerSettings& said) {
    if (said.tls_cert.empty() == said.tls_key.empty()) return {};
    return said.tls_key.empty() ? invalid("--tls-cert", "it requires --tls-key")
                                : invalid("--tls-key", "it requires --tls-cert");
}

Judged check_metrics(const ListenerSettings& said) {
    if (said.metrics.empty()) return {};
    if (const auto address = metrics_address(said.metrics); !address)
        return TermFault{"--metrics", address.error()};
    return {};
}

// What makes no sense wherever it listens.
Judged take_what_is_said(const HttpTerms& terms, HttpPlan& plan) {
    if (auto wrong = take_names(terms, plan.names)) return wrong;
    if (auto wrong = take_origins(terms, plan.origins)) return wrong;
    if (auto wrong = check_oauth(terms.said)) return wrong;
    if (auto wrong = check_tls(terms.said)) return wrong;
    return check_metrics(terms.said);
}

// For whoever only looks: what is read of them as it listens is told better then.
Judged check_tls_files(const ListenerSettings& said) {
    if (auto wrong = check_file("--tls-cert", said.tls_cert, "a certificate in PEM")) return wrong;
    return check_file("--tls-key", said.tls_key, "its private key in PEM");
}

}  // namespace

Error HttpTerms::told(const TermFault& fault) const {
    const auto place = places.find(fault.option);
    if (place == places.end()) return within(fault.option, fault.error);
    return within(config::to_string(place->second),
                  Error{fault.error.code, gateway_key_of(fault.option) + ": " +
                                              in_words_of_files(fault.error.message)});
}

boost::system::result<HttpTerms, TermFault> terms_of(const config::Config& config,
                                                     const ListenerSettings& typed,
                                                     const std::set<std::string>& given,
                                                     Over over) {
    HttpTerms terms{config.gateway.listener, {}};
    for (const auto& [option, take, is_list] : kTerms) {
        const auto* place = config.find_origin(gateway_key_of(option));
        if (!given.contains(option)) {
            if (place) terms.places[option] = *place;
            continue;
        }
        if (place && place->scope == config::Scope::Enterprise)
            return invalid(option, "it has no effect here, since " + config::to_string(*place) +
                                       " says it too; ask your administrator");
        take(terms.said, typed);
    }
    auto& said = terms.said;
    if (over == Over::Stdio) said.http.clear();
    if (!said.http.empty()) return terms;
    for (const auto& [option, take, is_list] : kTerms)
        if (given.contains(option) && std::string_view(option) != "--metrics")
            return TermFault{option, {ErrorCode::Invalid, "it requires --http"}};
    // Each client starts one of us: they would be in each other's way there.
    if (!given.contains("--metrics")) said.metrics.clear();
    return terms;
}

std::string gateway_key_of(std::string_view option) {
    std::string key(option.substr(std::string_view("--").size()));
    std::replace(key.begin(), key.end(), '-', '_');
    return std::string(kTable) + key;
}

Result<http::Address> metrics_address(const std::string& text) {
    auto where = http::parse_address(text);
    if (!where || where->loopback()) return where;
    return Error{ErrorCode::Invalid,
                 where->host +
                     " can be reached from other machines, and nobody who comes is asked who "
                     "it is; listen on 127.0.0.1, [::1] or unix:PATH"};
}

std::vector<std::string> listener_options() {
    std::vector<std::string> options;
    for (const auto& term : kTerms) options.emplace_back(term.option);
    return options;
}

std::string HttpPlan::url(const http::Address& at, const char* path) const {
    auto url = at.url();
    if (!at.path.empty())
        return path == std::string_view(gateway::Endpoints::kPath) ? url : url + "#" + path;
    if (tls) url.insert(std::string_view("http").size(), "s");
    return url + path;
}

boost::system::result<HttpPlan, TermFault> plan_of(const HttpTerms& terms) {
    using gateway::Asks;
    using gateway::Carried;
    const auto& said = terms.said;
    HttpPlan plan;
    auto address = http::parse_address(said.http);
    if (!address) return TermFault{"--http", address.error()};
    plan.address = std::move(*address);
    if (auto wrong = take_what_is_said(terms, plan)) return *wrong;
    const bool local = !plan.address.path.empty(), oauth = !said.oauth_issuer.empty();
    plan.tokens =
        said.auth == "token" || (said.auth == "auto" && !plan.address.loopback() && !oauth);
    plan.tls = !said.tls_cert.empty();
    if (plan.tls && local) return invalid("--tls-cert", "a Unix socket has no TLS");
    if (oauth && local && said.public_url.empty())
        return invalid("--oauth-issuer",
                       "a Unix socket has no URL that a token could be meant for; "
                       "say --public-url");
    const auto carried = plan.tls           ? Carried::Tls
                         : said.allow_plain ? Carried::PlainAnyway
                                            : Carried::Plain;
    const auto asks = plan.tokens || oauth ? Asks::Everybody : Asks::Nobody;
    if (auto may = gateway::may_listen(plan.address, asks, carried, plan.names); !may)
        return TermFault{"--http", may.error()};
    return plan;
}

std::optional<config::Diagnostic> fault_of_listener(const config::Config& config) {
    auto terms = terms_of(config, {}, {}, Over::Whichever);
    if (!terms) return {};
    // Without an address it counts once somebody says --http.
    terms->said.metrics = config.gateway.listener.metrics;
    Judged wrong;
    if (HttpPlan any; terms->said.http.empty())
        wrong = take_what_is_said(*terms, any);
    else if (const auto plan = plan_of(*terms); !plan)
        wrong = plan.error();
    if (!wrong) wrong = check_tls_files(terms->said);
    if (!wrong) return {};
    const auto& fault = *wrong;
    const auto at = terms->places.find(fault.option);
    return config::Diagnostic{
        config::RuleId::InvalidListener,
        config::Severity::Error,
        at == terms->places.end() ? config::Place{} : at->second,
        gateway_key_of(fault.option) + ": " + in_words_of_files(fault.error.message),
        {}};
}

}  // namespace patchbay::app
