#include "net/connection.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/SecureStreamSocket.h>

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

namespace patchbay::net {
namespace {

namespace pn = Poco::Net;

constexpr std::size_t kSmallBody = 16u << 10;  // copied behind its head: one send

}  // namespace

Connection::Connection(Dialed dialed, const Url& url)
    : dialed_(std::move(dialed)),
      secure_(dialed_.secure()),
      url_(url),
      authority_(url.authority()) {
    dialed_.plain.setBlocking(false);
}

// ---- the request

void Connection::ask(const Url& url, const Outgoing& request, const HeaderList& secrets) {
    const auto& proxy = dialed_.proxy;
    request_ = proxy ? request.head(url.text(), authority_, secrets, proxy->authorization)
                     : request.head(url.target, authority_, secrets, {});
    const bool small = request.body.size() <= kSmallBody;
    if (small) request_ += request.body;
    first_ = request_;
    second_ = small ? std::string_view() : request.body;
    sent_ = false;
    parser_ = {};
    decoder_.reset();
    flush();
}

void Connection::flush() {
    wants_to_write_ = false;
    while (unsent() > 0) {
        auto& next = first_.empty() ? second_ : first_;
        const auto put = write(next);
        if (!put) return end();
        if (*put == 0) return;
        sent_ = true;
        next.remove_prefix(*put);
    }
}

std::optional<std::size_t> Connection::write(std::string_view bytes) {
    if (!secure_) {
        const auto put = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put >= 0) return static_cast<std::size_t>(put);
        if (errno != EAGAIN && errno != EINTR) return std::nullopt;
        wants_to_write_ = true;
        return 0;
    }
    clear_tls_errors();
    try {
        const int put = dialed_.socket.sendBytes(bytes.data(), static_cast<int>(bytes.size()));
        if (put > 0) return static_cast<std::size_t>(put);
        wants_to_write_ = put == pn::SecureStreamSocket::ERR_SSL_WANT_WRITE;
        return 0;
    } catch (const Poco::Exception&) {
        return std::nullopt;
    }
}

// ---- the answer

std::optional<std::string_view> Connection::receive(char (&buffer)[kPiece]) {
    if (!secure_) {
        const auto got = ::recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (got >= 0) return std::string_view(buffer, static_cast<std::size_t>(got));
        if (errno == EAGAIN || errno == EINTR) return std::nullopt;
        broken(std::strerror(errno));
    }
    clear_tls_errors();
    try {
        const int got = dialed_.socket.receiveBytes(buffer, sizeof buffer);
        if (got >= 0) return std::string_view(buffer, static_cast<std::size_t>(got));
        wants_to_write_ = wants_to_write_ || got == pn::SecureStreamSocket::ERR_SSL_WANT_WRITE;
        return std::nullopt;
    } catch (const Poco::Exception& error) {
        broken(words_of(error));
    }
}

void Connection::broken(const std::string& why) const {
    if (decoder_) throw Trouble(PATCHBAY_E_CLOSED, "the answer broke off: " + why);
    Trouble trouble(PATCHBAY_E_CLOSED, why, sent_);
    trouble.untouched = !parser_.begun();
    throw trouble;
}

std::optional<Head> Connection::take_head(std::string_view& piece) {
    if (piece.empty()) {
        parser_.finish();
        broken("the server closed the connection without an answer");
    }
    if (!parser_.feed(piece)) return std::nullopt;
    auto head = parser_.take();
    decoder_.emplace(head);
    keeps_ = head.keeps() && decoder_->delimited();
    return head;
}

void Connection::take_body(std::string_view& piece, std::string& into, std::size_t most,
                           std::size_t enough) {
    piece.remove_prefix(decoder_->feed(piece, into, most, enough));
}

// ---- what comes after it

bool Connection::reusable() const {
    return answered() && keeps_ && unsent() == 0 && decoder_->surplus() == 0;
}

bool Connection::fresh() {
    char buffer[kPiece];
    try {
        return !receive(buffer);
    } catch (const Trouble&) {
        return false;
    }
}

void Connection::end() {
    first_ = second_ = {};
    ::shutdown(fd(), SHUT_RDWR);
}

}  // namespace patchbay::net
