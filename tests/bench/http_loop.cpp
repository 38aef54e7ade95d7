#include "http_loop.hpp"

#include "measure.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace bench {

void send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN) {
            pollfd writable{fd, POLLOUT, 0};
            ::poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            return;  // the reader has gone: the read of it will show
        }
    }
}

HttpLoop::HttpLoop() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    poll_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (listener_ < 0 || poll_ < 0 || ::bind(listener_, any, size) != 0 ||
        ::listen(listener_, 1024) != 0 || ::getsockname(listener_, any, &size) != 0)
        give_up("cannot listen");
    watch(listener_);
    watch(STDIN_FILENO);
    std::printf("port %d\n", ntohs(address.sin_port));
    std::fflush(stdout);
}

void HttpLoop::run() {
    std::array<epoll_event, 128> events;
    for (;;) {
        const int count = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
        if (count < 0 && errno != EINTR) give_up("epoll_wait");
        for (int i = 0; i < count; ++i) {
            const int fd = events[static_cast<std::size_t>(i)].data.fd;
            if (fd == STDIN_FILENO) return;
            if (fd == listener_)
                accept_all();
            else if (!unread_.contains(fd))
                on_readable(fd);
            else if (!read(fd))
                drop(fd);
            if (stalled_) {
                std::getchar();  // until stdin ends
                return;
            }
        }
    }
}

void HttpLoop::watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) != 0) give_up("epoll_ctl");
}

void HttpLoop::accept_all() {
    for (;;) {
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        unread_[fd].clear();
        watch(fd);
    }
}

void HttpLoop::drop(int fd) {
    unread_.erase(fd);
    ::close(fd);
}

// False: the connection is over.
bool HttpLoop::read(int fd) {
    const ssize_t got = ::recv(fd, piece_.data(), piece_.size(), 0);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    std::string_view text(piece_.data(), static_cast<std::size_t>(got));
    auto& unread = unread_[fd];
    if (!unread.empty()) {
        unread += text;
        text = unread;
    }
    speaking_ = fd;
    out_.clear();
    std::size_t used = 0;
    for (auto frame = first_frame(text); frame.size != 0; frame = first_frame(text.substr(used))) {
        on_request(fd, frame);
        used += frame.size;
    }
    speaking_ = -1;
    if (stalled_) return true;
    if (unread.empty())
        unread = text.substr(used);
    else
        unread.erase(0, used);
    send_all(fd, out_);
    return unread.size() <= kMostRequest;
}

void HttpLoop::answer(int client, std::string_view status, std::string_view headers,
                      std::initializer_list<std::string_view> body) {
    std::size_t size = 0;
    for (const auto part : body) size += part.size();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, size).ptr;
    if (client != speaking_) out_.clear();
    out_.append("HTTP/1.1 ").append(status).append("\r\n").append(headers);
    out_.append("Content-Length: ").append(digits, end).append("\r\n\r\n");
    for (const auto part : body) out_ += part;
    if (client != speaking_) send_all(client, out_);
}

void HttpLoop::say(int client, std::string_view bytes) {
    if (client == speaking_)
        out_ += bytes;
    else
        send_all(client, bytes);
}

}  // namespace bench
