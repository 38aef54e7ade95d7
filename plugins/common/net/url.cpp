#include "net/url.hpp"

#include "ascii.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <Poco/Exception.h>
#include <Poco/URI.h>

#include <algorithm>

namespace patchbay::net {
namespace {

constexpr std::size_t kMostBytes = 8192;

[[noreturn]] void refuse_url(const std::string& why) {
    throw sdk::Failure(PATCHBAY_E_INVALID, "the URL " + why);
}

std::uint16_t usual_port(std::string_view scheme) {
    return scheme == "https" || scheme == "wss" ? 443 : 80;
}

void check_bytes(std::string_view text) {
    if (text.size() > kMostBytes) refuse_url("is longer than 8192 bytes");
    for (const char byte : text) {
        if (static_cast<unsigned char>(byte) <= 0x20 || byte == 0x7f)
            refuse_url("holds a control character or a space");
        if (byte == '\\') refuse_url("holds a backslash");
    }
}

// A URL or a reference to one, RFC 3986 section 4.1; the fragment is nobody's but ours.
struct Parts {
    std::string_view scheme, authority, path, query;  // query: with its "?"
    bool has_authority = false;
};

Parts split(std::string_view text) {
    Parts parts;
    text = text.substr(0, text.find('#'));
    const auto colon = text.find(':');
    if (colon < text.find_first_of("/?")) {
        parts.scheme = text.substr(0, colon);
        text.remove_prefix(colon + 1);
    }
    if (text.substr(0, 2) == "//") {
        parts.has_authority = true;
        text.remove_prefix(2);
        parts.authority = text.substr(0, text.find_first_of("/?"));
        text.remove_prefix(parts.authority.size());
    }
    parts.path = text.substr(0, text.find('?'));
    parts.query = text.substr(parts.path.size());
    return parts;
}

bool is_hex(char byte) {
    return (byte >= '0' && byte <= '9') || (ascii::lower(byte) >= 'a' && ascii::lower(byte) <= 'f');
}

// Of a host name or, with colons, an IPv6 address, which may name its zone.
bool is_host_letter(char byte, bool address) {
    const char letter = ascii::lower(byte);
    return (byte >= '0' && byte <= '9') || (letter >= 'a' && letter <= 'z') || byte == '-' ||
           byte == '.' || byte == '_' || (address && (byte == ':' || byte == '%'));
}

// As written: what is escaped stays so, since %2F is another path than a slash. Only what may not
// be in a request line is escaped.
std::string on_the_wire(std::string_view text) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    std::string written;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '%' && (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])))
            refuse_url("holds a % that is not followed by two hexadecimal digits");
        if (byte < 0x80 && std::string_view("\"<>^`{|}").find(text[i]) == std::string_view::npos) {
            written += text[i];
            continue;
        }
        written += '%';
        written += kDigits[byte >> 4];
        written += kDigits[byte & 15];
    }
    return written;
}

// RFC 3986 section 5.2.4, of a path that begins with a slash.
std::string without_dots(std::string_view path) {
    std::string kept;
    while (!path.empty()) {
        const auto end = path.find('/', 1);
        const auto segment = path.substr(0, end);
        const bool last = end == path.npos;
        path.remove_prefix(segment.size());
        if (segment == "/.." && kept.rfind('/') != kept.npos) kept.erase(kept.rfind('/'));
        if (segment != "/." && segment != "/..")
            kept += segment;
        else if (last)
            kept += '/';
    }
    return kept;
}

// Scheme and authority are the library's to judge.
Url taken_apart(const std::string& before_path, std::string_view path, std::string_view query) {
    const Poco::URI uri(before_path + "/");
    Url url;
    url.scheme = uri.getScheme();  // lower case already
    if (url.scheme != "http" && url.scheme != "https" && url.scheme != "ws" && url.scheme != "wss")
        refuse_url("must begin with http://, https://, ws:// or wss://");
    if (!uri.getUserInfo().empty())
        refuse_url("holds a user name or password; use headers or bearer_token_env_var instead");
    url.host = uri.getHost();
    if (url.host.empty()) refuse_url("names no host");
    const bool address = url.host.find(':') != url.host.npos;
    if (!std::all_of(url.host.begin(), url.host.end(),
                     [&](char byte) { return is_host_letter(byte, address); }))
        refuse_url(
            "names a host with a character that no host has; an international name is written "
            "in its xn-- form");
    url.host = ascii::lower(url.host);
    const auto port = uri.getSpecifiedPort();
    url.port = port ? port : usual_port(url.scheme);
    url.target = (path.empty() ? "/" : on_the_wire(path)) + on_the_wire(query);
    return url;
}

std::string text_of(std::string_view scheme, std::string_view authority) {
    // The library passes over it, and over the port that may have been meant.
    const auto behind = authority.substr(std::min(authority.size(), authority.find(']')));
    if (behind.size() > 1 && behind[1] != ':')
        refuse_url("has something between its address and its port");
    return std::string(scheme) + "://" + std::string(authority);
}

}  // namespace

Url Url::parse(std::string_view text) {
    check_bytes(text);
    const auto parts = split(text);
    try {
        return taken_apart(text_of(parts.scheme, parts.authority), parts.path, parts.query);
    } catch (const Poco::Exception&) {
        refuse_url("cannot be read");
    }
}

// RFC 3986 section 5.2.2.
Url Url::resolve(std::string_view reference) const {
    check_bytes(reference);
    const auto parts = split(reference);
    if (!parts.scheme.empty()) return parse(reference);
    const auto my_path = std::string_view(target).substr(0, target.find('?'));
    const auto my_query = std::string_view(target).substr(my_path.size());
    try {
        if (parts.has_authority)
            return taken_apart(text_of(scheme, parts.authority), without_dots(parts.path),
                               parts.query);
        if (parts.path.empty())
            return taken_apart(origin(), my_path, parts.query.empty() ? my_query : parts.query);
        std::string path(parts.path);
        if (path.front() != '/') path.insert(0, my_path.substr(0, my_path.rfind('/') + 1));
        return taken_apart(origin(), without_dots(path), parts.query);
    } catch (const Poco::Exception&) {
        refuse_url("in the server's answer cannot be read");
    }
}

std::string Url::authority() const {
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return port == usual_port(scheme) ? name : name + ":" + std::to_string(port);
}

std::string Url::origin() const {
    return scheme + "://" + authority();
}

std::string Url::without_query() const {
    return origin() + target.substr(0, target.find('?'));
}

}  // namespace patchbay::net
