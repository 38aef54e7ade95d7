#include "web_url.hpp"

#include "ascii.hpp"
#include "encoding.hpp"
#include "trouble.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace patchbay::oauth {
namespace {

constexpr std::size_t kUrlBytes = 8192;

[[noreturn]] void refuse(std::string_view whose, const std::string& why) {
    throw Trouble(PATCHBAY_E_PROTOCOL, std::string(whose) + " cannot be used: " + why);
}

std::uint16_t usual_port(std::string_view scheme) {
    return scheme == "https" ? 443 : 80;
}

bool host_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) ||
           std::string_view(".-_:[]").find(letter) != std::string_view::npos;
}

std::uint16_t port_of(std::string_view text, std::string_view whose) {
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failed != std::errc() || end != text.data() + text.size() || port == 0)
        refuse(whose, "its port is no number from 1 to 65535");
    return port;
}

void read_authority(std::string_view authority, std::string_view whose, WebUrl& url) {
    if (authority.find('@') != authority.npos) refuse(whose, "it holds a user name or password");
    if (!std::all_of(authority.begin(), authority.end(), host_letter))
        refuse(whose, "its host holds an odd character");
    // Brackets set the colons of an IPv6 address apart from that of the port.
    const bool address = authority.starts_with('[');
    const auto host = authority.substr(0, address ? authority.find(']') + 1 : authority.find(':'));
    const auto rest = authority.substr(host.size());
    const auto name = address && !host.empty() ? host.substr(1, host.size() - 2) : host;
    if (name.empty()) refuse(whose, "it names no host");
    if (name.find_first_of("[]") != name.npos || (!rest.empty() && rest.front() != ':'))
        refuse(whose, "its host holds an odd bracket");
    url.host = ascii::lower(host);
    url.port = rest.empty() ? usual_port(url.scheme) : port_of(rest.substr(1), whose);
}

}  // namespace

WebUrl WebUrl::parse(std::string_view text, std::string_view whose) {
    if (text.size() > kUrlBytes) refuse(whose, "it is longer than 8192 bytes");
    const bool odd = std::any_of(text.begin(), text.end(), [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return byte <= 0x20 || byte >= 0x7F || letter == '\\' || letter == '#';
    });
    if (odd) refuse(whose, "it holds a space, a fragment or an odd character");
    const auto colon = std::min(text.find(':'), text.size());
    WebUrl url;
    url.scheme = ascii::lower(text.substr(0, colon));
    if ((url.scheme != "https" && url.scheme != "http") || text.substr(colon, 3) != "://")
        refuse(whose, "it must begin with https://, not \"" + printable(url.scheme) + ":\"");
    text.remove_prefix(colon + 3);
    const auto authority = text.substr(0, text.find_first_of("/?"));
    read_authority(authority, whose, url);
    text.remove_prefix(authority.size());
    url.path = text.substr(0, text.find('?'));
    url.query = text.substr(url.path.size());
    return url;
}

bool WebUrl::loopback() const {
    const auto ends = [&](std::string_view tail) {
        return host.size() > tail.size() && host.substr(host.size() - tail.size()) == tail;
    };
    const bool number = host.find_first_not_of("0123456789.") == host.npos;
    return host == "localhost" || ends(".localhost") || host == "[::1]" ||
           (number && host.rfind("127.", 0) == 0);
}

std::string WebUrl::origin() const {
    return scheme + "://" + host + (port == usual_port(scheme) ? "" : ":" + std::to_string(port));
}

void check_endpoint(std::string_view text, std::string_view whose) {
    const auto url = WebUrl::parse(text, whose);
    if (url.scheme != "https" && !url.loopback())
        refuse(whose, "only https is, and http to this machine");
}

bool within(const WebUrl& outer, const WebUrl& inner) {
    if (outer.origin() != inner.origin()) return false;
    if (!outer.query.empty()) return outer.path == inner.path && outer.query == inner.query;
    auto prefix = outer.path;
    while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
    if (inner.path.compare(0, prefix.size(), prefix) != 0) return false;
    return inner.path.size() == prefix.size() || inner.path[prefix.size()] == '/';
}

}  // namespace patchbay::oauth
