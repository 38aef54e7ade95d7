#include "config/remote_settings.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <charconv>

namespace patchbay::config {

namespace {

namespace json = boost::json;

// What the transport's schema calls reserved: names in lower case, `x-*` for all that begin so.
const json::array* reserved_headers(const json::value& schema) {
    boost::system::error_code none;
    const auto* names = schema.find_pointer("/properties/headers/x-patchbay-reserved", none);
    return names ? names->if_array() : nullptr;
}

bool is_reserved(const std::string& header, const json::array& names) {
    return std::any_of(names.begin(), names.end(), [&](const json::value& each) {
        const auto* text = each.if_string();
        if (!text) return false;
        std::string_view name(*text);
        if (!name.ends_with('*')) return header == name;
        name.remove_suffix(1);
        return header.starts_with(name);
    });
}

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

std::string trouble_with_headers(const Server& server, const json::value& schema) {
    const auto* headers = server.settings.if_contains("headers");
    const auto* reserved = reserved_headers(schema);
    if (!headers || !headers->is_object() || !reserved) return {};
    for (const auto& header : headers->get_object()) {
        if (is_reserved(core::lower(std::string_view(header.key())), *reserved))
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
