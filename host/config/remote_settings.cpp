#include "config/remote_settings.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace patchbay::config {

namespace {

namespace json = boost::json;

// As the transports have it (their READMEs: "Patchbay's own"), so that it is known before one
// connects.
constexpr std::array<std::string_view, 18> kHeadersOfOurs = {"accept",
                                                             "accept-encoding",
                                                             "connection",
                                                             "content-encoding",
                                                             "content-length",
                                                             "cookie",
                                                             "content-type",
                                                             "expect",
                                                             "host",
                                                             "keep-alive",
                                                             "last-event-id",
                                                             "proxy-authenticate",
                                                             "proxy-connection",
                                                             "te",
                                                             "proxy-authorization",
                                                             "trailer",
                                                             "upgrade",
                                                             "transfer-encoding"};

bool is_web(const Server& server) {
    return server.transport == "http" || server.transport == "sse";
}

// Behind the host; nothing is the usual one.
bool is_port(std::string_view text) {
    unsigned port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return text.empty() ||
           (error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536);
}

}  // namespace

std::string trouble_with_url(const Server& server) {
    const auto* value = server.settings.if_contains("url");
    if (!value || !value->is_string()) return {};
    const std::string_view url(value->get_string());
    if (url.find("${") != std::string_view::npos) return {};
    const bool web = is_web(server);
    if (!web && server.transport != "ws") return {};
    const auto end = url.find("://");
    const auto scheme = core::lower(url.substr(0, end == std::string_view::npos ? 0 : end));
    const bool known =
        scheme == "http" || scheme == "https" || (!web && (scheme == "ws" || scheme == "wss"));
    const std::string expected = web ? "http:// or https://" : "ws:// or wss://";
    if (!known) return "url: expected one that begins with " + expected;
    const auto host = url.substr(end + 3, url.find_first_of("/?#", end + 3) - (end + 3));
    const bool odd = std::any_of(url.begin(), url.end(),
                                 [](char c) { return c == ' ' || (c >= 0 && c < 0x20); });
    if (host.empty() || host.ends_with('@') || host.starts_with(':') || odd)
        return "url: expected a host behind " + scheme + "://, and no spaces";
    if (host.find('@') != std::string_view::npos)
        return "url: it holds a user name or password; use headers or bearer_token_env_var instead";
    const auto colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
    if (colon != std::string_view::npos && !is_port(host.substr(colon + 1)))
        return "url: expected a port from 1 to 65535 behind the host";
    return {};
}

std::string trouble_with_headers(const Server& server) {
    const auto* headers = server.settings.if_contains("headers");
    if (!headers || !headers->is_object() || (!is_web(server) && server.transport != "ws"))
        return {};
    for (const auto& header : headers->get_object()) {
        const auto name = core::lower(std::string_view(header.key()));
        if (name.starts_with("mcp-") ||
            std::find(kHeadersOfOurs.begin(), kHeadersOfOurs.end(), name) != kHeadersOfOurs.end())
            return "headers: \"" + core::printable(std::string_view(header.key()), 80) +
                   "\" is set by Patchbay itself and cannot be configured";
    }
    return {};
}

std::pair<std::string, std::string> lost_token(const Server& server, const Config& config) {
    if (server.settings.contains("url")) return {};
    if (!server.bearer_token_env_var.empty())
        return {"bearer_token_env_var",
                "bearer_token_env_var is for servers behind a URL, so the token reaches nothing; a "
                "program gets it by env = { NAME = \"${" +
                    core::printable(server.bearer_token_env_var, 80) + "}\" }"};
    const auto table = config.auth.find(server.auth);
    if (table == config.auth.end()) return {};
    const auto* kind = table->second.if_contains("kind");
    if (!kind || !kind->is_string() || kind->get_string() != "bearer" ||
        table->second.contains("env"))
        return {};
    return {"auth", "auth \"" + core::printable(server.auth, 80) +
                        "\": a program gets no header, so the token reaches nothing; in [auth." +
                        core::printable(server.auth, 80) +
                        "] write env = \"VARIABLE\", which is to hold the token"};
}

}  // namespace patchbay::config
