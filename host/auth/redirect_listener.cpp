#include "auth/redirect_listener.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace patchbay::auth {
namespace http = boost::beast::http;

namespace {

constexpr const char* kPath = "/callback";

// Without anything of the request in it, and without a referrer: the address holds the code.
std::string page(unsigned status, const char* reason, const char* says) {
    const std::string body = std::string(
                                 "<!doctype html><meta charset=utf-8><title>Patchbay</title>"
                                 "<p style=\"font:16px sans-serif;margin:3em\">") +
                             says;
    return "HTTP/1.1 " + std::to_string(status) + " " + reason +
           "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " +
           std::to_string(body.size()) +
           "\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: "
           "close\r\n\r\n" +
           body;
}

}  // namespace

struct RedirectListener::Peer {
    int fd = -1;
    core::Loop::WatchId watch = 0;
    core::Loop::TimerId timer = 0;
    std::string unread;
    http::request_parser<http::empty_body> parser;
};

Result<int> listen_on_loopback(unsigned port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    // Connections of the last sign-in linger for minutes; a registered redirect names its port.
    const int on = 1;
    if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(fd, RedirectListener::kMostConnections) != 0) {
        const Error error{ErrorCode::Io, "cannot listen on 127.0.0.1:" + std::to_string(port) +
                                             " for the redirect: " + std::strerror(errno)};
        if (fd >= 0) ::close(fd);
        return error;
    }
    return fd;
}

std::string redirect_uri_of(int socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + kPath;
}

RedirectListener::RedirectListener(core::Loop& loop, int socket, Fits fits,
                                   std::function<void(std::string)> came,
                                   std::chrono::milliseconds patience)
    : loop_(loop),
      socket_(socket),
      authority_(redirect_uri_of(socket).substr(7, redirect_uri_of(socket).find(kPath) - 7)),
      fits_(std::move(fits)),
      came_(std::move(came)),
      patience_(patience) {
    // Where it cannot be watched nobody is heard, and the patience of who waits ends it.
    static_cast<void>(watch_.start(socket_, core::Loop::kReadable, [this](unsigned) { accept(); }));
}

RedirectListener::~RedirectListener() {
    while (!peers_.empty()) drop(*peers_.front());
    watch_.stop();
    ::close(socket_);
}

void RedirectListener::accept() {
    const int fd = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    if (peers_.size() >= kMostConnections) drop(*peers_.front());  // the one that waits longest
    auto& peer = *peers_.emplace_back(std::make_unique<Peer>());
    peer.fd = fd;
    peer.parser.header_limit(kMostHeadBytes);
    if (auto watch =
            loop_.watch(fd, core::Loop::kReadable, [this, &peer](unsigned) { readable(peer); }))
        peer.watch = *watch;
    peer.timer = loop_.after(patience_, [this, &peer] {
        peer.timer = 0;
        drop(peer);
    });
}

void RedirectListener::readable(Peer& peer) {
    char block[4096];
    const auto got = ::read(peer.fd, block, sizeof block);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return drop(peer);
    peer.unread.append(block, static_cast<std::size_t>(got));
    boost::beast::error_code failed;
    peer.unread.erase(0, peer.parser.put(boost::asio::buffer(peer.unread), failed));
    if (failed == http::error::header_limit) {
        return reply(peer, page(431, "Request Header Fields Too Large",
                                "That address is too long for an answer to a sign-in."));
    }
    if (failed && failed != http::error::need_more) return drop(peer);
    if (peer.parser.is_header_done()) answer(peer);
}

void RedirectListener::answer(Peer& peer) {
    const auto& request = peer.parser.get();
    const std::string target(request.target());
    const auto mark = target.find('?');
    // A page elsewhere that makes a browser come here does so under another name.
    const bool ours = request[http::field::host] == authority_;
    if (!ours || target.substr(0, mark) != kPath || !came_)
        return reply(peer, page(404, "Not Found", "There is nothing here."));
    if (request.method() != http::verb::get)
        return reply(peer, page(405, "Method Not Allowed", "Only GET leads on."));
    const std::string query = mark == std::string::npos ? "" : target.substr(mark + 1);
    if (!fits_(query)) {
        return reply(peer, page(400, "Bad Request",
                                "This does not belong to the sign-in that Patchbay waits for; it "
                                "was not used. Go on where you began to sign in."));
    }
    reply(peer, page(200, "OK", "Patchbay has got the answer. You may close this window."));
    // Once, and later: whoever hears it takes this listener down.
    loop_.defer([came = std::exchange(came_, {}), query] { came(query); });
}

// A page of this size fits into any socket's buffer.
void RedirectListener::reply(Peer& peer, const std::string& text) {
    [[maybe_unused]] const auto sent = ::send(peer.fd, text.data(), text.size(), MSG_NOSIGNAL);
    drop(peer);
}

void RedirectListener::drop(Peer& peer) {
    if (peer.watch) loop_.unwatch(peer.watch);
    if (peer.timer) loop_.cancel(peer.timer);
    ::close(peer.fd);
    // It may be running one of its own callbacks: it goes when that has returned.
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const auto& each) { return each.get() == &peer; });
    loop_.defer([gone = std::shared_ptr<Peer>(std::move(*found))] {});
    peers_.erase(found);
}

}  // namespace patchbay::auth
