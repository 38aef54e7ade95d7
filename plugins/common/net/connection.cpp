#include "net/connection.hpp"

#include "net/connection_impl.hpp"

#include <Poco/Net/DNS.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HostEntry.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SSLException.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Timespan.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace patchbay::net {
namespace {

namespace pn = Poco::Net;

constexpr int kMostFields = 100;
constexpr std::size_t kBytesPerSecond = 16u << 10, kPiece = 16u << 10;
constexpr std::chrono::seconds kStep{5};         // a blocked read looks at its limit this often
constexpr std::chrono::seconds kWriteLimit{30};  // the server takes nothing for so long

Poco::Timespan span(std::chrono::milliseconds time) {
    return Poco::Timespan(time.count() * 1000);
}

std::size_t to_size(int length) {
    return static_cast<std::size_t>(length);
}

bool ready_for(short events, int fd, std::chrono::milliseconds patience) {
    pollfd wait{fd, events, 0};
    return ::poll(&wait, 1, static_cast<int>(patience.count())) > 0;
}

// Bytes are there, or the end is.
bool readable(int fd, std::chrono::milliseconds patience) {
    return ready_for(POLLIN, fd, patience);
}

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

pn::StreamSocket connect_to(const std::vector<pn::SocketAddress>& addresses,
                            const std::string& name, std::chrono::milliseconds limit, Fuse& fuse) {
    std::string why = "the name has no address";
    for (const auto& address : addresses) {
        pn::StreamSocket socket(address.family());
        fuse.arm(socket.impl()->sockfd());
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
        fuse.disarm();
        if (fuse.blown()) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled", false);
    }
    const std::string where =
        addresses.empty() ? name : name + " (" + addresses.back().toString() + ")";
    Trouble trouble(PATCHBAY_E_IO, "cannot connect to " + where + ": " + why, false);
    trouble.refused = !addresses.empty();
    throw trouble;
}

std::vector<pn::SocketAddress> addresses_of(const std::string& host, std::uint16_t port) {
    std::vector<pn::SocketAddress> all;
    pn::IPAddress literal;
    if (pn::IPAddress::tryParse(host, literal)) return {{literal, port}};
    try {
        const auto entry = pn::DNS::hostByName(host);
        for (const auto& address : entry.addresses()) all.emplace_back(address, port);
    } catch (const Poco::Exception& error) {
        throw Trouble(PATCHBAY_E_IO, "cannot resolve host \"" + host + "\": " + words_of(error),
                      false);
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
        throw Trouble(PATCHBAY_E_IO, "TLS with " + url.authority() + " failed: " + why, false);
    }
}

}  // namespace

// ---- Fuse

void Fuse::arm(int fd) {
    const std::scoped_lock lock(mutex_);
    if (blown_) throw Trouble(PATCHBAY_E_CANCELLED, "cancelled", false);
    fd_ = fd;
}

void Fuse::disarm() {
    const std::scoped_lock lock(mutex_);
    fd_ = -1;
}

void Fuse::blow() {
    const std::scoped_lock lock(mutex_);
    blown_ = true;
    if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

// ---- GuardedSocket

GuardedSocketImpl::GuardedSocketImpl(const pn::StreamSocket& inner)
    : StreamSocketImpl(inner.impl()->sockfd()), inner_(inner) {}

GuardedSocketImpl::~GuardedSocketImpl() {
    reset();  // the descriptor is the inner one's
}

// The host's reactor leaves a descriptor that it has watched non-blocking, so plain sockets are
// read and written as such; TLS waits by itself.
int GuardedSocketImpl::receiveBytes(void* buffer, int length, int flags) {
    for (;;) {
        if (Clock::now() >= limit_) throw Poco::TimeoutException("the answer takes too long");
        const int got = secure()
                            ? receive_secure(buffer, length, flags)
                            : static_cast<int>(::recv(sockfd(), buffer, to_size(length), flags));
        if (got >= 0) {
            if (limit_ != Clock::time_point::max()) extend(to_size(got));
            return got;
        }
        if (secure() || errno == EINTR) continue;  // the time of one step is over
        if (errno != EAGAIN) error();
        readable(sockfd(), kStep);
    }
}

int GuardedSocketImpl::receive_secure(void* buffer, int length, int flags) {
    try {
        return inner_.receiveBytes(buffer, length, flags);
    } catch (const Poco::TimeoutException&) {
        return -1;
    }
}

int GuardedSocketImpl::sendBytes(const void* buffer, int length, int flags) {
    if (secure()) return inner_.sendBytes(buffer, length, flags);
    const auto* const bytes = static_cast<const char*>(buffer);
    for (int sent = 0; sent < length;) {
        const auto put =
            ::send(sockfd(), bytes + sent, to_size(length - sent), flags | MSG_NOSIGNAL);
        if (put >= 0) {
            sent += static_cast<int>(put);
        } else if (errno == EAGAIN) {
            if (!ready_for(POLLOUT, sockfd(), kWriteLimit))
                throw Poco::TimeoutException("the server takes no more");
        } else if (errno != EINTR) {
            error();
        }
    }
    return length;
}

int GuardedSocketImpl::available() {
    return inner_.available();
}

void GuardedSocketImpl::close() {
    inner_.close();
    reset();
}

void GuardedSocketImpl::extend(std::size_t bytes) {
    limit_ += std::chrono::milliseconds(bytes * 1000 / kBytesPerSecond);
}

// ---- Head

std::string_view Head::value(std::string_view name) const {
    for (const auto& field : fields)
        if (same_name(field.first, name)) return field.second;
    return {};
}

std::string Head::media_type() const {
    auto type = value("content-type");
    type = type.substr(0, type.find(';'));
    while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
    std::string small(type);
    for (char& byte : small)
        byte = static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    return small;
}

// ---- Connection

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::~Connection() = default;

std::unique_ptr<Connection> Connection::dial(const Endpoint& endpoint, const Url& url, Fuse& fuse) {
    const auto proxy = endpoint.unix_socket.empty() ? proxy_for(url, endpoint.proxy) : std::nullopt;
    try {
        std::vector<pn::SocketAddress> addresses;
        if (!endpoint.unix_socket.empty())
            addresses = {{pn::SocketAddress::UNIX_LOCAL, endpoint.unix_socket}};
        else if (proxy)
            addresses = addresses_of(proxy->host, proxy->port);
        else
            addresses = addresses_of(url.host, url.port);
        const auto name = proxy ? "the proxy " + proxy->host : url.authority();
        auto socket = connect_to(addresses, name, endpoint.connect_timeout, fuse);
        const auto peer = socket.peerAddress().toString();
        socket.setReceiveTimeout(span(endpoint.connect_timeout));
        socket.setSendTimeout(span(kWriteLimit));
        if (proxy && url.secure()) tunnel(socket, *proxy, url);
        if (url.secure()) socket = shake_hands(socket, endpoint, url);
        socket.setReceiveTimeout(span(kStep));
        std::unique_ptr<Connection> connection(new Connection(std::make_unique<Impl>(socket)));
        connection->origin_ = url.origin();
        connection->peer_ = peer;
        if (proxy && !url.secure()) connection->impl_->proxy = *proxy;
        return connection;
    } catch (const Trouble&) {
        fuse.disarm();
        throw;
    } catch (const Poco::Exception& error) {
        fuse.disarm();
        throw Trouble(PATCHBAY_E_IO,
                      "cannot connect to " + url.authority() + ": " + words_of(error), false);
    }
}

int Connection::fd() const {
    return impl_->guard->sockfd();
}

bool Connection::still_fresh() {
    return impl_->session.buffered() == 0 && !readable(fd(), {});
}

void Connection::send(const Url& url, const Outgoing& request, const HeaderList& secrets) {
    auto& impl = *impl_;
    impl.decoder.reset();
    impl.limit({});
    try {
        pn::HTTPRequest head(request.method, impl.proxy ? url.text() : url.target,
                             pn::HTTPMessage::HTTP_1_1);
        head.set("Host", url.authority());
        for (const auto* list : {&secrets, &request.headers})  // ours are the stronger
            for (const auto& [name, value] : *list) head.set(name, value);
        if (impl.proxy && !impl.proxy->authorization.empty())
            head.set("Proxy-Authorization", impl.proxy->authorization);
        if (request.has_body)
            head.setContentLength64(static_cast<Poco::Int64>(request.body.size()));
        auto& stream = impl.session.sendRequest(head);
        stream.write(request.body.data(), static_cast<std::streamsize>(request.body.size()));
        impl.session.flushRequest();
    } catch (const Poco::Exception& error) {
        Trouble trouble(PATCHBAY_E_CLOSED,
                        "the connection broke while the request was sent: " + words_of(error));
        trouble.untouched = true;
        throw trouble;
    }
}

bool Connection::wait(std::chrono::milliseconds patience) {
    return ready() || readable(fd(), patience);
}

bool Connection::ready() {
    auto& impl = *impl_;
    // An answer without a body is all there.
    return (impl.decoder && impl.decoder->over()) || impl.session.buffered() > 0 ||
           (impl.secure && impl.guard->available() > 0) || readable(fd(), {});
}

Head Connection::receive_head() {
    auto& impl = *impl_;
    impl.limit(kHeadLimit);
    pn::HTTPResponse response;
    response.setFieldLimit(kMostFields);
    try {
        impl.session.receiveResponse(response);
    } catch (const Poco::Exception& error) {
        Trouble trouble(PATCHBAY_E_CLOSED, words_of(error));
        trouble.untouched = dynamic_cast<const pn::NoMessageException*>(&error) ||
                            dynamic_cast<const pn::NetException*>(&error);
        throw trouble;
    }
    Head head;
    head.status = static_cast<int>(response.getStatus());
    head.reason = response.getReason();
    for (const auto& [name, value] : response) head.fields.emplace_back(name, value);
    impl.decoder.emplace(head);
    impl.keeps = response.getKeepAlive() && impl.decoder->delimited();
    return head;
}

bool Connection::read_body(std::string& into, std::size_t most, bool anew) {
    auto& impl = *impl_;
    if (impl.decoder->over()) return false;
    if (anew) impl.limit(kBodyLimit);
    char chunk[kPiece];
    int got = 0;
    try {
        got = impl.session.read(chunk, sizeof chunk);
    } catch (const Poco::Exception& error) {
        throw Trouble(PATCHBAY_E_CLOSED, "the answer broke off: " + words_of(error));
    }
    if (got > 0)
        impl.decoder->feed({chunk, to_size(got)}, into, most);
    else
        impl.decoder->finish();
    return !impl.decoder->over();
}

bool Connection::reusable() const {
    return impl_->decoder && impl_->decoder->over() && impl_->keeps &&
           impl_->decoder->surplus() == 0;
}

}  // namespace patchbay::net
