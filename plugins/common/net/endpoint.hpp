// Where a channel's server is and how it is reached: what the http, sse and ws transports read from
// their settings alike.
//
// Threads: [value] once made. Errors: sdk::Failure naming the setting.
#pragma once

#include "net/header_list.hpp"
#include "net/url.hpp"

#include <patchbay/cpp/json.hpp>

#include <Poco/Net/Context.h>
#include <Poco/Net/SocketAddress.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace Poco::Net {
class SecureStreamSocket;
}

namespace patchbay::net {

struct Proxy {
    std::string host;
    std::uint16_t port = 0;
    std::string authorization;  // for Proxy-Authorization; empty: none
};

// The proxy for `url`: `configured`, else HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment
// (lower case too). This machine is never reached through one.
std::optional<Proxy> proxy_for(const Url& url, const std::string& configured);

struct TlsSettings {
    std::string ca_file;                         // beside the system's authorities
    std::string client_certificate, client_key;  // PEM files
    bool operator<(const TlsSettings& other) const;
};

// TLS 1.2 or newer, strict names. One context for the same settings in the whole plugin: the
// system's authorities are a megabyte. [any]
Poco::Net::Context::Ptr tls_context(const TlsSettings& settings);
// Refuses a file that does not hold what it should, by its name.
void check_files(const TlsSettings& settings);
// The certificate that `socket` was shown names `host` where names belong, in its subjectAltName;
// the common name, which authorities do not check, does not count.
bool is_certified_for(Poco::Net::SecureStreamSocket& socket, const std::string& host);
// Why the last handshake of this thread was refused, in OpenSSL's words; empty: it was not.
std::string take_tls_refusal();
// Forgets what OpenSSL keeps of this thread's errors: it takes them for those of the next call.
void clear_tls_errors();

struct Endpoint {
    explicit Endpoint(Url its_url) : url(std::move(its_url)) {}
    // Reads url, headers, proxy, ca_file, client_certificate, client_key, unix_socket,
    // connect_timeout_ms and keep_alive_sec.
    static Endpoint from(const sdk::Config& settings);

    Url url;
    HeaderList headers;  // the configuration's
    TlsSettings tls;
    std::string proxy, unix_socket;
    // A URL that what is asked must not be closer to us than: then only https (http to this
    // machine), and only public addresses or those that reach as far as the one this URL's host was
    // connected to, or, as long as it was not, all of its addresses. Empty: no judge. A proxy finds
    // the addresses of names, in a network that may not be ours: only what is written as an address
    // is judged then.
    std::string beside;
    std::chrono::milliseconds connect_timeout{10'000};
    // For which an idle connection may be used again, unless its server says less; 0: never.
    std::chrono::seconds keep_alive{50};
    // The addresses of a name, in place of the system's; empty: those.
    using Addresses = std::vector<Poco::Net::SocketAddress>;
    std::function<Addresses(const std::string& host, std::uint16_t port)> resolve;
};

}  // namespace patchbay::net
