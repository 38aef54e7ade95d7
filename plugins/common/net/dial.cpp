#include "net/dial.hpp"

#include "net/reach.hpp"

#include <Poco/Net/DNS.h>
#include <Poco/Net/HostEntry.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SSLException.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Timespan.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace patchbay::net {
namespace {

namespace pn = Poco::Net;

Poco::Timespan span(std::chrono::milliseconds time) {
    return Poco::Timespan(time.count() * 1000);
}

pn::StreamSocket connect_to(const Endpoint::Addresses& addresses, const std::string& name,
                            std::chrono::milliseconds limit, Fuse& fuse) {
    std::string why = "the name has no address";
    for (const auto& address : addresses) {
        pn::StreamSocket socket(address.family());
        // Whatever fails from here on closes the socket before anyone here hears of it.
        if (!fuse.arm_copy(socket.impl()->sockfd()))
            throw Trouble(PATCHBAY_E_CANCELLED, "cancelled", false);
        try {
            socket.connect(address, span(limit));
            if (address.family() != pn::SocketAddress::UNIX_LOCAL) socket.setNoDelay(true);
            return socket;
        } catch (const Poco::TimeoutException&) {
            why = "no answer within connect_timeout_ms";
        } catch (const Poco::Exception& error) {
            const int number = error.code();
            why = number > 0 ? std::strerror(number) : words_of(error);
        }
        if (fuse.blown()) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled", false);
    }
    const auto last = addresses.empty() ? name : addresses.back().toString();
    // Of a number it would be said twice.
    const std::string where = last.starts_with(name) ? last : name + " (" + last + ")";
    Trouble trouble(PATCHBAY_E_IO, "cannot connect to " + where + ": " + why, false);
    trouble.refused = !addresses.empty();
    throw trouble;
}

using Addresses = Endpoint::Addresses;

std::optional<pn::IPAddress> literal_of(const std::string& host) {
    pn::IPAddress literal;
    if (pn::IPAddress::tryParse(host, literal)) return literal;
    return std::nullopt;
}

Addresses addresses_of(const Endpoint& endpoint, const std::string& host, std::uint16_t port) {
    Addresses all;
    if (const auto literal = literal_of(host)) return {{*literal, port}};
    try {
        if (endpoint.resolve) return endpoint.resolve(host, port);
        const auto entry = pn::DNS::hostByName(host);
        for (const auto& address : entry.addresses()) all.emplace_back(address, port);
    } catch (const Poco::Exception& error) {
        // What the library throws says no more than the name; the kind of exception does.
        const auto why = error.message() == host ? std::string(error.name()) : words_of(error);
        throw Trouble(PATCHBAY_E_IO, "cannot resolve host \"" + host + "\": " + why, false);
    }
    // The library sorts nothing: IPv4 first, as a server of this machine rarely has both.
    std::stable_sort(all.begin(), all.end(), [](const auto& left, const auto& right) {
        return left.family() == pn::SocketAddress::IPv4 &&
               right.family() != pn::SocketAddress::IPv4;
    });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

// Asks the proxy for a tunnel.
void tunnel(pn::StreamSocket& socket, const Proxy& proxy, const Url& url) {
    const std::string target =
        (url.host.find(':') == url.host.npos ? url.host : "[" + url.host + "]") + ":" +
        std::to_string(url.port);
    std::string request = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
    if (!proxy.authorization.empty())
        request += "Proxy-Authorization: " + proxy.authorization + "\r\n";
    request += "\r\n";
    socket.sendBytes(request.data(), static_cast<int>(request.size()));
    std::string answer;
    while (!answer.ends_with("\r\n\r\n")) {
        char byte = 0;
        if (answer.size() >= 8192 || socket.receiveBytes(&byte, 1) != 1)
            throw Trouble(PATCHBAY_E_IO, "the proxy did not answer CONNECT", false);
        answer += byte;
    }
    const auto space = answer.find(' ');
    const auto status = answer.substr(0, 5) == "HTTP/" && space != answer.npos
                            ? answer.substr(space + 1, 3)
                            : std::string("?");
    if (status.front() != '2')
        throw Trouble(PATCHBAY_E_IO,
                      "the proxy refused the tunnel to " + target + " (status " +
                          (status == "407" ? "407: it wants a login" : status) + ")",
                      false);
}

pn::StreamSocket shake_hands(const pn::StreamSocket& plain, const Endpoint& endpoint,
                             const Url& url) {
    const auto context = tls_context(endpoint.tls);
    take_tls_refusal();
    try {
        return pn::SecureStreamSocket::attach(plain, url.host, context);
    } catch (const Poco::Exception& error) {
        auto why = take_tls_refusal();
        if (why.empty() && dynamic_cast<const pn::CertificateValidationException*>(&error))
            why = "the certificate is not for this host";
        if (why.empty()) why = words_of(error);
        if (why.find("wrong version number") != why.npos)
            why = std::string("the port does not speak TLS; if that is meant, try ") +
                  (url.scheme == "wss" ? "ws" : "http") + "://";
        throw Trouble(PATCHBAY_E_IO, "TLS with " + url.authority() + " failed: " + why, false);
    }
}

// What the certificate was issued for; the library is content with the common name.
void check_name(pn::StreamSocket& socket, const Url& url) {
    pn::SecureStreamSocket secure(socket);
    // The library takes a handshake that came to nothing in time for one that is under way.
    if (!secure.havePeerCertificate())
        throw Trouble(
            PATCHBAY_E_IO,
            "TLS with " + url.authority() + " failed: no answer within connect_timeout_ms", false);
    if (is_certified_for(secure, url.host)) return;
    throw Trouble(PATCHBAY_E_IO,
                  "TLS with " + url.authority() +
                      " failed: the certificate is not for this host: its subjectAltName does not "
                      "name it",
                  false);
}

// The address that each host was connected to last. What a server's name means later is the say of
// whoever answers for the name: a second record must not open what the first did not.
class Peers {
public:
    static constexpr std::size_t kMost = 1000;

    void note(const Url& url, const pn::IPAddress& address) {
        const std::scoped_lock lock(mutex_);
        if (last_.size() >= kMost && !last_.contains(key_of(url))) last_.erase(last_.begin());
        last_[key_of(url)] = address;
    }
    std::optional<pn::IPAddress> find(const Url& url) const {
        const std::scoped_lock lock(mutex_);
        const auto found = last_.find(key_of(url));
        if (found == last_.end()) return std::nullopt;
        return found->second;
    }

private:
    using Key = std::pair<std::string, std::uint16_t>;
    static Key key_of(const Url& url) { return {url.host, url.port}; }

    mutable std::mutex mutex_;
    std::map<Key, pn::IPAddress> last_;
};

Peers& peers() {
    static auto& all = *new Peers;  // for good: threads use it
    return all;
}

// Where the server of Endpoint::beside is, for all that is known; empty: nobody knows.
std::vector<pn::IPAddress> places_of(const Endpoint& endpoint, const Url& server) {
    if (const auto literal = literal_of(server.host)) return {*literal};
    if (const auto last = peers().find(server)) return {*last};
    if (proxy_for(server, endpoint.proxy)) return {};
    std::vector<pn::IPAddress> places;
    for (const auto& each : addresses_of(endpoint, server.host, server.port))
        places.push_back(each.host());
    return places;
}

// What Endpoint::beside asks for. Before a byte is sent anywhere.
void judge(const Endpoint& endpoint, const Url& url, Addresses addresses, bool through_proxy) {
    if (through_proxy) {  // which finds the addresses of names
        const bool named_here = url.host == "localhost" || url.host.ends_with(".localhost");
        const auto literal = literal_of(named_here ? "127.0.0.1" : url.host);
        addresses = literal ? Addresses{{*literal, url.port}} : Addresses();
    }
    const auto deny = [&](const std::string& why) -> Trouble {
        return {PATCHBAY_E_DENIED, url.without_query() + " is not asked: " + why, false};
    };
    const bool here =
        !through_proxy && std::all_of(addresses.begin(), addresses.end(), [](const auto& each) {
            return reach_of(each.host()) == Reach::Loopback;
        });
    if (!url.secure() && !here) throw deny("only https will do, but for this machine");
    const auto server = Url::parse(endpoint.beside);
    std::optional<std::vector<pn::IPAddress>> places;
    for (const auto& address : addresses) {
        const auto reach = reach_of(address.host());
        if (reach == Reach::Public) continue;
        if (!places) places = places_of(endpoint, server);
        if (places->empty() || !std::all_of(places->begin(), places->end(), [&](const auto& each) {
                return reach_of(each) == reach;
            }))
            throw deny(address.host().toString() + " is " + name_of(reach) + ", and the server " +
                       server.authority() + " is not reached at one of that kind");
    }
}

Dialed connect(const Endpoint& endpoint, const Url& url, Fuse& fuse) {
    const auto proxy = endpoint.unix_socket.empty() ? proxy_for(url, endpoint.proxy) : std::nullopt;
    Addresses addresses;
    if (!endpoint.unix_socket.empty())
        addresses = {{pn::SocketAddress::UNIX_LOCAL, endpoint.unix_socket}};
    else if (proxy)
        addresses = addresses_of(endpoint, proxy->host, proxy->port);
    else
        addresses = addresses_of(endpoint, url.host, url.port);
    if (!endpoint.beside.empty()) judge(endpoint, url, addresses, proxy.has_value());
    const auto name = proxy ? "the proxy " + proxy->host : url.authority();
    const auto plain = connect_to(addresses, name, endpoint.connect_timeout, fuse);
    Dialed dialed{plain, plain, plain.peerAddress().toString(), {}};
    dialed.plain.setReceiveTimeout(span(endpoint.connect_timeout));
    dialed.plain.setSendTimeout(span(endpoint.connect_timeout));
    // RFC 6455 section 4.1: a WebSocket goes through a proxy as TLS does.
    const bool tunnels = proxy && (url.secure() || url.scheme == "ws");
    if (tunnels) tunnel(dialed.plain, *proxy, url);
    if (url.secure()) {
        dialed.socket = shake_hands(plain, endpoint, url);
        check_name(dialed.socket, url);
    }
    if (proxy && !tunnels) dialed.proxy = proxy;
    if (!proxy && endpoint.unix_socket.empty() && endpoint.beside.empty())
        peers().note(url, plain.peerAddress().host());
    return dialed;
}

}  // namespace

// What the library threw, in words for people.
std::string words_of(const Poco::Exception& error) {
    if (dynamic_cast<const Poco::TimeoutException*>(&error)) return "no answer in time";
    if (dynamic_cast<const pn::NoMessageException*>(&error))
        return "the server closed the connection without an answer";
    if (dynamic_cast<const pn::MessageException*>(&error))
        return "the answer is not HTTP: " + error.message();
    std::string text = error.message().empty() ? error.name() : error.message();
    if (text.empty()) text = error.displayText();
    return text;
}

Dialed dial(const Endpoint& endpoint, const Url& url, Fuse& fuse) {
    try {
        auto dialed = connect(endpoint, url, fuse);
        if (!fuse.arm(dialed.fd())) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled", false);
        return dialed;
    } catch (const Trouble&) {
        fuse.disarm();
        throw;
    } catch (const sdk::Failure& failure) {  // a setting that cannot be used
        fuse.disarm();
        throw Trouble(failure.code(), failure.what(), false);
    } catch (const Poco::Exception& error) {
        fuse.disarm();
        throw Trouble(PATCHBAY_E_IO,
                      "cannot connect to " + url.authority() + ": " + words_of(error), false);
    } catch (...) {
        fuse.disarm();
        throw;
    }
}

// ---- Fuse

bool Fuse::arm(int fd) {
    const std::scoped_lock lock(mutex_);
    if (!blown_) hold(fd, false);
    return !blown_;
}

bool Fuse::arm_copy(int fd) {
    const std::scoped_lock lock(mutex_);
    if (blown_) return false;
    const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (copy < 0)
        throw Trouble(PATCHBAY_E_IO,
                      std::string("cannot open a connection: ") + std::strerror(errno), false);
    hold(copy, true);
    return true;
}

void Fuse::disarm() {
    const std::scoped_lock lock(mutex_);
    hold(-1, false);
}

void Fuse::hold(int fd, bool owned) {
    if (owned_) ::close(fd_);
    fd_ = fd;
    owned_ = owned;
}

void Fuse::blow() {
    const std::scoped_lock lock(mutex_);
    blown_ = true;
    if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

}  // namespace patchbay::net
