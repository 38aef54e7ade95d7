#include "net/blocking_session.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace patchbay::net {
namespace {

namespace pn = Poco::Net;

constexpr std::size_t kBytesPerSecond = 16u << 10;
constexpr std::chrono::seconds kStep{5};         // a blocked read looks at its limit this often
constexpr std::chrono::seconds kWriteLimit{30};  // the server takes nothing for so long

Poco::Timespan span(std::chrono::seconds time) {
    return Poco::Timespan(static_cast<long>(time.count()), 0);
}

std::size_t to_size(int length) {
    return static_cast<std::size_t>(length);
}

bool ready_for(short events, int fd, std::chrono::milliseconds patience) {
    pollfd wait{fd, events, 0};
    return ::poll(&wait, 1, static_cast<int>(patience.count())) > 0;
}

}  // namespace

// ---- GuardedSocket

GuardedSocketImpl::GuardedSocketImpl(const pn::StreamSocket& inner)
    : StreamSocketImpl(inner.impl()->sockfd()), inner_(inner) {}

GuardedSocketImpl::~GuardedSocketImpl() {
    reset();  // the descriptor is the inner one's
}

int GuardedSocketImpl::receiveBytes(void* buffer, int length, int flags) {
    const int got = receive_some(buffer, singly_ ? std::min(length, 1) : length, flags);
    for (int i = 0; i < got && seen_ < beginning_.size(); ++i)
        beginning_[seen_++] = static_cast<const unsigned char*>(buffer)[i];
    return got;
}

// The host's reactor leaves a descriptor that it has watched non-blocking, so plain sockets are
// read and written as such; TLS waits by itself.
int GuardedSocketImpl::receive_some(void* buffer, int length, int flags) {
    for (;;) {
        if (Clock::now() >= limit_) throw Poco::TimeoutException("the answer takes too long");
        const int got = secure()
                            ? receive_secure(buffer, length, flags)
                            : static_cast<int>(::recv(sockfd(), buffer, to_size(length), flags));
        if (got >= 0) {
            if (limit_ != Clock::time_point::max())
                limit_ += std::chrono::milliseconds(to_size(got) * 1000 / kBytesPerSecond);
            return got;
        }
        if (secure() || errno == EINTR) continue;  // the time of one step is over
        if (errno != EAGAIN) error();
        ready_for(POLLIN, sockfd(), kStep);
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

// A fuse and a watch may name the descriptor still: its number becomes nobody else's before this
// is destroyed.
void GuardedSocketImpl::close() {
    ::shutdown(sockfd(), SHUT_RDWR);
}

// ---- BlockingSession

BlockingSession::BlockingSession(const Dialed& dialed)
    : BlockingSession(dialed, new GuardedSocketImpl(dialed.socket)) {}

BlockingSession::BlockingSession(const Dialed& dialed, GuardedSocketImpl* guard)
    : HTTPClientSession(pn::StreamSocket(guard)), guard_(guard) {
    setKeepAlive(true);
    auto plain = dialed.plain;
    plain.setReceiveTimeout(span(kStep));
    plain.setSendTimeout(span(kWriteLimit));
}

void BlockingSession::limit(std::chrono::seconds time) {
    guard_->limit(time.count() == 0 ? Clock::time_point::max() : Clock::now() + time);
}

bool BlockingSession::readable() const {
    return ready_for(POLLIN, guard_->sockfd(), {});
}

void BlockingSession::connect(const pn::SocketAddress&) {
    throw pn::ConnectionAbortedException("the connection is closed");
}

}  // namespace patchbay::net
