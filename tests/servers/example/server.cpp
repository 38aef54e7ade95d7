#include "example/server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace example {

namespace {

constexpr std::size_t kMostClients = 1000;

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "patchbay-example-server: %s: %s\n", what.c_str(), std::strerror(errno));
    std::exit(1);
}

// Whole or not at all: a reader polls for the file.
void write_whole(const std::string& path, const std::string& text) {
    const std::string draft = path + ".part";
    std::FILE* file = std::fopen(draft.c_str(), "w");
    if (!file || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0 ||
        std::rename(draft.c_str(), path.c_str()) != 0) {
        give_up("cannot write " + path);
    }
}

}  // namespace

Server::Server(Options options) : options_(std::move(options)), tools_(options_.tools) {}

Server::TimerId Server::after(std::chrono::milliseconds wait, std::function<void()> what) {
    const TimerId id{Clock::now() + wait, next_timer_++};
    timers_.emplace(id, std::move(what));
    return id;
}

void Server::tell_tools_changed() {
    for (const auto& session : sessions_) session->tell_tools_changed();
}

void Server::tell_updated(std::string_view uri) {
    for (const auto& session : sessions_) session->tell_updated(uri);
}

void Server::listen() {
    listen_fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    ::setsockopt(listen_fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    socklen_t size = sizeof address;
    if (::bind(listen_fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listen_fd_, 128) != 0 ||
        ::getsockname(listen_fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        give_up("cannot listen on 127.0.0.1:" + std::to_string(options_.port));
    }
    const auto port = std::to_string(ntohs(address.sin_port));
    std::fprintf(stderr, "listening on 127.0.0.1:%s\n", port.c_str());
    if (!options_.port_file.empty()) write_whole(options_.port_file, port + "\n");
}

void Server::accept() {
    while (sessions_.size() < kMostClients) {
        const int fd = ::accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) return;
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        sessions_.push_back(std::make_unique<Session>(*this, fd, fd));
    }
}

void Server::run_timers() {
    while (!timers_.empty() && timers_.begin()->first.first <= Clock::now()) {
        const auto what = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        what();
    }
    for (const auto& session : sessions_) session->flush();
}

void Server::poll_once() {
    std::vector<pollfd> watched;
    if (listen_fd_ >= 0) watched.push_back({listen_fd_, POLLIN, 0});
    const std::size_t first = watched.size();
    for (const auto& session : sessions_) {
        // A descriptor nobody wants is left out (-1), or a closed peer would wake us for ever.
        watched.push_back({session->wants_input() ? session->in_fd() : -1, POLLIN, 0});
        watched.push_back({session->has_output() ? session->out_fd() : -1, POLLOUT, 0});
    }
    int wait_ms = -1;
    if (!timers_.empty()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            timers_.begin()->first.first - Clock::now());
        wait_ms = static_cast<int>(std::clamp<long long>(left.count(), 0, 60'000));
    }
    if (::poll(watched.data(), watched.size(), wait_ms) < 0 && errno != EINTR) give_up("poll");
    const std::size_t clients = (watched.size() - first) / 2;
    for (std::size_t i = 0; i < clients; ++i) {
        if (watched[first + 2 * i].revents != 0) sessions_[i]->read();
        if (watched[first + 2 * i + 1].revents != 0) sessions_[i]->flush();
    }
    if (first != 0 && watched[0].revents != 0) accept();
    run_timers();
    std::erase_if(sessions_, [](const auto& session) { return session->finished(); });
}

int Server::run() {
    if (options_.tcp) {
        listen();
        for (;;) poll_once();
    }
    sessions_.push_back(std::make_unique<Session>(*this, STDIN_FILENO, STDOUT_FILENO));
    while (!sessions_.empty()) {
        auto& only = *sessions_.front();
        // With nothing else to wait for, the read itself waits: one system call less a round.
        if (timers_.empty() && only.wants_input() && !only.has_output()) {
            only.read();
            if (only.finished()) sessions_.clear();
        } else {
            poll_once();
        }
    }
    return 0;
}

}  // namespace example
