#include "net/byte_stream.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/SecureStreamSocket.h>

#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace patchbay::net {

namespace pn = Poco::Net;

ByteStream::ByteStream(Dialed dialed) : dialed_(std::move(dialed)), secure_(dialed_.secure()) {
    dialed_.plain.setBlocking(false);
}

std::optional<std::size_t> ByteStream::write(std::string_view bytes) {
    blocked_ = false;
    if (!secure_) {
        const auto put = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put >= 0) return static_cast<std::size_t>(put);
        if (errno != EAGAIN && errno != EINTR) return std::nullopt;
        blocked_ = true;
        return 0;
    }
    clear_tls_errors();
    try {
        const int put = dialed_.socket.sendBytes(bytes.data(), static_cast<int>(bytes.size()));
        if (put > 0) return static_cast<std::size_t>(put);
        blocked_ = put == pn::SecureStreamSocket::ERR_SSL_WANT_WRITE;
        return 0;
    } catch (const Poco::Exception&) {
        return std::nullopt;
    }
}

std::optional<std::string_view> ByteStream::receive(char (&buffer)[kPiece]) {
    if (!secure_) {
        const auto got = ::recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (got >= 0) return std::string_view(buffer, static_cast<std::size_t>(got));
        if (errno == EAGAIN || errno == EINTR) return std::nullopt;
        throw Trouble(PATCHBAY_E_CLOSED, std::strerror(errno));
    }
    answer_blocked_ = false;
    clear_tls_errors();
    try {
        const int got = dialed_.socket.receiveBytes(buffer, sizeof buffer);
        if (got >= 0) return std::string_view(buffer, static_cast<std::size_t>(got));
        answer_blocked_ = got == pn::SecureStreamSocket::ERR_SSL_WANT_WRITE;
        return std::nullopt;
    } catch (const Poco::Exception& error) {
        throw Trouble(PATCHBAY_E_CLOSED, words_of(error));
    }
}

void ByteStream::limit_standstill(std::chrono::milliseconds time) {
    const auto limit = static_cast<unsigned>(time.count());
    // Refused for a Unix socket alone, whose other end is on this machine.
    static_cast<void>(::setsockopt(fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit));
}

void ByteStream::end() {
    ::shutdown(fd(), SHUT_RDWR);
}

}  // namespace patchbay::net
