#include "net/url.hpp"

#include <patchbay/cpp/plugin.hpp>

#include <Poco/Exception.h>
#include <Poco/URI.h>

#include <algorithm>

namespace patchbay::net {
namespace {

constexpr std::size_t kMostBytes = 8192;

[[noreturn]] void refuse(const std::string& why) {
    throw sdk::Failure(PATCHBAY_E_INVALID, "the URL " + why);
}

std::uint16_t usual_port(std::string_view scheme) {
    return scheme == "https" || scheme == "wss" ? 443 : 80;
}

void check_bytes(std::string_view text) {
    if (text.size() > kMostBytes) refuse("is longer than 8192 bytes");
    for (const char byte : text) {
        if (static_cast<unsigned char>(byte) <= 0x20 || byte == 0x7f)
            refuse("holds a control character or a space");
        if (byte == '\\') refuse("holds a backslash");
    }
}

Url taken_apart(const Poco::URI& uri) {
    Url url;
    url.scheme = uri.getScheme();  // lower case already
    if (url.scheme != "http" && url.scheme != "https" && url.scheme != "ws" && url.scheme != "wss")
        refuse("must begin with http://, https://, ws:// or wss://");
    if (!uri.getUserInfo().empty())
        refuse("holds a user name or password; use headers or bearer_token_env_var instead");
    url.host = uri.getHost();
    if (url.host.empty()) refuse("names no host");
    std::transform(url.host.begin(), url.host.end(), url.host.begin(),
                   [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
    const auto port = uri.getSpecifiedPort();
    url.port = port ? port : usual_port(url.scheme);
    url.target = uri.getPathAndQuery();
    if (url.target.empty() || url.target.front() != '/') url.target.insert(0, "/");
    return url;
}

}  // namespace

Url Url::parse(std::string_view text) {
    check_bytes(text);
    try {
        return taken_apart(Poco::URI(std::string(text)));
    } catch (const Poco::Exception&) {
        refuse("cannot be read");
    }
}

Url Url::resolve(std::string_view reference) const {
    check_bytes(reference);
    try {
        Poco::URI base(text());
        base.resolve(std::string(reference));
        return taken_apart(base);
    } catch (const Poco::Exception&) {
        refuse("in the server's answer cannot be read");
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
