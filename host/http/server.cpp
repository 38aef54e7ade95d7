#include "http/server.hpp"

#include "core/log.hpp"
#include "http/byte_stream.hpp"
#include "http/connection.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace patchbay::http {

namespace {

constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr int kAcceptsAtOnce = 64;

std::string number_of(const sockaddr_storage& peer) {
    char text[INET6_ADDRSTRLEN] = "";
    if (peer.ss_family == AF_INET)
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr, text,
                    sizeof text);
    else if (peer.ss_family == AF_INET6)
        ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr, text,
                    sizeof text);
    return text;
}

}  // namespace

Server::Server(core::Loop& loop, Listener listener, Handler& handler, Limits limits,
               Streams* streams, core::Observer* observer)
    : loop_(loop),
      listener_(std::move(listener)),
      handler_(handler),
      limits_(limits),
      streams_(streams),
      observer_(observer),
      pause_(loop) {
    // Where it cannot be watched nobody comes in.
    static_cast<void>(
        watch_.start(listener_.fd(), core::Loop::kReadable, [this](unsigned) { accept(); }));
}

Server::~Server() {
    stop();
    lifetime_.end();
    connections_.clear();
}

void Server::stop() {
    stopped_ = true;
    pause_.stop();
    watch_.stop();
    // One that closes leaves the list when this turn is over.
    for (const auto& each : connections_) each->stop();
}

bool Server::written() const {
    return std::all_of(connections_.begin(), connections_.end(),
                       [](const auto& each) { return each->written(); });
}

void Server::accept() {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        core::Descriptor socket(::accept4(listener_.fd(), reinterpret_cast<sockaddr*>(&peer), &size,
                                          SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket.get() < 0) {
            if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
            core::log::warn("cannot accept on " + listener_.address().url() + ": " +
                            std::strerror(errno));
            watch_.want(0);
            pause_.start(kAcceptPause, [this] { watch_.want(core::Loop::kReadable); });
            return;
        }
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const bool full = connections_.size() >= limits_.connections;
        auto stream =
            streams_ ? streams_->stream_of(std::move(socket)) : plain_stream(std::move(socket));
        auto& connection = connections_.emplace_back(
            std::make_unique<Connection>(*this, std::move(stream), number_of(peer)));
        connection->place = std::prev(connections_.end());
        if (full) connection->refuse_all();
    }
}

// It may be in the middle of one of its functions: it goes when that has returned.
void Server::drop(Connection& connection) {
    loop_.defer(lifetime_.guard([this, &connection] { connections_.erase(connection.place); }));
}

}  // namespace patchbay::http
