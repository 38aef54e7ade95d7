#include "gateway/access/listening.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <utility>

namespace patchbay::gateway {

namespace {

constexpr std::size_t kHostBytes = 253, kUrlBytes = 2'000;
constexpr std::string_view kDigits = "0123456789";

// To programs of the web an IPv6 address has one form, and a mapped one no dots (WHATWG URL "host serializing").
std::optional<std::string> written_ipv6(std::string_view inside) {
    in6_addr number{};
    if (::inet_pton(AF_INET6, std::string(inside).c_str(), &number) != 1) return {};
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET6, &number, text, sizeof text);
    if (!std::strchr(text, '.')) return "[" + std::string(text) + "]";
    const auto half = [&](int at) {
        char hex[5];
        const auto* bytes = number.s6_addr;
        std::snprintf(hex, sizeof hex, "%x", bytes[at] << 8 | bytes[at + 1]);
        return std::string(hex);
    };
    const char* begin = IN6_IS_ADDR_V4MAPPED(&number) ? "[::ffff:" : "[::";
    return begin + half(12) + ":" + half(14) + "]";
}

// "127.1" and "0x7f.1" are numbers to a browser, which writes them in full.
bool ends_in_a_number(std::string_view host) {
    const auto last = host.substr(host.rfind('.') + 1);
    return !last.empty() &&
           (last.find_first_not_of(kDigits) == last.npos ||
            (last.starts_with("0x") && last.find_first_not_of("0123456789abcdef", 2) == last.npos));
}

// As programs of the web write it, out of lower case; none: it is no host.
std::optional<std::string> written_host(std::string_view host) {
    if (host.starts_with('[') && host.ends_with(']'))
        return written_ipv6(host.substr(1, host.size() - 2));
    const bool name = !host.empty() && host.size() <= kHostBytes && host.front() != '-' &&
                      host.front() != '.' && std::all_of(host.begin(), host.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                                 c == '.' || c == '_';
                      });
    in_addr number{};
    std::string written(host);
    if (!name || (ends_in_a_number(host) && ::inet_pton(AF_INET, written.c_str(), &number) != 1))
        return {};
    return written;
}

// Of what is refused: how it would have been right.
std::string hint_of(std::string_view text) {
    const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
    return ascii ? "" : "; a name with other letters is written as browsers send it, with xn--";
}

bool is_scheme(std::string_view scheme) {
    return !scheme.empty() && scheme.front() >= 'a' && scheme.front() <= 'z' &&
           std::all_of(scheme.begin(), scheme.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
                      c == '.';
           });
}

// To the letter as a browser writes it: no other would ever match.
bool is_port(std::string_view port) {
    constexpr int kMost = 65'535;
    return !port.empty() && port.size() <= 5 && port.find_first_not_of(kDigits) == port.npos &&
           port.front() != '0' && std::stoi(std::string(port)) <= kMost;
}

}  // namespace

Result<void> may_listen(const http::Address& address, Asks asks, Carried carried,
                        const std::vector<std::string>& names) {
    if (address.loopback()) return {};
    const auto missing = [&](const char* what) {
        return Error{ErrorCode::Invalid,
                     address.host + " can be reached from other machines" + what};
    };
    if (asks == Asks::Nobody)
        return missing(": each that comes has to be asked who it is; leave --auth none away");
    if (carried == Carried::Plain)
        return missing(
            ": a token must not be sent in the clear; say --tls-cert FILE and --tls-key FILE, or "
            "--allow-plain where something in front of it does TLS");
    if (address.any() && names.empty())
        return missing(
            ", by whatever address they know: say what clients call it, by --public-url "
            "https://NAME or --allow-host NAME");
    return {};
}

Result<WebUrl> parse_web_url(std::string_view text) {
    const Error no_url{ErrorCode::Invalid,
                       "\"" + core::printable(text, 200) +
                           "\" is no URL of a server; expected https://HOST[:PORT][/PATH]"};
    if (text.size() > kUrlBytes) return no_url;
    WebUrl url;
    const auto scheme = text.find("://");
    if (scheme == text.npos) return no_url;
    url.scheme = core::lower(text.substr(0, scheme));
    if (url.scheme != "https" && url.scheme != "http") return no_url;
    auto rest = text.substr(scheme + 3);
    const auto slash = std::min(rest.find('/'), rest.size());
    url.authority = core::lower(rest.substr(0, slash));
    url.path = rest.substr(slash);
    if (!std::all_of(url.path.begin(), url.path.end(), [](char c) {
            return c > ' ' && c < 0x7f &&
                   std::string_view("\"\\<>^`{|}?#").find(c) == std::string_view::npos;
        }))
        return no_url;
    const std::string_view authority = url.authority;
    const auto bracket = authority.starts_with('[') ? authority.find(']') : authority.npos;
    const auto colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
    const auto host = written_host(authority.substr(0, colon));
    if (!host || (colon != authority.npos && !is_port(authority.substr(colon + 1)))) return no_url;
    url.host = *host;
    url.authority = *host + std::string(authority.substr(std::min(colon, authority.size())));
    return url;
}

Result<std::string> parse_host(std::string_view text) {
    if (auto host = written_host(core::lower(text))) return std::move(*host);
    return Error{ErrorCode::Invalid, "\"" + core::printable(text, 200) +
                                         "\" is no host; expected a name or a number without "
                                         "scheme and port, as mcp.example.com or [::1]" +
                                         hint_of(text)};
}

// A browser leaves the port away that its scheme has anyway.
Result<std::string> parse_origin(std::string_view text) {
    const Error none{
        ErrorCode::Invalid,
        "\"" + core::printable(text, 200) +
            "\" is no origin of pages; expected SCHEME://HOST[:PORT] and nothing behind it, as "
            "https://app.example.org (each by itself: none stands for others)" +
            hint_of(text)};
    const auto origin = core::lower(text);
    const auto end = origin.find("://");
    if (origin.size() > kUrlBytes || end == origin.npos) return none;
    const std::string_view scheme = std::string_view(origin).substr(0, end);
    const std::string_view authority = std::string_view(origin).substr(end + 3);
    const auto bracket = authority.starts_with('[') ? authority.find(']') : authority.npos;
    const auto colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
    const auto host = written_host(authority.substr(0, colon));
    if (!is_scheme(scheme) || !host) return none;
    auto written = std::string(scheme) + "://" + *host;
    if (colon == authority.npos) return written;
    const auto port = authority.substr(colon + 1);
    if (!is_port(port)) return none;
    const bool implied = (scheme == "https" && port == "443") || (scheme == "http" && port == "80");
    return implied ? written : written + ":" + std::string(port);
}

}  // namespace patchbay::gateway
