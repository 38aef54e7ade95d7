#include "config/remote_settings.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <charconv>

namespace patchbay::config {

namespace {

namespace json = boost::json;

// What the transports of plugins/common/net take.
constexpr std::size_t kUrlBytes = 8192;
constexpr std::size_t kHeaderNameBytes = 256;
constexpr std::size_t kHeaderValueBytes = 8192;

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

// Of a name or, in brackets, of an IPv6 address, which may name its zone.
bool is_host(std::string_view text) {
    const bool address = text.find(':') != std::string_view::npos;
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return core::is_digit(c) || (core::lower(c) >= 'a' && core::lower(c) <= 'z') || c == '-' ||
               c == '.' || c == '_' || (address && (c == ':' || c == '%'));
    });
}

// A host, and a port if there is one. Empty: it is that.
std::string fault_of_authority(std::string_view text) {
    if (text.find('@') != std::string_view::npos)
        return "it holds a user name or password; use headers or bearer_token_env_var instead";
    const bool address = text.starts_with('[');
    const auto end = address ? text.find(']') : std::min(text.find(':'), text.size());
    if (end == std::string_view::npos) return "expected a ] behind the address in brackets";
    const auto host = address ? text.substr(1, end - 1) : text.substr(0, end);
    const auto behind = text.substr(address ? end + 1 : end);
    if (host.empty() || (!behind.empty() && behind.front() != ':'))
        return "expected an address in brackets, and behind it nothing but :PORT";
    if (!is_host(host) || (!address && host.find('%') != std::string_view::npos))
        return "its host has a character that no host has; an international name is written in "
               "its xn-- form";
    if (!behind.empty() && !is_port(behind.substr(1)))
        return "expected a port from 1 to 65535 behind the host";
    return {};
}

// As plugins/common/net reads it, which nothing here may ask. Empty: it can be connected to.
std::string fault_of(std::string_view url, bool web) {
    const auto end = url.find("://");
    const auto scheme = core::lower(url.substr(0, end == std::string_view::npos ? 0 : end));
    const bool known =
        scheme == "http" || scheme == "https" || (!web && (scheme == "ws" || scheme == "wss"));
    if (!known)
        return std::string("expected one that begins with ") +
               (web ? "http:// or https://" : "ws:// or wss://");
    if (url.size() > kUrlBytes)
        return "expected one of at most " + std::to_string(kUrlBytes) + " bytes";
    if (std::any_of(url.begin(), url.end(),
                    [](char c) { return (c >= 0 && c <= 0x20) || c == 0x7f || c == '\\'; }))
        return "expected one with no spaces, control characters or backslashes";
    auto rest = url.substr(end + 3);
    rest = rest.substr(0, rest.find('#'));
    const auto authority = rest.substr(0, rest.find_first_of("/?"));
    if (authority.empty() || authority.ends_with('@') || authority.starts_with(':'))
        return "expected a host behind " + scheme + "://";
    if (auto why = fault_of_authority(authority); !why.empty()) return why;
    const auto target = rest.substr(authority.size());
    for (auto at = target.find('%'); at != std::string_view::npos; at = target.find('%', at + 1))
        if (at + 2 >= target.size() || !core::is_hex(target[at + 1]) ||
            !core::is_hex(target[at + 2]))
            return "it holds a % that is not followed by two hexadecimal digits";
    return {};
}

// How much of it could be a header's name.
std::size_t token_bytes(std::string_view name) {
    std::size_t count = 0;
    while (count < name.size() && core::is_token(name.substr(count, 1))) ++count;
    return count;
}

// Empty: a header may have that value.
std::string fault_of_value(std::string_view value) {
    if (value.size() > kHeaderValueBytes)
        return "is over " + std::to_string(kHeaderValueBytes) + " bytes";
    if (core::trimmed(value) != value) return "begins or ends with a space";
    if (std::any_of(value.begin(), value.end(),
                    [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; }))
        return "holds a control character, perhaps a line break";
    return {};
}

}  // namespace

std::optional<RemoteTrouble> trouble_with_url(const Server& server) {
    const auto* value = server.settings.if_contains("url");
    if (!value || !value->is_string()) return {};
    const std::string_view url(value->get_string());
    if (url.find("${") != std::string_view::npos) return {};
    const bool web = is_web(server);
    if (!web && server.transport != "ws") return {};
    const auto why = fault_of(url, web);
    return why.empty() ? std::optional<RemoteTrouble>() : RemoteTrouble{"url", "url: " + why};
}

std::optional<RemoteTrouble> trouble_with_headers(const Server& server, const json::value& schema) {
    const auto* headers = server.settings.if_contains("headers");
    const auto* reserved = reserved_headers(schema);
    if (!headers || !headers->is_object() || !reserved) return {};
    for (const auto& header : headers->get_object()) {
        const std::string_view name(header.key());
        const auto trouble = [&](const std::string& text) {
            return RemoteTrouble{"headers." + std::string(name), "headers: " + text};
        };
        // Somebody may have written the value into it as well, so no more of it is shown.
        if (!core::is_token(name) || name.size() > kHeaderNameBytes)
            return trouble("the name that begins with \"" +
                           core::printable(name.substr(0, token_bytes(name)), 80) +
                           "\" cannot be a header's; expected up to " +
                           std::to_string(kHeaderNameBytes) + " letters, digits and -");
        const auto shown = "\"" + core::printable(name, 80) + "\"";
        if (is_reserved(core::lower(name), *reserved))
            return trouble(shown + " is set by Patchbay itself and cannot be configured");
        const auto* value = header.value().if_string();
        if (!value || value->find("${") != json::string::npos) continue;
        if (const auto why = fault_of_value(*value); !why.empty())
            return trouble(shown + ": its value " + why);
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
