#include "hostile/server.hpp"

#include "support/loopback.hpp"

#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::hostile {

Server::Server(const std::vector<Cell>& cells) : stop_(::eventfd(0, EFD_CLOEXEC)) {
    std::signal(SIGPIPE, SIG_IGN);
    int port = 0;
    const bool by_path = !cells.empty() && cells.front().transport != Transport::Tcp;
    if (by_path) listeners_.push_back({test::listen_on_loopback(port, SOCK_NONBLOCK), nullptr});
    for (const auto& cell : cells) {
        const auto& name = cell.row->name;
        if (!by_path)
            listeners_.push_back({test::listen_on_loopback(port, SOCK_NONBLOCK), nullptr});
        sessions_[name] =
            std::make_unique<Session>(cell, "http://127.0.0.1:" + std::to_string(port));
        if (!by_path) listeners_.back().session = sessions_[name].get();
        ports_[name] = port;
    }
    thread_ = std::thread([this] { serve(); });
}

Server::~Server() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(stop_, &one, sizeof one));
    thread_.join();
    for (const auto& peer : peers_) ::close(peer->in);
    peers_.clear();
    for (const auto& listener : listeners_) ::close(listener.fd);
    ::close(stop_);
}

void Server::accept(const Listener& listener) {
    for (int fd;
         (fd = ::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
        const auto transport = sessions_.begin()->second->cell.transport;
        const auto find = [this, only = listener.session](const std::string& cell) -> Session* {
            const auto found = sessions_.find(cell);
            auto* session = only ? only : found == sessions_.end() ? nullptr : found->second.get();
            if (session) ++session->visits;
            return session;
        };
        peers_.push_back(std::make_unique<Peer>(fd, fd, make_framing(transport), find));
    }
}

void Server::serve() {
    std::vector<pollfd> waits;
    for (;;) {
        waits.assign({{stop_, POLLIN, 0}});
        for (const auto& listener : listeners_) waits.push_back({listener.fd, POLLIN, 0});
        for (const auto& peer : peers_) {
            const int events =
                (peer->wants_to_read() ? POLLIN : 0) | (peer->wants_to_write() ? POLLOUT : 0);
            waits.push_back({peer->in, static_cast<short>(events), 0});
        }
        ::poll(waits.data(), waits.size(), -1);
        if (waits[0].revents) return;
        auto wait = waits.begin() + 1 + static_cast<std::ptrdiff_t>(listeners_.size());
        // One peer's reading may give another something to write, and end a third.
        for (const auto& peer : peers_) {
            if (wait->revents & POLLIN) peer->readable();
            if (wait->revents & POLLOUT) peer->writable();
            if (!(wait->revents & (POLLIN | POLLOUT)) && wait->revents) peer->close_now();
            ++wait;
        }
        for (auto peer = peers_.begin(); peer != peers_.end();) {
            if (!(*peer)->over()) {
                ++peer;
                continue;
            }
            ::close((*peer)->in);
            peer = peers_.erase(peer);
        }
        for (std::size_t i = 0; i < listeners_.size(); ++i) {
            if (waits[1 + i].revents) accept(listeners_[i]);
        }
    }
}

}  // namespace patchbay::hostile
